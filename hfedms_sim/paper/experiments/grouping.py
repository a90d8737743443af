"""The paper's box plot of class probability distances, with its published ratios beside ours (group_distances.py)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hfedms_sim.data import Dataset, open_copy, open_dataset
from hfedms_sim.exhibits import Boxes, Figure, Table
from hfedms_sim.grouping import CpdKind
from hfedms_sim.loading import load_scenario
from hfedms_sim.paper import published
from hfedms_sim.paper.claims import Claim, ClaimPart
from hfedms_sim.paper.experiment import Experiment, ExperimentOutcome, Results
from hfedms_sim.paper.experiments.group_distances import GROUPS, Spread, spreads_of
from hfedms_sim.paper.study import Study
from hfedms_sim.scenario import Scenario

NAMES = {"sensors": "single sensors", "random": "random groups", "icg": "ICG", "matched": "ICG, matched"}
KINDS: dict[CpdKind, str] = {"onehot": "classes as one-hot points", "entries": "probabilities as samples"}
_PAPER_GROUPS = 10  # as in its first cycle
_RANDOM_TO_SENSORS = published.ICG_TO_SENSORS / published.ICG_TO_RANDOM  # follows from the two that it names
_PUBLISHED: dict[str, tuple[float | None, float | None]] = {
    "random": (_RANDOM_TO_SENSORS, None),
    "icg": (published.ICG_TO_SENSORS, published.ICG_TO_RANDOM),
}
"""Median distance of a way to group, relative to single sensors and to random groups."""


def _outcome(study: Study, _: Results) -> ExperimentOutcome:
    dataset = _dataset(study.data)
    groups = [number for number in GROUPS if number <= dataset.devices]
    spreads = spreads_of(dataset, groups)
    name = dataset.name if study.data is None else study.data.stem
    where = f"{dataset.devices} devices of {name}, batches of 50"
    return ExperimentOutcome((_table(spreads, where),), (_figure(spreads, where),), (_claim(spreads),))


def _dataset(data: Path | None) -> Dataset:
    if data is not None:
        return open_copy(data)
    scenario: Scenario = load_scenario("paper-stream")
    return open_dataset(scenario.data, sensors=scenario.sensors.count, types=scenario.sensors.types, seed=scenario.seed)


def _table(spreads: Sequence[Spread], where: str) -> Table:
    random = {spread.groups: spread for spread in spreads if spread.way == "random"}
    sensors = {spread.groups: spread for spread in spreads if spread.way == "sensors"}
    rows = []
    for spread in spreads:
        cells: list[float | None] = []
        for kind in KINDS:
            median = spread.median(kind)
            cells += [median, median / sensors[spread.groups].median(kind), median / random[spread.groups].median(kind)]
        rows.append((
            spread.groups, NAMES[spread.way], *cells, *_PUBLISHED.get(spread.way, (None, None)),
            None if spread.way == "sensors" else spread.objective,
        ))  # fmt: skip
    header = ("groups", "how", *(f"{kind}{part}" for kind in KINDS for part in ("", ", to sensors", ", to random")),
              "to sensors, published", "to random, published", "z")  # fmt: skip
    note = (
        f"Medians over all pairs of groups; {where}. What the paper takes as samples of its distance is not stated;"
        f" {_RANDOM_TO_SENSORS:g} follows from its two ratios."
    )
    return Table("grouping", "Distance between the class distributions of two groups", header, tuple(rows), note)


def _figure(spreads: Sequence[Spread], where: str) -> Figure:
    numbers = list(dict.fromkeys(spread.groups for spread in spreads))
    panels = [
        Boxes(
            f"{number} groups: {name}",
            "class probability distance",
            tuple((NAMES[each.way], tuple(each.distances[kind].tolist())) for each in spreads if each.groups == number),
            log_y=True,
        )
        for kind, name in KINDS.items()
        for number in numbers
    ]
    return Figure("grouping", f"How unlike groups are, {where}", tuple(panels), columns=len(numbers))


def _claim(spreads: Sequence[Spread]) -> Claim:
    """Judge the paper's ten groups, each seed of batches and splits by itself."""
    ways = {spread.way: spread for spread in spreads if spread.groups == _PAPER_GROUPS}
    parts = []
    for kind, name in KINDS.items():
        medians = {way: np.array(ways[way].seed_medians(kind)) for way in ("sensors", "random", "icg")}
        for less, more, printed in (
            ("icg", "random", published.ICG_TO_RANDOM),
            ("random", "sensors", _RANDOM_TO_SENSORS),
        ):
            ratio = float(np.mean(medians[less] / medians[more]))
            told = f"ratio {ratio:.3f}, published {printed:g}"
            parts.append(
                ClaimPart(
                    f"{NAMES[less]} below {NAMES[more]}, {name}", tuple((medians[more] - medians[less]).tolist()), told
                )
            )
    return Claim("Q6", "defaults", tuple(parts))


GROUPING = Experiment("grouping", "figure: class probability distances", lambda study: [], _outcome, ("Q6",))
