"""Trains what the records say and measures the result. Importing it loads torch; a timing-only run never does."""

from pathlib import Path
from time import perf_counter

from hfedms_sim.data import Batches, Dataset
from hfedms_sim.learning import (
    Evaluator,
    Metrics,
    Probe,
    is_finite,
    keep_freed_memory,
    save_weights,
    use_device,
    use_threads,
)
from hfedms_sim.rounds import RoundRecord
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation.engines import engine_of, require_runnable
from hfedms_sim.strategies import make_learner


class Trainer:
    def __init__(self, scenario: Scenario, dataset: Dataset, batches: Batches, threads: int, device: str) -> None:
        engine = engine_of(scenario, device)
        require_runnable(engine, device)
        use_threads(threads)
        use_device(device)
        keep_freed_memory()
        self.learn_s = 0.0
        self.evaluate_s = 0.0
        self._batches = batches
        self._learner = make_learner(scenario, batches, engine, threads)
        self._evaluator = Evaluator(self._learner.logits, dataset, scenario.sensors.count)
        self._probe_round = scenario.probe_round
        self._probe: Probe | None = None

    def learn(self, record: RoundRecord) -> bool:
        """Whether the model is still sound: False if a weight is not finite."""
        started = perf_counter()
        self._learner.learn(record)
        if record.round == self._probe_round:
            self._probe = Probe.of(record, self._batches)
        self.learn_s += perf_counter() - started
        return is_finite(self._learner.weights)

    def evaluate(self) -> Metrics:
        started = perf_counter()
        metrics = self._evaluator.evaluate(self._learner.weights, self._probe)
        self.evaluate_s += perf_counter() - started
        return metrics

    def save(self, path: Path) -> None:
        """The global model."""
        save_weights(self._learner.weights, path)
