"""Networks from outside the package: by module, by entry point, as functions; and bad ones refused in one line."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import Tensor, nn

from hfedms_sim.data import Dataset, from_arrays
from hfedms_sim.errors import InputError, RunError
from hfedms_sim.loading import load_scenario
from hfedms_sim.models import MODELS
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import open_run, resume, run
from hfedms_sim.strategies.fedprox import FedProx

DOCS = Path(__file__).resolve().parent.parent.parent / "docs" / "extending.md"
SMALL = ["--rounds", "3", "--set", "sensors.count=10", "--set", "evaluate_every=3", "--quiet"]


def network_of_the_docs() -> str:
    """The two blocks of "A network", as one file."""
    section = DOCS.read_text().partition("## A network")[2].partition("\n## ")[0]
    blocks = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    assert len(blocks) == 2
    return "\n\n".join(blocks)


def command(directory: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    program = [sys.executable, "-m", "hfedms_sim.cli", *arguments]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.run(program, cwd=directory, env=environment, capture_output=True, text=True, check=False)


def ok(directory: Path, *arguments: str) -> str:
    ended = command(directory, *arguments)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def refused(directory: Path, *arguments: str) -> str:
    ended = command(directory, *arguments)
    assert ended.returncode == 2, ended.stdout
    assert ended.stderr.count("\n") == 1, ended.stderr
    return ended.stderr


def rounds_trained(run_directory: Path) -> int:
    return int(json.loads((run_directory / "provenance.json").read_text())["rounds_trained"])


@pytest.mark.thorough
def test_the_network_of_the_docs_is_run_compared_resumed_and_told_from_an_edited_one(tmp_path: Path) -> None:
    (tmp_path / "wide.py").write_text(network_of_the_docs())
    named = ["--import", "wide"]
    assert "BatchNorm2d" in ok(tmp_path, *named, "show", "wide")
    ok(tmp_path, *named, "run", "quickstart", "--set", "model=wide", *SMALL, "--out", "one")
    assert json.loads((tmp_path / "one" / "provenance.json").read_text())["outside"]["model"] == "wide:Wide"
    again = [*named, "run", "quickstart", "--set", "model=wide", *SMALL, "--learn-from", "one", "--out"]
    ok(tmp_path, *again, "two")
    assert rounds_trained(tmp_path / "two") == 0
    assert open_run(tmp_path / "one").scenario.model == "wide"  # it can be read without the network
    grid = ["--grid", "model=tiny-mlp,wide", "--timing-only", *SMALL, "--jobs", "2", "--out", "swept"]
    ok(tmp_path, *named, "sweep", "quickstart", *grid)
    missing = refused(tmp_path, "run", "one/scenario.yaml", "--out", "three")
    assert "model = 'wide': must be cnn" in missing
    (tmp_path / "wide.py").write_text(network_of_the_docs().replace("Conv2d(channels, 32, 3", "Conv2d(channels, 32, 5"))
    ok(tmp_path, *again, "edited")
    assert rounds_trained(tmp_path / "edited") == 3


def plain(input_shape: tuple[int, ...], classes: int) -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 16), nn.ReLU(), nn.Linear(16, classes))


def test_a_function_is_a_network_and_a_recognised_stack_takes_the_fast_engine(tmp_path: Path) -> None:
    overrides = ["sensors.count=10", "evaluate_every=3", "strategy.learning_rate=0.05"]
    results = {
        engine: run(
            load_scenario("quickstart", rounds=3, overrides=[*overrides, f"engine={engine}"]),
            model=plain,
            out=tmp_path / engine,
        )
        for engine in ("generic", "lowrank", "auto")
    }
    one, *others = (result.weights() for result in results.values())
    for other in others:
        assert one.keys() == other.keys() == {"1.weight", "1.bias", "3.weight", "3.bias"}
        assert all(abs(one[name] - other[name]).max() < 1e-5 for name in one)
    assert results["generic"].scenario.model == "plain"
    assert open_run(tmp_path / "generic").summary["final_loss"] == results["generic"].summary["final_loss"]
    assert len(results["generic"].predictions()) > 100


def linear(input_shape: tuple[int, ...], classes: int) -> nn.Module:
    return nn.Linear(*input_shape, classes)


def test_a_single_dense_layer_is_a_network_without_an_extractor() -> None:
    labels = np.arange(400) % 4
    inputs = np.eye(4)[labels].repeat(4, axis=1)
    data = from_arrays(inputs, labels, partition={"kind": "iid"}, devices=10)
    scenario = load_scenario("quickstart", rounds=6, overrides=["sensors.count=10", "strategy.beta=3", "stop_at=null"])
    result = run(scenario, model=linear, data=data)
    assert result.summary["final_accuracy"] == 1.0
    assert set(result.weights()) == {"weight", "bias"}


def test_what_was_typed_in_is_told_from_another_edition(tmp_path: Path) -> None:
    """Code without a file, as in an interactive session, is known by what Python has made of it."""
    lineages = []
    for width in (8, 8, 9):
        names: dict[str, Any] = {"nn": nn}
        layers = f"nn.Flatten(), nn.Linear(784, {width}), nn.Linear({width}, classes)"
        exec(f"def typed(input_shape, classes): return nn.Sequential({layers})", names)
        scenario = load_scenario("quickstart", rounds=1, overrides=["sensors.count=10"])
        lineages.append(run(scenario, model=names["typed"], timing_only=True).summary["lineage"])
    assert lineages[0] == lineages[1] != lineages[2]


def test_an_entry_point_may_be_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("plainest", f"{__name__}:plain", "hfedms_sim.models")
    monkeypatch.setitem(MODELS.__dict__, "_installed", {"plainest": entry})
    assert MODELS["plainest"].name == "plainest"
    assert "plainest" in list(MODELS)
    assert load_scenario("quickstart", overrides=["model=plainest"]).model == "plainest"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise RuntimeError('no')", r"--import bad: cannot be imported \(RuntimeError: no\)"),
        (
            "class A(Model):\n    name = 'cnn'\n    def module(self, input_shape, classes): ...",
            r"model 'cnn': is defined twice, as hfedms_sim.models.stacks:Cnn and as bad:A",
        ),
        (
            "class A(Model):\n    name = 'a b'\n    def module(self, input_shape, classes): ...",
            r"bad:A: name = 'a b': must be text of letters",
        ),
        (
            "class A(Model):\n    name = 'mine'\n    def module(self): ...",
            r"bad:A: module cannot be called as a run calls it",
        ),
        (
            "class A(Model):\n    name = 'mine'\n    def module(self, s, c): return nn.Flatten()",
            r"model 'mine' \(bad:A\): the network uses no torch.nn.Linear",
        ),
        (
            "class A(Model):\n    name = 'mine'\n    def module(self, s, c):\n"
            "        return nn.Sequential(nn.Flatten(), nn.Linear(784, c), nn.Softmax(1))",
            r"model 'mine' \(bad:A\): .* does not end with its classifier",
        ),
        (
            "class A(Model):\n    name = 'mine'\n    def __init__(self, width): ...\n    def module(self, s, c): ...",
            r"bad:A: cannot be made without arguments \(.*\); pass an object",
        ),
        (
            "class A(Model):\n    name = 'mine'\n    def module(self, s, c): raise KeyError('lost')",
            r"model 'mine' \(bad:A\): raised KeyError: 'lost'",
        ),
        (
            "class A(Model):\n    name = 'mine'\n    def module(self, s, c):\n"
            "        m = nn.Sequential(nn.Flatten(), nn.Linear(784, c))\n"
            "        nn.init.constant_(m[1].bias, float('nan'))\n        return m",
            r"model 'mine' \(bad:A\): the network starts with a weight that is not finite",
        ),
    ],
)
def test_a_bad_network_is_refused_in_one_line(tmp_path: Path, body: str, said: str) -> None:
    header = "from torch import nn\nfrom hfedms_sim.models import Model\n"
    (tmp_path / "bad.py").write_text(f"{header}{body}\n")
    line = refused(tmp_path, "--import", "bad", "run", "quickstart", "--set", "model=mine", *SMALL, "--out", "one")
    assert re.search(said, line), line
    assert not (tmp_path / "one").exists()


def test_naming_networks_does_not_load_torch() -> None:
    code = (
        "import sys; from hfedms_sim.models import MODELS, spec_of; spec_of('cnn'); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def small(**changes: Any) -> Scenario:
    raw = {"sensors.count": 10, "strategy.beta": 3, "stop_at": None, "evaluate_every": 2} | changes
    return load_scenario("quickstart", rounds=2, overrides=raw)


def separable() -> Dataset:
    labels = np.arange(400) % 4
    return from_arrays(np.eye(4)[labels].repeat(2, axis=1), labels, partition={"kind": "iid"}, devices=10)


def with_dropout(share: float) -> Callable[[tuple[int, ...], int], nn.Module]:
    def net(input_shape: tuple[int, ...], classes: int) -> nn.Module:
        return nn.Sequential(nn.Linear(*input_shape, 8), nn.Dropout(share), nn.Linear(8, classes))

    return net


def test_a_network_of_a_closure_is_told_from_another_of_the_same_function(tmp_path: Path) -> None:
    run(small(), model=with_dropout(0.0), data=separable(), out=tmp_path / "one")
    again = run(small(), model=with_dropout(0.0), data=separable(), learn_from=[tmp_path / "one"])
    other = run(small(), model=with_dropout(0.9), data=separable(), learn_from=[tmp_path / "one"])
    assert (again.provenance["rounds_trained"], other.provenance["rounds_trained"]) == (0, 2)


def test_the_scenario_of_a_run_with_objects_can_be_changed_and_stays_what_it_was() -> None:
    result = run(small(), strategy=FedProx, data=separable(), model=linear, timing_only=True)
    longer = result.scenario.model_copy(update={"model": "mlp"}).replacing(rounds=3)
    assert (longer.strategy.name, longer.data.set, longer.rounds) == ("fedprox", "object", 3)


def test_a_run_is_opened_and_resumed_with_the_objects_it_was_given(tmp_path: Path) -> None:
    played = run(small(), model=linear, data=separable(), out=tmp_path / "one")
    opened = open_run(tmp_path / "one", model=linear, data=separable())
    assert opened.predictions().equals(played.predictions())
    with pytest.raises(InputError, match=r"data.set = 'object' \('arrays'\): was passed as an object"):
        resume_unfinished(tmp_path / "one")
    (tmp_path / "one" / "summary.json").unlink()
    assert resume(tmp_path / "one", model=linear, data=separable()).provenance["rounds_trained"] == 0


def resume_unfinished(path: Path) -> None:
    (path / "summary.json").rename(path / "kept.json")
    try:
        resume(path, model=linear)
    finally:
        (path / "kept.json").rename(path / "summary.json")


def tiny_mlp(input_shape: tuple[int, ...], classes: int) -> nn.Module:
    return linear(input_shape, classes)


@pytest.mark.parametrize(
    ("objects", "said"),
    [
        ({"model": 5}, "model is 5: must be a Model, or a function"),
        ({"model": nn.Linear(2, 2)}, "model is Linear.*: must be a Model, or a function"),
        ({"model": tiny_mlp}, "would be called 'tiny-mlp', as a shipped network is; rename it"),
        ({"data": (1, 2)}, r"data is \(1, 2\): must be a Dataset"),
        ({"strategy": "fedavg"}, "strategy is 'fedavg': must be a strategy's settings or its class"),
    ],
)
def test_what_is_no_part_is_refused_in_one_line(objects: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        run(small(), timing_only=True, **objects)
    assert "\n" not in str(refused.value)


def test_a_name_is_no_scenario() -> None:
    with pytest.raises(InputError, match="scenario is a str: must be a Scenario, as load_scenario makes it"):
        run("quickstart", timing_only=True, model=linear)  # type: ignore[arg-type]


class RaisesInTraining(nn.Module):
    def __init__(self, features: int, classes: int) -> None:
        super().__init__()
        self.head = nn.Linear(features, classes)

    def forward(self, inputs: Tensor) -> Tensor:
        if self.training:
            raise RuntimeError("not today\nnor tomorrow")
        logits: Tensor = self.head(inputs)
        return logits


def raising(input_shape: tuple[int, ...], classes: int) -> nn.Module:
    return RaisesInTraining(*input_shape, classes)


def test_what_a_network_raises_in_training_is_one_line_that_names_it() -> None:
    with pytest.raises(RunError, match=r"test_outside:raising: raised RuntimeError in round 1: not today$"):
        run(small(), model=raising, data=separable())
