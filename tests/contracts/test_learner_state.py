"""Every learner can be put away after any round and taken up again, with nothing lost: not a bit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hfedms_sim.data import batches_of
from hfedms_sim.learning import Learner
from hfedms_sim.lineage import State
from hfedms_sim.lineage.checkpoints import read_checkpoint, write_checkpoint
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import parts_of, play
from hfedms_sim.strategies.learners import make_learner
from tests.conftest import tiny_scenario
from tests.contracts.test_strategies import CASES
from tests.contracts.toy import DEVICES, write_toy

ROUNDS = 7
DYNAMIC = CASES["hfedms-d"]
MORE_CASES: dict[str, dict[str, Any]] = {
    "hfedms-d oracle": DYNAMIC | {"scc": "oracle"},
    "hfedms-d off": DYNAMIC | {"scc": "off"},
    "hfedms-d every round full": DYNAMIC | {"interval": 1},
    "hfedms-d storage by batch": DYNAMIC | {"storage_mean": "batch", "storage": "per-class", "memory": 7},
    "hfedms-d from local sets": DYNAMIC | {"initial_memory": "local-set", "memory": 7, "sample_ratio": 0.4},
    "hfedms-d from local sets, skipping": DYNAMIC | {"initial_memory": "local-set", "first_time": "skip"},
    "hfedms-d by local sets": DYNAMIC | {"weights": "local-set", "class_counts": "once"},
    "hfedms-d same batch": DYNAMIC | {"new_batch": "cycle", "distillation": 0.1},
}
TOPK, INT8 = {"uplink": "topk", "share": 0.05}, {"uplink": "int8", "downlink": "int8"}
COMPRESSED: dict[str, dict[str, Any]] = {
    "fedavg topk": CASES["fedavg"] | {"compression": TOPK},
    "fedavg topk, int8 down": CASES["fedavg"] | {"compression": TOPK | {"downlink": "int8"}},
    "fedadam topk": CASES["fedadam"] | {"compression": TOPK},
    "ida intrac topk": CASES["ida intrac"] | {"compression": TOPK},
    "fedfusion topk": CASES["fedfusion multi"] | {"compression": TOPK},
    "static-groups int8": CASES["static-groups"] | {"compression": INT8 | {"relay": "int8"}},
    "hfedms-d int8": DYNAMIC | {"compression": INT8 | {"relay": "int8"}, "memory": 7},
    "hfedms-d from local sets, int8": DYNAMIC | {"compression": INT8, "initial_memory": "local-set"},
    "hfedms-d oracle, float16": DYNAMIC | {"compression": {"downlink": "float16", "relay": "float16"}, "scc": "oracle"},
}
ALL_CASES = CASES | MORE_CASES | COMPRESSED


def scenario_of(case: str, directory: Path) -> Scenario:
    name = case.split()[0]
    return tiny_scenario(
        rounds=ROUNDS,
        model="small-cnn" if name == "fedfusion" else "tiny-mlp",
        sensors={"count": DEVICES},
        data={"set": "npz", "path": str(write_toy(directory / "toy.npz"))},
        stream={"batch": 6, "augment": False},
        strategy={"name": name} | ALL_CASES[case],
    )


def new_learner(scenario: Scenario) -> Learner:
    parts = parts_of(scenario)
    return make_learner(scenario, parts.model, batches_of(scenario, parts.dataset))


def assert_same(one: State, other: State) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert value.dtype == other[name].dtype, name
        assert np.array_equal(value, other[name]), name


@pytest.mark.thorough
@pytest.mark.parametrize("case", ALL_CASES)
def test_a_learner_restored_after_any_round_goes_on_bit_for_bit(case: str, tmp_path: Path) -> None:
    scenario = scenario_of(case, tmp_path)
    records = [played.record for played in play(scenario)]
    uninterrupted = new_learner(scenario)
    files = [tmp_path / f"{record.round}.safetensors" for record in records]
    for path, record in zip(files, records, strict=True):
        uninterrupted.learn(record)
        write_checkpoint(path, record.round, "lineage", uninterrupted.state())
    assert len(records) == ROUNDS
    for number, path in enumerate(files, start=1):
        resumed = new_learner(scenario)
        resumed.restore(read_checkpoint(path, "lineage"))
        for record in records[number:]:
            resumed.learn(record)
        assert_same(resumed.state(), uninterrupted.state())


def test_a_backup_extractor_is_written_once_however_many_memories_are_in_its_space(tmp_path: Path) -> None:
    scenario = scenario_of("hfedms-d", tmp_path)
    learner = new_learner(scenario)
    for played in play(scenario):
        learner.learn(played.record)
    state = learner.state()
    extractors = {name.split("/")[2] for name in state if name.startswith("memory/extractor/")}
    table = state["memory/table"]
    assert len(table) > len(extractors) + 1
    assert {str(number) for number in table[:, 2].tolist()} - {"0"} == extractors
