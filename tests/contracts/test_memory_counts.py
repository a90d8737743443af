"""What the planner counts of HFedMS-D's memory, without a tensor, is what the learner really holds and trains on."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hfedms_sim.data import Dataset, batches_of
from hfedms_sim.learning import Learner
from hfedms_sim.learning.engine import GenericEngine
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import parts_of
from hfedms_sim.simulation.planner import Planner
from hfedms_sim.strategies.learners import make_learner
from hfedms_sim.strategies.learners.hfedms import CalibratingLearner
from hfedms_sim.trace import Trace
from hfedms_sim.world.world import World
from tests.conftest import some_of, tiny_scenario
from tests.contracts.toy import DEVICES, write_toy

ROUNDS, INTERVAL, BATCH = 13, 3, 6
FEW_ARRIVE = {"arrival": "poisson", "rate_hz": 0.001, "short": "take"}  # many captures find nothing
STREAMS: dict[str, dict[str, Any]] = {
    "round": {},
    "cycle": {"redraw": "cycle"},
    "once": {"redraw": "once"},
    "few": FEW_ARRIVE,
    "few, reused": FEW_ARRIVE,
    "static": {"arrival": "static"},
}
MEMORIES = [("on", "empty"), ("on", "local-set"), ("off", "empty"), ("off", "local-set"), ("oracle", "empty")]


def scenario_of(directory: Path, stream: str, **strategy: Any) -> Scenario:
    return tiny_scenario(
        sensors={"count": DEVICES},
        data={"set": "npz", "path": str(write_toy(directory / "toy.npz"))},
        stream={"batch": BATCH, "augment": False} | STREAMS[stream],
        strategy={
            "name": "hfedms-d",
            "interval": INTERVAL,
            "beta": 3,
            "sample_ratio": 0.4,
            "new_batch": "cycle" if "reused" in stream else "round",
        }
        | strategy,
    )


class Calibrated:
    """Notes how large the sets are that the engine trains classifiers on, each sensor's once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sizes: list[int] = []
        train = GenericEngine.train_classifiers

        def noting(engine: GenericEngine, start: Any, chains: Any, *others: Any) -> Any:
            self.sizes = [len(local.labels) for chain in chains for local in chain]
            return train(engine, start, chains, *others)

        monkeypatch.setattr(GenericEngine, "train_classifiers", noting)


def held(learner: Learner, scenario: Scenario, dataset: Dataset) -> dict[int, int]:
    """How many samples or vectors each sensor remembers, by the learner's state; the oracle's are raw samples."""
    state, counted = learner.state(), Counter[int]()
    if scenario.strategy.scc == "oracle":  # type: ignore[union-attr]
        for sensor, _, count in state["seen"].tolist():
            counted[sensor] += count
        return dict(counted)
    if scenario.strategy.has_initial_memory:
        counted.update({sensor: len(dataset.train_labels(sensor)) for sensor in range(DEVICES)})
    return dict(counted) | {sensor: size for sensor, size, _ in state["memory/table"].tolist()}


@pytest.mark.parametrize("stream", some_of(STREAMS, kept=list(STREAMS)[::2]))
@pytest.mark.parametrize("memory", MEMORIES, ids=" ".join)
@pytest.mark.parametrize("first_time", ["calibrate", "skip"])
@pytest.mark.parametrize("capacity", some_of((15, 100), kept=(15,)))
def test_the_planned_memory_is_the_learners_after_every_round(
    stream: str,
    memory: tuple[str, str],
    first_time: str,
    capacity: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The toy's local sets hold 20 samples: more than a memory of 15, fewer than one of 100."""
    scc, initial = memory
    options = {"scc": scc, "initial_memory": initial, "first_time": first_time, "memory": capacity}
    scenario = scenario_of(tmp_path, stream, **options)
    dataset, model, _ = parts_of(scenario)
    batches = batches_of(scenario, dataset)
    trace = Trace()
    world = World(scenario, trace, dataset.train_sizes(np.arange(DEVICES)))
    planner, learner = Planner(scenario, model, batches, world), make_learner(scenario, model, batches)
    assert isinstance(learner, CalibratingLearner)
    calibrated = Calibrated(monkeypatch)
    for number in range(1, ROUNDS + 1):
        world.begin_round(number)
        plan = planner.plan()
        assert {k: n for k, n in plan.memory_fill.items() if n} == held(learner, scenario, dataset), number
        record = world.play(plan)
        world.end_round()
        planner.after(plan, record)
        calibrated.sizes = []
        learner.learn(record)
        work = trace.work.gathered().to_pandas()
        planned = work[(work["round"] == number) & (work["kind"] == "calibrate")]
        assert sorted(calibrated.sizes) == sorted(planned["samples"].tolist()), number
