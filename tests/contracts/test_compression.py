"""Every strategy with every codec it accepts: bytes are those of real tensors, and it trains, repeats and goes on."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hfedms_sim.closed_form import exact_traffic
from hfedms_sim.errors import InputError
from hfedms_sim.learning.fusion import fusion_weights
from hfedms_sim.learning.networks import Weights, initial_weights, is_classifier, network_of
from hfedms_sim.models import MODELS
from hfedms_sim.scenario import Compression, Scenario
from hfedms_sim.seeds import Draws
from hfedms_sim.simulation import parts_of, run
from hfedms_sim.strategies import SHIPPED
from tests.conftest import tiny_scenario
from tests.contracts.test_networks import SHAPES, VARIANTS, problem
from tests.contracts.test_networks import scenario_of as module_scenario
from tests.contracts.test_strategies import CASES
from tests.contracts.toy import DEVICES, write_toy

RELAYING = ("static-groups", "static-icg", "hfedms-s", "hfedms-d", "hfedms-async", "hfedms-plus")
ALONE: list[dict[str, Any]] = [
    {"uplink": "float16"},
    {"uplink": "int8", "downlink": "int8"},
    {"uplink": "topk", "share": 0.05},
    {"uplink": "topk", "downlink": "float16"},
    {"downlink": "int8"},
]
CHAINED: list[dict[str, Any]] = [
    {"uplink": "float16", "downlink": "float16"},
    {"relay": "float16"},
    {"uplink": "int8", "downlink": "int8", "relay": "int8"},
    {"relay": "int8", "uplink": "float16"},
    {"downlink": "int8"},
]


def accepted() -> Iterator[tuple[str, dict[str, Any]]]:
    for case in (each for each in CASES if each not in VARIANTS):
        for codecs in CHAINED if case.split()[0] in RELAYING else ALONE:
            if "distilling" not in case or "relay" not in codecs:
                yield case, codecs


every_pair = pytest.mark.parametrize(("case", "codecs"), list(accepted()), ids=str)
few_pairs = pytest.mark.parametrize(  # all of them in `make thorough`
    ("case", "codecs"),
    [
        pytest.param(case, codecs, marks=[] if case in ("fedavg", "hfedms-d") else pytest.mark.thorough)
        for case, codecs in accepted()
    ],
    ids=str,
)
Make = Callable[..., Scenario]


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Make:
    path = write_toy(tmp_path_factory.mktemp("toy") / "toy.npz")

    def made(case: str, codecs: dict[str, Any], **changes: Any) -> Scenario:
        name = case.split()[0]
        settings = {
            "rounds": 4 if name == "hfedms-d" else 2,
            "model": "small-cnn" if name == "fedfusion" else "tiny-mlp",
            "sensors": {"count": DEVICES},
            "data": {"set": "npz", "path": str(path)},
            "stream": {"batch": 10, "augment": False},
            "strategy": {"name": name} | CASES[case] | {"compression": codecs},
        }
        return tiny_scenario(**(settings | changes))

    return made


def counted_bytes(codec: str, weights: Weights, untrained: frozenset[str], share: float) -> int:
    """Look at every tensor, as it would be packed."""
    trained = {name: value for name, value in weights.items() if name not in untrained}
    others = sum(4 * value.numel() for name, value in weights.items() if name in untrained)
    numbers = sum(value.numel() for value in trained.values())
    if codec == "float16":
        return others + sum(value.half().nbytes for value in trained.values())
    if codec == "int8":
        packed = (
            value.numel() + 4 * value.shape[0] if value.dim() >= 2 else value.nbytes for value in trained.values()
        )
        return others + sum(packed)
    if codec == "topk":
        pairs = max(1, int(np.ceil(np.round(share * numbers, 6))))
        return others + min(8 * pairs, 4 * numbers)
    return others + 4 * numbers


@pytest.mark.parametrize("name", MODELS.shipped)
@pytest.mark.parametrize("codec", ["none", "float16", "int8", "topk"])
def test_bytes_of_every_network_are_those_of_its_tensors(name: str, codec: Any) -> None:
    spec = MODELS[name]().spec(MODELS[name].example)
    weights, untrained = initial_weights(spec, Draws(1)), network_of(spec).buffer_names()
    classifier = {each: value for each, value in weights.items() if is_classifier(each, spec.classifier_name)}
    for share in (0.01, 0.3, 1.0):
        compression = Compression(uplink=codec, share=share)
        assert compression.leg_bytes(spec.contents).uplink == counted_bytes(codec, weights, untrained, share)
        expected = counted_bytes(codec, classifier, untrained, share)
        assert compression.leg_bytes(spec.classifier_contents).uplink == expected


@every_pair
def test_every_transfer_has_the_bytes_of_its_leg(scenario: Make, case: str, codecs: dict[str, Any]) -> None:
    spec = parts_of(scenario(case, codecs)).model
    weights = initial_weights(spec, Draws(1))
    classifier = {name: value for name, value in weights.items() if name.startswith("classifier")}
    if case.startswith("fedfusion"):
        weights |= fusion_weights(spec, CASES[case].get("operator", "conv"), Draws(1))
    accuracy = 4 if case == "ida intrac" else 0
    transfers = run(scenario(case, codecs), timing_only=True).transfers
    seen = set()
    for row in transfers[transfers["payload"] != "report"].itertuples():
        leg = "downlink" if row.source < 0 else "uplink" if row.target < 0 else "relay"
        sent = classifier if row.payload == "classifier" else weights
        expected = counted_bytes(codecs.get(leg, "none"), sent, frozenset(), codecs.get("share", 0.01))
        assert row.bytes == expected + (accuracy if leg == "uplink" else 0)
        seen.add((leg, row.payload))
    assert {leg for leg, _ in seen} == {"downlink", "uplink"} | ({"relay"} if case.split()[0] in RELAYING else set())
    assert (("downlink", "scatter") in seen) == case.startswith(("hfedms-d", "hfedms-plus"))


@few_pairs
def test_it_trains_alike_twice_and_otherwise_than_without(scenario: Make, case: str, codecs: dict[str, Any]) -> None:
    first, second = (run(scenario(case, codecs)) for _ in range(2))
    plain = run(scenario(case, {}))
    one, other, whole = (each.weights() for each in (first, second, plain))
    assert all(np.array_equal(one[name], other[name]) for name in one)
    assert all(np.isfinite(value).all() for value in one.values())
    assert not all(np.array_equal(one[name], whole[name]) for name in one)
    assert first.rounds["lineage"].tolist() != plain.rounds["lineage"].tolist()
    assert exact_traffic(scenario(case, codecs), parts_of(scenario(case, codecs)).model) is None


@pytest.mark.parametrize(
    ("case", "codecs"),
    [
        ("fedavg", {"uplink": "topk", "share": 0.05, "downlink": "int8"}),
        ("fedavg", {"uplink": "int8", "downlink": "int8"}),
        ("hfedms-d", {"uplink": "int8", "downlink": "int8", "relay": "int8"}),
    ],
    ids=str,
)
def test_it_still_learns_a_problem_that_is_easy(scenario: Make, case: str, codecs: dict[str, Any]) -> None:
    made = scenario(case, codecs, rounds=12, evaluate_every=12)
    assert run(made).summary["final_accuracy"] > 0.9


@pytest.mark.parametrize("name", ["fedavg", "fedadam"])
def test_topk_of_all_is_a_run_without_compression(scenario: Make, name: str) -> None:
    whole, plain = (run(scenario(name, each)) for each in ({"uplink": "topk", "share": 1.0}, {}))
    assert whole.summary["bytes"] == plain.summary["bytes"]
    assert all(np.array_equal(value, plain.weights()[each]) for each, value in whole.weights().items())


@pytest.mark.thorough
@pytest.mark.parametrize("model", SHAPES)
@pytest.mark.parametrize(
    ("case", "codecs"), [("fedavg", ALONE[1]), ("fedavg", ALONE[3]), ("fedadam", ALONE[2]), ("hfedms-d", CHAINED[2])]
)
def test_networks_that_are_no_stacks_train_and_go_on_bit_for_bit(
    model: str, case: str, codecs: dict[str, Any], tmp_path: Path
) -> None:
    """One has BatchNorm, whose running figures are sent as they are."""
    data, strategy = problem(SHAPES[model]), {"name": case, "compression": codecs, "learning_rate": 0.05}
    made = module_scenario(model, case, strategy=strategy | CASES[case])
    first = run(made, data=data, out=tmp_path / "first")
    run(made.model_copy(update={"rounds": 2}), data=data, out=tmp_path / "half")
    resumed = run(made, data=data, out=tmp_path / "resumed", learn_from=[tmp_path / "half"])
    assert resumed.provenance["rounds_trained"] == 2
    assert all(np.array_equal(value, resumed.weights()[name]) for name, value in first.weights().items())
    assert all(np.isfinite(value).all() for value in first.weights().values())


def test_chains_of_a_strategy_that_says_it_has_none_are_refused_in_one_line(
    scenario: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SHIPPED["static-groups"].Settings, "relays", False)
    with pytest.raises(InputError, match=r"StaticGroups: plans chains of several .* relays = False") as refused:
        run(scenario("static-groups", {"uplink": "float16"}), timing_only=True)
    assert "\n" not in str(refused.value)


def test_every_shipped_strategy_is_among_the_pairs() -> None:
    assert {case.split()[0] for case, _ in accepted()} == set(SHIPPED)
