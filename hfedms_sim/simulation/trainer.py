"""Trains what the records say and measures the result. Importing it loads torch; a timing-only run never does."""

from time import perf_counter

from hfedms_sim.data import Batches, Dataset
from hfedms_sim.learning import Evaluator, Probe, is_finite, keep_freed_memory, use_device, use_threads
from hfedms_sim.lineage import Metrics, State
from hfedms_sim.rounds import RoundRecord
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation.engines import engine_of
from hfedms_sim.strategies import make_learner


class Trainer:
    def __init__(self, scenario: Scenario, dataset: Dataset, batches: Batches, threads: int, device: str) -> None:
        use_threads(threads)
        use_device(device)
        keep_freed_memory()
        self.learn_s = 0.0
        self.evaluate_s = 0.0
        self._batches = batches
        self._learner = make_learner(scenario, batches, engine_of(scenario, device), threads)
        self._evaluator = Evaluator(self._learner.logits, dataset, scenario.sensors.count)
        self._probe: Probe | None = None

    def learn(self, record: RoundRecord) -> bool:
        """Whether the model is still sound: False if a weight is not finite."""
        started = perf_counter()
        self._learner.learn(record)
        self.learn_s += perf_counter() - started
        return is_finite(self._learner.weights)

    def evaluate(self, probed: RoundRecord | None) -> Metrics:
        """`probed`: the round whose batches the probe of forgetting is made of, once it has been played."""
        started = perf_counter()
        if self._probe is None and probed is not None:
            self._probe = Probe.of(probed, self._batches)
        metrics = self._evaluator.evaluate(self._learner.weights, self._probe)
        self.evaluate_s += perf_counter() - started
        return metrics

    def state(self) -> State:
        return self._learner.state()

    def restore(self, state: State) -> None:
        self._learner.restore(state)

    def is_sound(self) -> bool:
        return is_finite(self._learner.weights)
