"""Proposition 2 of the HFedMS paper, measured: `make drift DATA=FILE.npz`. Takes some minutes.

The paper compensates a memory once a cycle, because the drift Delta = mean h(x; phi) - mean h(x; phi_bak) that two
batches of one sensor show should differ little. For every sensor that takes part again, with the cycle's extractor phi
and its backup phi_bak, over the batches of the first and the second calibration round:

    apart    |Delta_1 - Delta_2| / |Delta_1|
    cosine   of the angle between Delta_1 and Delta_2
    missed   |mean of a class in the second batch under phi - mean of it under phi_bak - Delta_1|, relative to what
             would be missed without compensation (Delta_1 = 0): below 1 compensation helps, by the class's own drift
             and by the batch's

Medians over sensors (and classes), cycle by cycle.
"""

import sys
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import ClassVar

import torch
from torch import Tensor

from hfedms_sim.data import kind_of
from hfedms_sim.learning.networks import Weights
from hfedms_sim.loading import load_scenario
from hfedms_sim.rounds import Participation, RoundRecord
from hfedms_sim.schedule import position_in_cycle
from hfedms_sim.simulation import run
from hfedms_sim.strategies.hfedms import HFedMSD
from hfedms_sim.strategies.learners.hfedms import CalibratingLearner

ROUNDS, REPORTED_CYCLES = 102, (2, 3, 5, 8, 13, 20)

Moved = tuple[Tensor, Tensor]
"""How far each sample of a batch moved between two extractors, and the labels."""


class Measuring(CalibratingLearner):
    """HFedMS-D that also notes what it would have needed to know."""

    figures: ClassVar[dict[int, dict[str, list[float]]]] = defaultdict(lambda: defaultdict(list))
    _backups: dict[int, Weights]
    _first: dict[int, Moved]

    def learn(self, record: RoundRecord) -> None:
        position = position_in_cycle(record.round, self._scc.interval)
        participants = [each for each in record.participations if each.captured]
        if position == 1:
            self._backups = {
                each.sensor: self.memories[each.sensor].extractor
                for each in participants
                if each.sensor in self.memories
            }
            self._first = {each.sensor: self._moved_by(each) for each in participants if each.sensor in self._backups}
        elif position == 2:
            for each in participants:
                if each.sensor in self._first:
                    self._note_pair(record.cycle, self._first[each.sensor], self._moved_by(each))
        super().learn(record)

    def _moved_by(self, participation: Participation) -> Moved:
        (new,) = self._extract([participation], self._extractor)
        (old,) = self._extract([participation], self._backups[participation.sensor])
        return new.vectors - old.vectors, new.labels

    def _note_pair(self, cycle: int, first: Moved, second: Moved) -> None:
        (moved, labels), (later, later_labels) = first, second
        one, other = moved.mean(dim=0), later.mean(dim=0)
        if not float(one.norm()):
            return
        figures = self.figures[cycle]
        figures["apart"].append(float((one - other).norm() / one.norm()))
        figures["cosine"].append(float(torch.nn.functional.cosine_similarity(one, other, dim=0)))
        for label in set(labels.tolist()) & set(later_labels.tolist()):
            truth = later[later_labels == label].mean(dim=0)
            own = moved[labels == label].mean(dim=0)
            if float(truth.norm()):
                figures["missed, by class"].append(float((truth - own).norm() / truth.norm()))
                figures["missed, by batch"].append(float((truth - one).norm() / truth.norm()))


def main(data: str) -> None:
    HFedMSD.learner = f"{__name__}:Measuring"
    path = Path(data)
    overrides = [f"data={{set: {kind_of(path)}, path: {data!r}}}", "model=small-cnn", f"evaluate_every={ROUNDS}"]
    run(load_scenario("paper-stream", rounds=ROUNDS, overrides=overrides))
    names = ("apart", "cosine", "missed, by class", "missed, by batch")
    print(f"{path.name}, small-cnn, paper settings, seed 1; medians\ncycle  sensors  " + "  ".join(names))
    for cycle in REPORTED_CYCLES:
        found = Measuring.figures[cycle]
        if found:
            shown = "  ".join(f"{median(found[name]):{len(name)}.3f}" for name in names)
            print(f"{cycle:5}  {len(found['apart']):7}  {shown}")


if __name__ == "__main__":
    main(sys.argv[1])
