"""An exhaustive grid of a small factory, made once: what every candidate takes and learns, to search in at once.

    python -m tests.recommendation.grid DIR    makes grid.npz from scratch, in half an hour; DIR holds the campaigns

The file has, for each seed and candidate, when each round ends and what it costs, for each learner its accuracies, and
the words of the candidates: a row belongs to whoever had its number then.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from hfedms_sim.campaign import workers_for
from hfedms_sim.recommendation.candidates import Candidate, Question, candidates_of
from hfedms_sim.recommendation.found import Timed, learners_of
from hfedms_sim.recommendation.goal import Goal
from hfedms_sim.recommendation.playing import CampaignPlayer
from hfedms_sim.recommendation.prospects import Learnt, Prospect

FILE = Path(__file__).with_name("grid.npz")
ROUNDS, SEEDS, EVERY = 80, (1, 2), 2
STRATEGIES = ("fedavg", "fedadam", "fedbuff", "hfedms-s", "hfedms-d")
RADIOS = ("lte-cat-m2", "lte-cat-m1-hd", "nb-iot-nb2", "redcap")
OVERRIDES = ("model=tiny-mlp", "sensors.count=60", "sensors.types=6", "strategy.beta=6", f"evaluate_every={EVERY}")


def question(goal: Goal) -> Question:
    return Question("quickstart", goal, ROUNDS, OVERRIDES)


@cache
def candidates() -> tuple[Candidate, ...]:
    found, refused = candidates_of(question(Goal(1.0)), STRATEGIES, RADIOS)
    assert not refused
    return tuple(found)


@dataclass
class Grid:
    """What there is in the file; it plays candidates by looking them up, and counts nothing as trained."""

    prospects: Mapping[tuple[Candidate, int], Prospect]
    learnt: Learnt
    words: Sequence[str]
    """The candidates, as they were called when it was made."""

    def time(self, candidates: Sequence[Candidate], seed: int) -> Timed:
        return Timed([self.prospects[each, seed] for each in candidates], {})

    def train(self, step: str, prospects: Sequence[Prospect], rounds: int, seed: int) -> Learnt:
        asked = {lineage for each in prospects for lineage in each.lineages[:rounds]}
        return {lineage: accuracy for lineage, accuracy in self.learnt.items() if lineage in asked}


def read_grid() -> Grid:
    with np.load(FILE) as file:
        arrays = {name: file[name] for name in file.files}
    prospects = {}
    for place, (seed, candidate) in enumerate((seed, each) for seed in SEEDS for each in candidates()):
        learner = int(arrays["learner"][place])
        prospects[candidate, seed] = Prospect(
            candidate,
            tuple(arrays["time_s"][place].tolist()),
            tuple(arrays["joules"][place].tolist()),
            tuple(f"{learner}:{number}" for number in range(1, ROUNDS + 1)),
            float(arrays["battery_s"][place]),
        )
    measured = np.argwhere(np.isfinite(arrays["accuracy"]))
    learnt = {f"{learner}:{number + 1}": float(arrays["accuracy"][learner, number]) for learner, number in measured}
    return Grid(prospects, learnt, arrays["words"].tolist())


def make_grid(directory: Path) -> None:
    asked = question(Goal(1.0))
    player = CampaignPlayer(asked, directory, lambda options: workers_for(2, None, options))
    rows: list[dict[str, Any]] = []
    accuracies: list[list[float]] = []
    numbers: dict[str, int] = {}
    for seed in SEEDS:
        prospects = player.time(candidates(), seed).prospects
        learners = learners_of(prospects, ROUNDS)
        learnt = player.train(f"grid-seed{seed}", learners, ROUNDS, seed)
        for each in learners:
            numbers[each.lineages[-1]] = len(accuracies)
            accuracies.append([learnt.get(lineage, np.nan) for lineage in each.lineages])
        rows += [
            {
                "time_s": each.time_s,
                "joules": each.cost,
                "battery_s": each.battery_s,
                "learner": numbers[each.lineages[-1]],
            }
            for each in prospects
        ]
    columns: dict[str, Any] = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    words = np.array([each.words for each in candidates()])
    np.savez_compressed(FILE, accuracy=np.array(accuracies, dtype=np.float32), words=words, **columns)


if __name__ == "__main__":
    make_grid(Path(sys.argv[1]))
