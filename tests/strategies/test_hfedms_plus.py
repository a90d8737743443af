"""The rule of HFedMS-Plus by hand, and that its plans are those of HFedMS-D with what the rule says."""

from math import inf, nan

import numpy as np
import pytest

from hfedms_sim.models import spec_of
from hfedms_sim.rounds import NetworkView
from hfedms_sim.scenario import Compression
from hfedms_sim.strategies.base import Factory
from hfedms_sim.strategies.hfedms import HFedMSD
from hfedms_sim.strategies.hfedms_plus import (
    GAINS,
    LONG_CHAIN,
    Airtimes,
    HFedMSPlus,
    HFedMSPlusSettings,
    Rule,
    airtimes_of,
    best_interval,
    dynamic_settings,
    has_adaptive_server,
    rule_of,
)
from tests.strategies.factories import context, factory


def network(sensors: int, channels: float = 1.0, *, multicast: bool = True) -> NetworkView:
    """One cell, 1 Mbit/s each way."""
    return NetworkView(
        cell=np.zeros(sensors, dtype=np.int64),
        uplink_bps=np.full(sensors, 1e6),
        downlink_bps=np.full(sensors, 1e6),
        coverage_class=np.zeros(sensors),
        last_uplink_s=np.full(sensors, nan),
        last_downlink_s=np.full(sensors, nan),
        last_work_s=np.full(sensors, nan),
        uplink_channels=np.array([channels]),
        downlink_channels=np.array([channels]),
        can_multicast=np.array([multicast]),
    )


def known(sensors: int, channels: float = 1.0, *, multicast: bool = True) -> Factory:
    return factory(sensors, network=network(sensors, channels, multicast=multicast))


@pytest.mark.parametrize(
    ("channels", "sensors", "groups"),
    [
        (1.0, 368, 10),  # three chains at kappa 0.3
        (2.5, 368, 16),  # five chains on both directions' channels: floor(5 / 0.3)
        (inf, 368, 184),  # chains of two
        (1.0, 20, 10),
        (1.0, 6, 6),  # fewer sensors than groups
    ],
)
def test_groups_are_as_few_as_keep_the_air_busy(channels: float, sensors: int, groups: int) -> None:
    assert rule_of(HFedMSPlusSettings(), known(sensors, channels)).groups == groups


def test_the_scatter_is_a_broadcast_where_the_radio_can() -> None:
    assert rule_of(HFedMSPlusSettings(), known(20)).scatter == "broadcast"
    assert rule_of(HFedMSPlusSettings(), known(20, multicast=False)).scatter == "unicast"
    assert rule_of(HFedMSPlusSettings(scatter="unicast"), known(20)).scatter == "unicast"


def test_what_is_set_is_not_left_to_the_rule() -> None:
    settings = HFedMSPlusSettings(groups=4, cycle=7, scatter="broadcast")
    assert rule_of(settings, known(20, multicast=False)) == Rule(4, 7, "broadcast")


def test_the_parts_of_a_cycle_take_the_airtime_of_their_bytes() -> None:
    """Both ways the classifier, both ways the model, and a scatter: to each, or a tenth of it for each."""
    model, radios, sensors = spec_of("cnn"), network(20), np.arange(20)
    whole, classifier = 4 * model.parameters, 4 * model.classifier_parameters
    plain = HFedMSPlusSettings(compression=Compression())
    to_each = airtimes_of(plain, model, radios, sensors, "unicast", 10)
    to_all = airtimes_of(plain, model, radios, sensors, "broadcast", 10)
    byte_s = 8e-6  # at 1 Mbit/s
    assert to_each == pytest.approx((2 * whole * byte_s, whole * byte_s, 2 * classifier * byte_s))
    assert to_all == pytest.approx((2 * whole * byte_s, 0.1 * whole * byte_s, 2 * classifier * byte_s))


@pytest.mark.parametrize("scatter_s", [0.0, 0.05, 0.3, 0.5])
@pytest.mark.parametrize("calibration_s", [0.0, 0.01, 0.03, 0.05, 0.1, 0.3, 0.5, 1.0])
def test_the_interval_brings_most_for_its_airtime(scatter_s: float, calibration_s: float) -> None:
    worth = {1: 1.0}
    for interval in range(2, len(GAINS) + 2):
        worth[interval] = (1 + sum(GAINS[: interval - 1])) / (1 + scatter_s + (interval - 1) * calibration_s)
    best = best_interval(Airtimes(1.0, scatter_s, calibration_s))
    assert best == max(worth, key=lambda interval: (worth[interval], -interval))


def test_where_calibration_or_its_scatter_is_dear_there_is_none() -> None:
    assert best_interval(Airtimes(1.0, 0.0, 1.0)) == 1
    assert best_interval(Airtimes(1.0, 0.5, 0.07)) == 1
    assert best_interval(Airtimes(1.0, 0.1, 0.07)) == 2
    assert best_interval(Airtimes(1.0, 0.0, 0.0)) == len(GAINS) + 1


def test_where_the_scatter_goes_to_each_only_a_small_classifier_is_calibrated() -> None:
    """small-cnn's is 7 % of the network, the paper's a thousandth."""
    radios = network(100, multicast=False)
    for model, interval in (("small-cnn", 1), ("cnn", 5)):
        airtimes = airtimes_of(HFedMSPlusSettings(), spec_of(model), radios, np.arange(100), "unicast", 30)
        assert best_interval(airtimes) == interval


def test_short_chains_have_no_calibration() -> None:
    """60 sensors in ten groups are six to a chain, 59 are fewer."""
    assert rule_of(HFedMSPlusSettings(), known(60)).interval == 5
    assert rule_of(HFedMSPlusSettings(), known(59)).interval == 1
    assert rule_of(HFedMSPlusSettings(server="momentum"), known(59)).interval == 5
    assert rule_of(HFedMSPlusSettings(server="adam"), known(60)).interval == 1
    assert rule_of(HFedMSPlusSettings(cycle=3), known(59)).interval == 3


def test_the_server_is_adam_after_short_chains() -> None:
    settings = HFedMSPlusSettings()
    assert [has_adaptive_server(settings, length) for length in (1, LONG_CHAIN - 0.1, LONG_CHAIN)] == [
        True,
        True,
        False,
    ]
    assert has_adaptive_server(HFedMSPlusSettings(server="adam"), 100)
    assert not has_adaptive_server(HFedMSPlusSettings(server="momentum"), 1)


def test_its_plans_are_those_of_hfedms_d() -> None:
    settings, whole = HFedMSPlusSettings(), known(80)
    plus = HFedMSPlus(settings, whole)
    chains = HFedMSD(dynamic_settings(settings, rule_of(settings, whole)), whole)
    counts = np.random.default_rng(1).integers(0, 9, (80, 62))
    assert plus.report(plus.start()) == chains.report(chains.start())
    ours, theirs = (each.plan(each.start(), context(counts)) for each in (plus, chains))
    assert ours == theirs
    assert (ours.total_groups, len(ours.groups), ours.scatter and ours.scatter.mode) == (10, 3, "broadcast")


def test_its_settings_are_handed_on() -> None:
    settings = HFedMSPlusSettings(learning_rate=0.2, sample_ratio=0.5, epochs=3, leftover="spread")
    handed = dynamic_settings(settings, Rule(4, 3, "unicast"))
    assert (handed.learning_rate, handed.sample_ratio, handed.epochs, handed.leftover) == (0.2, 0.5, 3, "spread")
    assert (handed.beta, handed.alpha, handed.interval, handed.scc) == (4, 0.0, 3, "off")
