"""The engine around engines: a naive loop per rule, the three engines against one another, and its limits."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from hfedms_sim.errors import InputError
from hfedms_sim.learning.compression import by_content, by_seed, half, largest, quantised
from hfedms_sim.learning.distillation import distilling
from hfedms_sim.learning.engine import ENGINES, LocalSet, Sgd
from hfedms_sim.learning.engine.compressing import CompressingEngine
from hfedms_sim.learning.networks import StackNetwork, Weights
from hfedms_sim.strategies.fedavg import FedAvgSettings
from hfedms_sim.strategies.hfedms import HFedMSStaticSettings
from hfedms_sim.system import native_library
from tests.learning.tiny_factory import DRAWS, SHUFFLES, SPEC, START, RandomImages

SGD = Sgd(0.1, 3)
IMAGES = RandomImages()
ALONE = [{"uplink": codec} for codec in ("float16", "int8", "topk")]
CHAINED = [{"uplink": "int8"}, {"uplink": "float16"}, {"relay": "int8"}, {"relay": "float16", "uplink": "int8"}]
DOWN: list[dict[str, Any]] = [{"downlink": "none"}, {"downlink": "float16"}, {"downlink": "int8"}]
SHARES = [1.0, 3.0, 2.0]
CLASSIFIER = {name: value for name, value in START.items() if name.startswith("classifier")}


def local_set(sensor: int) -> LocalSet:
    samples = ((0, 4 + sensor),)
    inputs, labels = IMAGES.inputs(sensor, samples), IMAGES.labels(sensor, samples)
    epochs = SHUFFLES.of(sensor, 1, len(labels), 1)
    return LocalSet(torch.from_numpy(inputs), torch.from_numpy(labels), epochs, SHUFFLES.seed(sensor, 1), sensor)


SINGLE = [[local_set(0)], [local_set(1)], [local_set(2)]]
SEVERAL = [[local_set(0), local_set(1)], [local_set(2)], [local_set(3), local_set(4), local_set(5)]]


def alone(name: str = "generic", **compression: Any) -> CompressingEngine:
    settings = FedAvgSettings(compression=compression)  # type: ignore[arg-type]
    return CompressingEngine(ENGINES[name](StackNetwork(SPEC), 1), settings, DRAWS)


def chained(name: str = "generic", **compression: Any) -> CompressingEngine:
    settings = HFedMSStaticSettings(compression=compression)  # type: ignore[arg-type]
    return CompressingEngine(ENGINES[name](StackNetwork(SPEC), 1), settings, DRAWS)


def descended(start: Weights, local: LocalSet) -> Weights:
    """Plain SGD by hand, on the tiny network: one hidden layer."""
    values = {name: value.clone().requires_grad_() for name, value in start.items()}
    for order in local.epochs:
        for chosen in order.split(SGD.batch_size):
            first = functional.linear(local.inputs[chosen].flatten(1), *_layer(values, "extractor.1"))
            logits = functional.linear(first.relu(), *_layer(values, "classifier"))
            gradients = torch.autograd.grad(functional.cross_entropy(logits, local.labels[chosen]), [*values.values()])
            steps = zip(values.items(), gradients, strict=True)
            values = {name: (value - 0.1 * step).detach().requires_grad_() for (name, value), step in steps}
    return {name: value.detach() for name, value in values.items()}


def _layer(values: Weights, name: str) -> tuple[Tensor, Tensor]:
    return values[f"{name}.weight"], values[f"{name}.bias"]


def averaged(models: Sequence[Weights]) -> Weights:
    shares = [share / sum(SHARES) for share in SHARES]
    return {name: sum(s * m[name] for s, m in zip(shares, models, strict=True)) for name in models[0]}  # type: ignore[misc]


def assert_close(one: Weights, other: Weights, tolerance: float = 2e-6) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert (value - other[name]).abs().max() <= tolerance, name


@pytest.mark.parametrize("codec", ["float16", "int8"])
def test_fedavg_with_a_compressed_downlink_is_the_naive_loop(codec: Any) -> None:
    received = quantised(codec, START, by_content(DRAWS))
    mean = averaged([descended(received, chain[0]) for chain in SINGLE])
    expected = {name: START[name] + (mean[name] - received[name]) for name in START}
    assert_close(alone(downlink=codec).train_models(START, SINGLE, SHARES, SGD), expected)


def test_fedavg_with_float16_changes_is_the_naive_loop() -> None:
    ends = [descended(START, chain[0]) for chain in SINGLE]
    taken = [{name: START[name] + half(end[name] - START[name]) for name in START} for end in ends]
    largest_change = max(float((end[name] - START[name]).abs().max()) for end in ends for name in START)
    trained = alone(uplink="float16").train_models(START, SINGLE, SHARES, SGD)
    assert_mostly_close(trained, averaged(taken), step=largest_change * 2**-10)  # where a rounding goes the other way


def test_fedavg_with_int8_both_ways_is_the_naive_loop() -> None:
    """A change is of what was received, and is added to the server's own."""
    received, taken = quantised("int8", START, by_content(DRAWS)), []
    for (local,) in SINGLE:
        change = {name: value - received[name] for name, value in descended(received, local).items()}
        sent = quantised("int8", change, by_seed(DRAWS, "uplink", local.seed))
        taken.append({name: START[name] + sent[name] for name in START})
    trained = alone(uplink="int8", downlink="int8").train_models(START, SINGLE, SHARES, SGD)
    assert_mostly_close(trained, averaged(taken))


