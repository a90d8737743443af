"""The rule of HFedMS-Plus by hand, and that its plans are those of HFedMS-D with what the rule says."""

from dataclasses import replace
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
    chains_at_once,
    dynamic_settings,
    has_adaptive_server,
    rate_after,
    rule_of,
)
from tests.strategies.factories import context, factory


def network(
    sensors: int, channels: float = 1.0, *, multicast: bool = True, uplink_bps: float = 1e6, one_airtime: bool = False
) -> NetworkView:
    """One cell, 1 Mbit/s each way unless said otherwise."""
    return NetworkView(
        cell=np.zeros(sensors, dtype=np.int64),
        uplink_bps=np.full(sensors, uplink_bps),
        downlink_bps=np.full(sensors, 1e6),
        coverage_class=np.zeros(sensors),
        last_uplink_s=np.full(sensors, nan),
        last_downlink_s=np.full(sensors, nan),
        last_work_s=np.full(sensors, nan),
        uplink_channels=np.array([channels]),
        downlink_channels=np.array([channels]),
        has_one_airtime=np.array([one_airtime]),
        can_multicast=np.array([multicast]),
    )


def known(sensors: int, channels: float = 1.0, *, multicast: bool = True) -> Factory:
    return factory(sensors, network=network(sensors, channels, multicast=multicast))


@pytest.mark.parametrize(
    ("channels", "sensors", "groups"),
    [
        (1.0, 368, 7),  # two chains at kappa 0.3, one on the way up and one on the way down
        (2.5, 368, 17),  # five
        (2.8, 368, 17),  # five and a half
        (inf, 368, 184),  # chains of two
        (1.0, 20, 7),
        (1.0, 13, 6),  # a seventh would have chains of one sensor
        (1.0, 6, 4),  # the fewest of which 0.3 is one
        (1.0, 3, 3),
    ],
)
def test_groups_are_as_few_as_keep_the_air_busy(channels: float, sensors: int, groups: int) -> None:
    assert rule_of(HFedMSPlusSettings(), known(sensors, channels)).groups == groups


def test_a_chain_keeps_each_direction_busy_as_long_as_a_model_takes_there() -> None:
    """Three quarters of a hop on the way up: four chains fill three channels there, and one of three back."""
    radios, sensors = network(100, 3.0, uplink_bps=1e6 / 3), np.arange(100)
    assert chains_at_once(radios, sensors) == pytest.approx(4.0)
    assert rule_of(HFedMSPlusSettings(), factory(100, network=radios)).groups == 14


def test_where_both_directions_take_turns_as_many_chains_as_channels_are_enough() -> None:
    one, three = (network(100, channels, one_airtime=True) for channels in (1.0, 3.0))
    assert [rule_of(HFedMSPlusSettings(), factory(100, network=each)).groups for each in (one, three)] == [4, 10]


def test_cells_carry_chains_side_by_side() -> None:
    """One with one airtime and two channels, and one with a channel each way."""
    one = network(100)
    both = replace(
        one,
        cell=np.arange(100) % 2,
        uplink_channels=np.array([2.0, 1.0]),
        downlink_channels=np.array([2.0, 1.0]),
        has_one_airtime=np.array([True, False]),
    )
    assert chains_at_once(both, np.arange(100)) == pytest.approx(4.0)
    assert chains_at_once(both, np.arange(0, 100, 2)) == pytest.approx(2.0)


@pytest.mark.parametrize(("passed", "rate"), [(0, 0.08), (500, 0.04), (1500, 0.02)])
def test_the_rate_is_half_after_so_many_sensors_in_a_row(passed: float, rate: float) -> None:
    assert rate_after(HFedMSPlusSettings(learning_rate=0.08, halving_sensors=500), passed) == pytest.approx(rate)
    assert rate_after(HFedMSPlusSettings(learning_rate=0.08, halving_sensors=None), passed) == 0.08


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


def test_every_cell_broadcasts_once_as_slowly_as_its_slowest_sensor_listens() -> None:
    two = replace(
        network(4), cell=np.array([0, 0, 1, 1]), downlink_bps=np.array([1e6, 5e5, 1e6, 2.5e5]),
        uplink_channels=np.ones(2), downlink_channels=np.ones(2), has_one_airtime=np.zeros(2, dtype=np.bool_),
        can_multicast=np.ones(2, dtype=np.bool_),
    )  # fmt: skip
    plain = HFedMSPlusSettings(compression=Compression())
    found = airtimes_of(plain, spec_of("tiny-mlp"), two, np.arange(4), "broadcast", participants=2)
    assert found.scatter_s == pytest.approx(8 * spec_of("tiny-mlp").model_bytes * (1 / 5e5 + 1 / 2.5e5) / 2)


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
    """42 sensors in seven groups are six to a chain, 41 are fewer."""
    assert rule_of(HFedMSPlusSettings(), known(42)).interval == 5
    assert rule_of(HFedMSPlusSettings(), known(41)).interval == 1
    assert rule_of(HFedMSPlusSettings(server="momentum"), known(41)).interval == 5
    assert rule_of(HFedMSPlusSettings(server="adam"), known(42)).interval == 1
    assert rule_of(HFedMSPlusSettings(cycle=3), known(41)).interval == 3


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
    assert (ours.total_groups, len(ours.groups), ours.scatter and ours.scatter.mode) == (7, 2, "broadcast")


def test_its_settings_are_handed_on() -> None:
    settings = HFedMSPlusSettings(learning_rate=0.2, sample_ratio=0.5, epochs=3, leftover="spread")
    handed = dynamic_settings(settings, Rule(4, 3, "unicast"))
    assert (handed.learning_rate, handed.sample_ratio, handed.epochs, handed.leftover) == (0.2, 0.5, 3, "spread")
    assert (handed.beta, handed.alpha, handed.interval, handed.scc) == (4, 0.0, 3, "off")
