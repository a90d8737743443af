"""What a run learns, each round once: what the lineage store knows is looked up, and only the rest is trained.

Rounds come one by one, as the clock plays them. While the store knows them they are only kept in mind; torch is not
even loaded. At the first unknown one the learner takes the state of the newest checkpoint on the way here, learns
what came after it, and goes on.
"""

from contextlib import AbstractContextManager
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from hfedms_sim.data import Batches
from hfedms_sim.lineage import WEIGHTS, LineageStore, Metrics, State, under
from hfedms_sim.lineage.pace import Pace
from hfedms_sim.rounds import RoundRecord
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation.engines import Computing, require_runnable
from hfedms_sim.simulation.parts import Parts

if TYPE_CHECKING:
    from hfedms_sim.learning import Evaluator, Learner, Probe


class _Played(NamedTuple):
    record: RoundRecord
    lineage: str


class RememberingLearner:
    """The learner of a run with the store of what it, or another run, has learnt before.

    `learn_s`, `evaluate_s` and `checkpoint_s` are seconds of wall time. `rounds_trained` counts what was not found.
    """

    def __init__(
        self, scenario: Scenario, parts: Parts, batches: Batches, computing: Computing, store: LineageStore
    ) -> None:
        require_runnable(computing)
        self.rounds_trained = 0
        self.learn_s = 0.0
        self.evaluate_s = 0.0
        self._scenario = scenario
        self._parts = parts
        self._batches = batches
        self._computing = computing
        self._store = store
        self._pace = Pace(parts.model.model_bytes)
        self._behind: list[_Played] = []  # played, but the learner is not there yet
        self._last: _Played | None = None
        self._is_finite = True
        self._probed: RoundRecord | None = None
        self._probe: Probe | None = None
        self._loaded: tuple[Learner, Evaluator] | None = None
        if store.is_empty:
            self._load()

    @property
    def checkpoint_s(self) -> float:
        return self._pace.spent_s

    def learn(self, record: RoundRecord, lineage: str) -> bool:
        """Learn a round that has just been played, and return whether every weight is finite."""
        self._last = _Played(record, lineage)
        self._behind.append(self._last)
        if record.round == self._scenario.probe_round:
            self._probed = record
        known = self._store.recall_round(record.round, lineage)
        if known is not None:
            return known
        self._catch_up()
        return self._is_finite

    def evaluate(self) -> Metrics:
        """Return what the model measures after the last round."""
        assert self._last is not None
        (record, lineage), probe_round = self._last, None if self._probed is None else self._probed.round
        metrics = self._store.metrics(record.round, lineage, probe_round)
        if metrics is None:
            metrics = self._measured(self._catch_up())
            self._store.note_metrics(record.round, lineage, probe_round, metrics)
        return metrics

    def finish(self) -> State:
        """Return the global model; the learner's state is stored if there is anything in it that was learnt here."""
        if self._last is None:  # nobody was ever there to learn from
            return under(WEIGHTS, self._load()[0].state())
        record, lineage = self._last
        found = self._store.newest_state([lineage]) if self._behind else None
        state = self._catch_up().state() if found is None else found[1]
        if found is None and not self._store.has_checkpoint(lineage):
            self._checkpoint(record.round, lineage, state, pinned=True)
        return under(WEIGHTS, state)

    def _load(self) -> "tuple[Learner, Evaluator]":
        """Return the learner and what tests it. They are made when they are first asked for, which loads torch."""
        if self._loaded is None:
            from hfedms_sim.learning import Evaluator
            from hfedms_sim.strategies.learners import make_learner

            engine, threads, _ = self._computing
            with self._at_work():
                learner = make_learner(self._scenario, self._parts.model, self._batches, engine, threads)
            self._loaded = learner, Evaluator(learner.logits, self._parts.dataset, self._scenario.sensors.count)
        return self._loaded

    def _at_work(self) -> AbstractContextManager[None]:
        """Return a context in which torch computes as this run has it; between rounds it is as whoever calls has it."""
        from hfedms_sim.learning import computing_with

        return computing_with(self._computing.threads, self._computing.device)

    def _catch_up(self) -> "Learner":
        """Return the learner, with everything learnt that was played."""
        learner, _ = self._load()
        found = self._store.newest_state([played.lineage for played in self._behind])
        with self._at_work():
            if found is not None:
                place, state = found
                learner.restore(state)
                self._note(learner, self._behind[place])
                del self._behind[: place + 1]
            for played in self._behind:
                self._train(learner, played)
        self._behind.clear()
        return learner

    def _train(self, learner: "Learner", played: _Played) -> None:
        """Train one round. A state that others wait for is written before the round counts as finished."""
        started = perf_counter()
        with self._parts.outside.blamed(f"in round {played.record.round}"):
            learner.learn(played.record)
        self.learn_s += perf_counter() - started
        self.rounds_trained += 1
        if self._store.keeps_checkpoints() and (self._store.is_pinned(played.lineage) or self._pace.is_due()):
            self._checkpoint(played.record.round, played.lineage, learner.state())
        self._note(learner, played)

    def _note(self, learner: "Learner", played: _Played) -> None:
        """Note that the learner has come so far, and whether its weights are finite."""
        from hfedms_sim.learning import is_finite

        self._is_finite = is_finite(learner.weights)
        self._store.note_learnt(played.record.round, played.lineage, self._is_finite)

    def _measured(self, learner: "Learner") -> Metrics:
        """Test the model; once the round to probe has been played, also on what it was trained on then."""
        from hfedms_sim.learning import Probe

        started = perf_counter()
        if self._probe is None and self._probed is not None:
            self._probe = Probe.of(self._probed, self._batches)
        _, evaluator = self._load()
        with self._at_work(), self._parts.outside.blamed("when it was tested"):
            metrics = evaluator.evaluate(learner.weights, self._probe)
        self.evaluate_s += perf_counter() - started
        return metrics

    def _checkpoint(self, round_number: int, lineage: str, state: State, *, pinned: bool = False) -> None:
        if self._store.keeps_checkpoints():
            with self._pace.timed():
                self._store.save(round_number, lineage, state, pinned=pinned)
