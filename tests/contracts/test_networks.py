"""Networks that are no stacks, under every strategy: they play, repeat themselves, go on from a checkpoint, and learn.

And data of any shape: HFedMS-D and FedAvg bring the loss down on images of colour, digits of 8x8, features and series.
"""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hfedms_sim.data import Dataset, from_arrays
from hfedms_sim.errors import InputError
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import run
from hfedms_sim.strategies import SHIPPED
from tests.conftest import tiny_scenario
from tests.contracts.test_strategies import CASES

DEVICES, CLASSES = 12, 4
SHAPES = {"resnet8": (3, 8, 8), "lstm": (1, 48)}
VARIANTS = (
    "fedavg adam", "ida fedavg", "ida l1", "hfedms-d adam", "fedasync hinge", "fedbuff constant",
)  # of what is tried already; stacks have them all  # fmt: skip
ACCEPTED = [case for case in CASES if not case.startswith("fedfusion") and case not in VARIANTS]


@cache
def problem(shape: tuple[int, ...], classes: int = CLASSES) -> Dataset:
    """Samples around a centre of each class; a device holds two classes."""
    random = np.random.default_rng(1)
    device = np.repeat(np.arange(DEVICES), 30)
    labels = (device + np.tile(np.arange(30) % 2, DEVICES)) % classes
    centres = random.normal(0, 1, (classes, *shape))
    inputs = centres[labels] + random.normal(0, 0.7, (len(labels), *shape))
    return from_arrays(inputs.astype(np.float32), labels, device=device, classes=classes)


def scenario_of(model: str, case: str, **changes: Any) -> Scenario:
    settings = CASES[case] | {"learning_rate": 0.05 if "adam" not in case else 0.01}
    return tiny_scenario(
        **{
            "rounds": 4,
            "model": model,
            "sensors": {"count": DEVICES},
            "stream": {"batch": 10},
            "strategy": {"name": case.split()[0]} | settings,
        }
        | changes
    )


@pytest.mark.thorough
@pytest.mark.parametrize("model", SHAPES)
@pytest.mark.parametrize("case", ACCEPTED)
def test_every_strategy_trains_it_alike_twice_and_from_a_checkpoint(model: str, case: str, tmp_path: Path) -> None:
    scenario, data = scenario_of(model, case), problem(SHAPES[model])
    first = run(scenario, data=data, out=tmp_path / "first")
    shorter = scenario.model_copy(update={"rounds": 2})
    run(shorter, data=data, out=tmp_path / "half")
    resumed = run(scenario, data=data, out=tmp_path / "resumed", learn_from=[tmp_path / "half"])
    assert resumed.provenance["rounds_trained"] == 2
    one, other = first.weights(), resumed.weights()
    assert one.keys() == other.keys()
    assert all(np.array_equal(one[name], other[name]) for name in one)
    assert all(np.isfinite(value).all() for value in one.values())
    losses = first.rounds["loss"].tolist()
    assert min(losses[1:]) < losses[0]


@pytest.mark.parametrize("model", SHAPES)
def test_fedfusion_refuses_it_in_one_line(model: str) -> None:
    with pytest.raises(InputError, match=rf"fuses the features of a shipped stack.* model: {model} is none") as refused:
        run(scenario_of(model, "fedfusion"), data=problem(SHAPES[model]), timing_only=True)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("engine", ["lowrank", "native"])
def test_fast_engines_refuse_it_in_one_line(engine: str) -> None:
    with pytest.raises(InputError, match=r"does not know model: resnet8, .*; allowed: auto, generic") as refused:
        run(scenario_of("resnet8", "fedavg", engine=engine), data=problem(SHAPES["resnet8"]), timing_only=True)
    assert "\n" not in str(refused.value)


@pytest.mark.thorough
@pytest.mark.parametrize("strategy", ["hfedms-d", "fedavg"])
@pytest.mark.parametrize(
    ("model", "shape"),
    [
        ("small-cnn", (3, 32, 32)),
        pytest.param("resnet8", (3, 32, 32), marks=pytest.mark.slow),
        ("small-cnn", (1, 8, 8)),
        ("mlp", (16,)),
        ("conv1d", (1, 1024)),
        ("lstm", (1, 1024)),
    ],
)
def test_data_of_any_shape_are_learnt(model: str, shape: tuple[int, ...], strategy: str) -> None:
    settings = {"beta": 3, "interval": 2} if strategy == "hfedms-d" else {}
    chosen = {"name": strategy, "sample_ratio": 0.7, "learning_rate": 0.05, "epochs": 3} | settings
    scenario = scenario_of(model, "fedavg", rounds=10, stream={"batch": 20}, strategy=chosen)
    losses = run(scenario, data=problem(shape)).rounds["loss"].tolist()
    assert min(losses) <= 0.8 * np.log(CLASSES)
    assert min(losses[1:]) <= 0.8 * losses[0]


def test_all_shipped_strategies_are_in_the_cases() -> None:
    assert {case.split()[0] for case in (*ACCEPTED, "fedfusion")} == set(SHIPPED)
