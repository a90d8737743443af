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
    HFedMSPlus,
    HFedMSPlusSettings,
    Rule,
    best_interval,
    calibration_share,
    dynamic_settings,
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
        (inf, 368, 46),  # chains of eight
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


def test_a_calibration_round_costs_its_bytes() -> None:
    """Both ways the classifier, against both ways the model and a scatter: to each, or a tenth of it for each."""
    model, radios, sensors = spec_of("cnn"), network(20), np.arange(20)
    whole, classifier = 4 * model.parameters, 4 * model.classifier_parameters
    plain = HFedMSPlusSettings(compression=Compression())
    to_each = calibration_share(plain, model, radios, sensors, "unicast", 10)
    to_all = calibration_share(plain, model, radios, sensors, "broadcast", 10)
    assert to_each == pytest.approx(2 * classifier / (3 * whole))
    assert to_all == pytest.approx(2 * classifier / (2.1 * whole))


@pytest.mark.parametrize("share", [0.0, 0.01, 0.03, 0.05, 0.1, 0.3, 0.5, 1.0])
def test_the_interval_brings_most_for_its_airtime(share: float) -> None:
    worth = {1: 1.0}
    for interval in range(2, len(GAINS) + 2):
        worth[interval] = (1 + sum(GAINS[: interval - 1])) / (1 + (interval - 1) * share)
    assert best_interval(share) == max(worth, key=lambda interval: (worth[interval], -interval))


def test_where_calibration_is_dear_there_is_none() -> None:
    assert best_interval(1.0) == 1
    assert best_interval(0.0) == len(GAINS) + 1


def test_its_plans_are_those_of_hfedms_d() -> None:
    settings, whole = HFedMSPlusSettings(), known(40)
    plus = HFedMSPlus(settings, whole)
    chains = HFedMSD(dynamic_settings(settings, rule_of(settings, whole)), whole)
    counts = np.random.default_rng(1).integers(0, 9, (40, 62))
    assert plus.report(plus.start()) == chains.report(chains.start())
    ours, theirs = (each.plan(each.start(), context(counts)) for each in (plus, chains))
    assert ours == theirs
    assert (ours.total_groups, len(ours.groups), ours.scatter and ours.scatter.mode) == (10, 3, "broadcast")


def test_its_settings_are_handed_on() -> None:
    settings = HFedMSPlusSettings(learning_rate=0.2, sample_ratio=0.5, epochs=3, leftover="spread")
    handed = dynamic_settings(settings, Rule(4, 3, "unicast"))
    assert (handed.learning_rate, handed.sample_ratio, handed.epochs, handed.leftover) == (0.2, 0.5, 3, "spread")
    assert (handed.beta, handed.alpha, handed.interval, handed.scc) == (4, 0.0, 3, "off")
