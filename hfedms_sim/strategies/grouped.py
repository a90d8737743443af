"""Groups by inter-cluster grouping, as the strategies that use it need them."""

from collections.abc import Iterable
from typing import ClassVar, Literal

import numpy as np

from hfedms_sim.grouping import group_sums, inter_cluster_grouping, pairwise_objective
from hfedms_sim.rounds import Group, Payload, PlanContext
from hfedms_sim.scenario import LocalTraining
from hfedms_sim.seeds import Draws
from hfedms_sim.strategies.base import ClassCounts, SensorIds
from hfedms_sim.units import BYTES_PER_PARAMETER


class ClusteredGroupsSettings(LocalTraining):
    relays: ClassVar[bool | None] = True

    leftover: Literal["drop", "spread"] = "drop"
    """Sensors that fit into no group of equal size: sit out the cycle, or join the smallest groups."""
    solver: Literal["auto", "pulp", "pulp-ilp", "exact", "lsa", "nested"] = "auto"
    """How the groups' balanced clustering is solved; auto: pulp for few sensors, nested for very many, else exact."""
    draw: Literal["random", "matched"] = "random"
    """A group takes a random member of each cluster, or the one that brings it nearest the factory's distribution."""


def class_counts_report(classes: int) -> Payload:
    """Return the report of how many samples of each class a batch has: one number a class."""
    return Payload("report", BYTES_PER_PARAMETER * classes)


def of_those(groups: Iterable[Group], sensors: SensorIds) -> tuple[Group, ...]:
    """Return the groups with only those members, and without groups that have none."""
    there = set(sensors.tolist())
    left = (Group(number, tuple(each for each in members if each in there)) for number, members in groups)
    return tuple(group for group in left if group.sensors)


def reported_counts(
    everyone: SensorIds, known: ClassCounts | None, context: PlanContext
) -> tuple[SensorIds, ClassCounts]:
    """Return the sensors that groups are formed of, and their class counts: of the report, or those `known` from it.

    `known` has a row for each of `everyone`, negative where a sensor has not reported (`kept_counts`).
    """
    if known is None:
        assert context.counts is not None, "the sensors have reported"
        return context.sensors, context.counts
    counts = known[np.searchsorted(everyone, context.sensors)]
    has_reported = (counts >= 0).all(axis=1)
    return context.sensors[has_reported], counts[has_reported]


def kept_counts(everyone: SensorIds, sensors: SensorIds, counts: ClassCounts) -> ClassCounts:
    """Return the counts of the sensors with a row for each of `everyone`: -1 where one has not reported."""
    kept = np.full((len(everyone), counts.shape[1]), -1, dtype=np.int64)
    kept[np.searchsorted(everyone, sensors)] = counts
    return kept


def grouped(
    settings: ClusteredGroupsSettings,
    sensors: SensorIds,
    counts: ClassCounts | None,
    groups: int,
    draws: Draws,
    cycle: int,
) -> tuple[list[tuple[int, ...]], int]:
    """Return all groups, each in its chain's order, and how unlike they are."""
    assert counts is not None, "the sensors have reported"
    formed = inter_cluster_grouping(
        sensors,
        counts,
        groups,
        draws,
        cycle=cycle,
        solver=settings.solver,
        leftover=settings.leftover,
        draw=settings.draw,
    ).groups
    rows = [np.searchsorted(sensors, group) for group in formed]
    return [tuple(group.tolist()) for group in formed], pairwise_objective(group_sums(counts, rows))