def test_fedavg_with_topk_is_the_naive_loop_over_two_rounds() -> None:
    engine, model, residual = alone(uplink="topk", share=0.02), START, dict[int, Weights]()
    count = -(-13_614 // 50)
    for _ in range(2):
        ends = [descended(model, chain[0]) for chain in SINGLE]
        taken = []
        for number, end in enumerate(ends):
            kept = residual.get(number, {name: torch.zeros_like(value) for name, value in START.items()})
            wanted = {name: end[name] - model[name] + kept[name] for name in START}
            sent = largest(wanted, count)
            residual[number] = {name: wanted[name] - sent[name] for name in START}
            taken.append({name: model[name] + sent[name] for name in START})
        trained = engine.train_models(model, SINGLE, SHARES, SGD)
        engine.feedback.end_round()
        assert_mostly_close(trained, averaged(taken))
        model = trained


def test_a_chain_with_every_leg_compressed_is_the_naive_loop() -> None:
    received, taken = quantised("int8", START, by_content(DRAWS)), []
    for chain in SEVERAL:
        model = received
        for place, local in enumerate(chain, start=1):
            model = descended(model, local)
            leg: Any = ("relay", "float16") if place < len(chain) else ("uplink", "int8")
            model = quantised(leg[1], model, by_seed(DRAWS, leg[0], local.seed))
        taken.append({name: START[name] + (model[name] - received[name]) for name in START})
    engine = chained(downlink="int8", relay="float16", uplink="int8")
    assert_mostly_close(engine.train_models(START, SEVERAL, SHARES, SGD), averaged(taken), step=0.01)


@pytest.mark.parametrize("downlink", ["none", "float16", "int8"])
def test_topk_of_all_is_the_same_as_none_to_the_bit(downlink: Any) -> None:
    for share in (1.0, 0.5):
        whole, plain = alone(uplink="topk", share=share, downlink=downlink), alone(downlink=downlink)
        one, other = (each.train_models(START, SINGLE, SHARES, SGD) for each in (whole, plain))
        assert all(torch.equal(one[name], other[name]) for name in START)
        assert whole.feedback.state() == {}


def test_without_any_codec_it_is_the_engine_within_to_the_bit() -> None:
    inner = ENGINES["generic"](StackNetwork(SPEC), 1).train_models(START, SEVERAL, SHARES, SGD)
    around = chained().train_models(START, SEVERAL, SHARES, SGD)
    assert all(torch.equal(inner[name], around[name]) for name in START)
    assert chained().received(START) is START


def assert_mostly_close(one: Weights, other: Weights, step: float = 0.02) -> None:
    """To float rounding, but for the few numbers that a last bit has rounded to another step."""
    apart = torch.cat([(value - other[name]).abs().flatten() for name, value in one.items()])
    assert (apart > 2e-6).float().mean() <= 0.005
    assert apart.max() <= step


@pytest.mark.parametrize("name", ["lowrank", "native"])
@pytest.mark.parametrize("downlink", DOWN, ids=str)
@pytest.mark.parametrize(
    ("make", "sets", "codecs"),
    [(alone, SINGLE, each) for each in ALONE] + [(chained, SEVERAL, each) for each in CHAINED],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_engines_agree(
    name: str, downlink: dict[str, Any], make: Callable[..., CompressingEngine], sets: Any, codecs: dict[str, Any]
) -> None:
    if name == "native" and not native_library.available():
        pytest.skip("no compiled kernels")
    plain, fast = (make(each, **(codecs | downlink)) for each in ("generic", name))
    trained = [each.train_models(START, sets, SHARES, SGD) for each in (plain, fast)]
    assert_mostly_close(*trained)
    vectors = [[local._replace(inputs=plain.extract(START, local.inputs)) for local in chain] for chain in sets]
    classifiers = [each.train_classifiers(CLASSIFIER, vectors, SHARES, SGD) for each in (plain, fast)]
    assert_mostly_close(*classifiers)
    means = [each.train_chains(START, sets, SGD).mean_by_distance(lambda _, d: 1 / d) for each in (plain, fast)]
    assert means[0] is not None
    assert means[1] is not None
    assert_mostly_close(means[0], means[1])


@pytest.mark.parametrize("codecs", [*ALONE, *DOWN[1:]], ids=str)
def test_a_chain_without_samples_has_changed_nothing_and_counts(codecs: dict[str, Any]) -> None:
    engine = alone(**codecs)
    nobody = engine.train_models(START, [[], []], [1.0, 1.0], SGD)
    assert_close(nobody, START, 0.0)
    half_way = engine.train_models(START, [SINGLE[1], []], [1.0, 1.0], SGD)
    engine.feedback.restore({})
    whole = engine.train_models(START, [SINGLE[1]], [1.0], SGD)
    assert_close(half_way, {name: (START[name] + value) / 2 for name, value in whole.items()})


def test_what_no_gradient_changes_is_sent_as_it_is_and_taken_as_it_comes() -> None:
    untrained = frozenset({"classifier.bias"})
    settings = FedAvgSettings(compression={"uplink": "topk", "downlink": "float16"})  # type: ignore[arg-type]
    odd = START | {"classifier.bias": torch.full_like(START["classifier.bias"], 0.1)}
    engine = CompressingEngine(ENGINES["generic"](StackNetwork(SPEC), 1), settings, DRAWS, untrained)
    assert torch.equal(engine.received(odd)["classifier.bias"], odd["classifier.bias"])
    end = dict(engine.train_chains(odd, [SINGLE[0]], SGD).models())[0]
    plain = dict(alone(downlink="float16").train_chains(odd, [SINGLE[0]], SGD).models())[0]
    assert_close({"b": end["classifier.bias"]}, {"b": plain["classifier.bias"]}, 1e-4)
    assert "residual/0/classifier.bias" not in engine.feedback.state()


def test_a_loss_that_refers_to_the_servers_model_is_refused_where_models_are_relayed() -> None:
    refused = "strategy.compression.relay = 'int8': .*; allowed: none"
    with pytest.raises(InputError, match=refused):
        chained(relay="int8").train_models(START, SEVERAL, SHARES, SGD, distilling(0.1))
    with pytest.raises(InputError, match=refused):
        chained(relay="int8").train_models(START, SEVERAL, SHARES, SGD._replace(proximal=0.1))
