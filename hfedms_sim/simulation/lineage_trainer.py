"""Learns each round once: what the lineage store knows is looked up, and only what it does not know is trained.

Rounds come one by one, as the clock plays them. While the store knows them they are only kept in mind; torch is not
even loaded. At the first unknown one the learner takes the state of the newest checkpoint on the way here, learns
what came after it, and goes on.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hfedms_sim.lineage import WEIGHTS, LineageStore, Metrics, State, save_weights, under
from hfedms_sim.lineage.pace import Pace
from hfedms_sim.rounds import RoundRecord

if TYPE_CHECKING:
    from hfedms_sim.simulation.trainer import Trainer


class _Played(NamedTuple):
    record: RoundRecord
    lineage: str


class LineageTrainer:
    """`make` makes the trainer that starts from the initial model."""

    def __init__(
        self, make: Callable[[], "Trainer"], store: LineageStore, *, model_bytes: int, probe_round: int | None
    ) -> None:
        self.rounds_trained = 0
        self._make = make
        self._store = store
        self._trainer = make() if store.is_empty else None
        self._pace = Pace(model_bytes)
        self._probe_round = probe_round
        self._probed: RoundRecord | None = None
        self._behind: list[_Played] = []  # played, but the learner is not there yet
        self._last: _Played | None = None

    @property
    def learn_s(self) -> float:
        return 0.0 if self._trainer is None else self._trainer.learn_s

    @property
    def evaluate_s(self) -> float:
        return 0.0 if self._trainer is None else self._trainer.evaluate_s

    @property
    def checkpoint_s(self) -> float:
        return self._pace.spent_s

    def learn(self, record: RoundRecord, lineage: str) -> bool:
        """Whether the model is still sound: False if a weight is not finite."""
        self._last = _Played(record, lineage)
        self._behind.append(self._last)
        if record.round == self._probe_round:
            self._probed = record
        finite = self._store.is_finite(record.round, lineage)
        if finite is None:
            finite = self._caught_up().is_sound()
            self._store.note_learnt(record.round, lineage, finite)
        return finite

    def evaluate(self) -> Metrics:
        """Of the model after the last round."""
        assert self._last is not None
        (record, lineage), probe_round = self._last, None if self._probed is None else self._probed.round
        metrics = self._store.metrics(record.round, lineage, probe_round)
        if metrics is None:
            metrics = self._caught_up().evaluate(self._probed)
            self._store.note_metrics(record.round, lineage, probe_round, metrics)
        return metrics

    def finish(self, model_path: Path) -> None:
        """Saves the global model, and the learner's state if there is anything in it that was learnt here."""
        assert self._last is not None
        record, lineage = self._last
        found = self._store.newest_state([lineage]) if self._behind else None
        state = self._caught_up().state() if found is None else found[1]
        if found is None and not self._store.has_checkpoint(lineage):
            self._checkpoint(record.round, lineage, state, pinned=True)
        save_weights(under(WEIGHTS, state), model_path)

    def _caught_up(self) -> "Trainer":
        """The trainer, with everything learnt that was played."""
        if self._trainer is None:
            self._trainer = self._make()
        found = self._store.newest_state([played.lineage for played in self._behind])
        if found is not None:
            place, state = found
            self._trainer.restore(state)
            del self._behind[: place + 1]
        for played in self._behind:
            self._learn_one(self._trainer, *played)
        self._behind.clear()
        return self._trainer

    def _learn_one(self, trainer: "Trainer", record: RoundRecord, lineage: str) -> None:
        """A state that others wait for is written before the round counts as finished."""
        finite = trainer.learn(record)
        self.rounds_trained += 1
        if self._store.keeps_checkpoints() and (self._store.is_pinned(lineage) or self._pace.is_due()):
            self._checkpoint(record.round, lineage, trainer.state())
        self._store.note_learnt(record.round, lineage, finite)

    def _checkpoint(self, round_number: int, lineage: str, state: State, *, pinned: bool = False) -> None:
        if self._store.keeps_checkpoints():
            with self._pace.timed():
                self._store.save(round_number, lineage, state, pinned=pinned)
