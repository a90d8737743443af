"""The fast engine learns what the plain one learns: exactly in double precision, to rounding in single."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hfedms_sim.learning.engine import ENGINES, Chain, GenericEngine, LowRankEngine, Sgd, dense, lowrank
from hfedms_sim.learning.engine.layer_names import LayerNames
from hfedms_sim.learning.networks import Weights, is_classifier
from hfedms_sim.models import spec_of
from hfedms_sim.scenario.models import Layer, LayerStack, ModelSpec
from hfedms_sim.system import native_library
from tests.learning.engine.rounds_at_random import (
    CLASSES,
    chains_of,
    convolution,
    descents,
    local_set,
    network_of,
    sizes_of_chains,
    specs,
)

DOUBLE, SINGLE = torch.float64, torch.float32
SIDE = 6
SPEC = ModelSpec.of_stack(
    "two of each",
    LayerStack((convolution(1, 3, 5), convolution(3, 4, 3), Layer(4, 9), Layer(9, 5)), Layer(5, CLASSES)),
)
RAGGED = [[[7]], [[5, 5], [3]], [], [[2]], [[0], [6]], [[11], [1], [4, 2]]]
SHARES = [1.0, 2.0, 3.0, 0.0, 1.5, 2.5]
SGD = Sgd(0.3, 4)
needs_kernels = pytest.mark.skipif(not native_library.available(), reason="no compiled kernels")
fast_engines = pytest.mark.parametrize("engine", ["lowrank", pytest.param("native", marks=needs_kernels)])


def furthest(one: Weights, other: Weights) -> float:
    assert one.keys() == other.keys()
    return max(float((one[name] - other[name]).abs().max()) for name in one)


def both(spec: ModelSpec, chains: Sequence[Chain], shares: Sequence[float], sgd: Sgd, threads: int = 1) -> float:
    """How far apart the two engines' means are."""
    network, start = network_of(spec, DOUBLE)
    fast = LowRankEngine(network, threads).train_models(start, chains, shares, sgd)
    return furthest(fast, GenericEngine(network).train_models(start, chains, shares, sgd))


@settings(max_examples=60)
@given(st.data(), st.integers(2, 7), sizes_of_chains, descents)
def test_any_network_on_any_chains_ends_where_the_plain_engine_does(
    data: st.DataObject, side: int, sizes: list[list[list[int]]], sgd: Sgd
) -> None:
    spec = data.draw(specs(side))
    shares = data.draw(st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=len(sizes), max_size=len(sizes)))
    assert both(spec, chains_of(sizes, side, DOUBLE), shares, sgd) < 1e-11


@pytest.mark.parametrize("pull", [0.0, 0.9])
@pytest.mark.parametrize("largest_history", [0, 1, 10**9])
def test_shared_or_private_a_dense_layer_learns_the_same(
    largest_history: int, pull: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "_LARGEST_HISTORY", largest_history)
    assert both(SPEC, chains_of(RAGGED, SIDE, DOUBLE), SHARES, SGD._replace(proximal=pull)) < 1e-12


@pytest.mark.parametrize("budget_bytes", [1, 20_000, 10**9])
def test_bundles_of_any_size_learn_the_same(budget_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lowrank, "BUNDLE_BYTES", budget_bytes)
    assert both(SPEC, chains_of(RAGGED, SIDE, DOUBLE), SHARES, SGD) < 1e-12


def test_a_bundle_stays_in_its_budget_and_holds_chains_of_like_length() -> None:
    network, start = network_of(SPEC, SINGLE)
    chains = chains_of([[[40]]] * 3 + [[[20]]] * 4 + [[[8]]] * 9, SIDE, SINGLE)
    stack = LayerNames.of(network)
    cost = lowrank.bundle_bytes(stack, start, chains[0], SGD)
    bundles = list(lowrank.bundles_of(stack, start, chains, range(16), SGD, 4 * cost))
    assert [list(each) for each in bundles[:2]] == [[0, 1, 2, 3], [4, 5, 6]]
    assert [number for each in bundles for number in each] == list(range(16))
    for members in bundles:
        own = lowrank.bundle_bytes(stack, start, chains[members[0]], SGD)
        assert len(members) * own <= 4 * cost


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_share_the_chains_and_repeat_themselves_bit_for_bit(threads: int) -> None:
    chains = chains_of(RAGGED, SIDE, DOUBLE)
    assert both(SPEC, chains, SHARES, SGD, threads) < 1e-12
    network, start = network_of(SPEC, SINGLE)
    chains = chains_of(RAGGED, SIDE, SINGLE)
    first, second = (LowRankEngine(network, threads).train_models(start, chains, SHARES, SGD) for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_chains_without_samples_or_shares_change_nothing() -> None:
    network, start = network_of(SPEC, SINGLE)
    engine = LowRankEngine(network)
    idle, busy = chains_of([[], [[0]], [[5]]], SIDE, SINGLE)[:2], chains_of([[[5]]], SIDE, SINGLE)
    assert furthest(engine.train_models(start, [*idle], [1.0, 2.0], SGD), start) == 0
    assert furthest(engine.train_models(start, busy, [0.0], SGD), start) == 0
    assert furthest(engine.train_models(start, [], [], SGD), start) == 0


def test_what_it_was_given_is_left_as_it_was() -> None:
    network, start = network_of(SPEC, SINGLE)
    chains = chains_of(RAGGED, SIDE, SINGLE)
    before = {name: value.clone() for name, value in start.items()}
    images = [local.inputs.clone() for chain in chains for local in chain]
    LowRankEngine(network).train_models(start, chains, SHARES, SGD)
    assert furthest(start, before) == 0
    assert all(
        torch.equal(was, local.inputs)
        for was, local in zip(images, (local for chain in chains for local in chain), strict=True)
    )


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kept_bytes", [0, 10**9])
@pytest.mark.parametrize("largest_history", [0, 10**9])
@pytest.mark.parametrize("pull", [0.0, 0.9])
def test_each_end_and_its_distance_from_the_mean_are_the_plain_engines(
    threads: int, kept_bytes: int, largest_history: int, pull: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lowrank, "KEPT_BYTES", kept_bytes)
    monkeypatch.setattr(dense, "_LARGEST_HISTORY", largest_history)
    network, start = network_of(SPEC, DOUBLE)
    chains, sgd = chains_of(RAGGED, SIDE, DOUBLE), SGD._replace(proximal=pull)
    found: list[Any] = []
    for engine in (LowRankEngine(network, threads), GenericEngine(network)):
        ends, distances = engine.train_chains(start, chains, sgd), [0.0] * len(chains)

        def share_of(number: int, distance: float, distances: list[float] = distances) -> float:
            distances[number] = distance
            return 1 / (distance + 1e-8)

        mean = ends.mean_by_distance(share_of)
        models = {number: {name: each.clone() for name, each in model.items()} for number, model in ends.models()}
        found.append((models, mean, distances))
    (models, mean, distances), (plain_models, plain_mean, plain_distances) = found
    assert models.keys() == plain_models.keys()
    assert max(furthest(models[number], plain_models[number]) for number in models) < 1e-12
    assert distances == pytest.approx(plain_distances, rel=1e-9)
    assert min(distances) > 0.01
    assert furthest(mean, plain_mean) < 1e-12


def test_no_chains_have_no_mean_by_distance() -> None:
    network, start = network_of(SPEC, SINGLE)
    assert LowRankEngine(network).train_chains(start, [], SGD).mean_by_distance(lambda number, distance: 1.0) is None


def test_classifiers_learn_from_vectors_as_with_the_plain_engine() -> None:
    network, whole = network_of(SPEC, DOUBLE)
    start = {name: value for name, value in whole.items() if is_classifier(name)}
    random = torch.Generator().manual_seed(3)
    sets = chains_of([[[9]], [[4], [6, 6]], []], SIDE, DOUBLE)
    chains = [
        [each._replace(inputs=torch.rand((len(each.labels), 5), generator=random, dtype=DOUBLE)) for each in chain]
        for chain in sets
    ]
    fast, plain = (
        engine.train_classifiers(start, chains, [1.0, 2.0, 1.0], SGD)
        for engine in (LowRankEngine(network), GenericEngine(network))
    )
    assert furthest(fast, plain) < 1e-12
    assert furthest(fast, start) > 0.01


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("images", [0, 1, 2, 130])
def test_extraction_is_the_networks_whatever_the_threads(images: int, threads: int) -> None:
    network, weights = network_of(SPEC, SINGLE)
    batch = local_set([images], SIDE, SINGLE, torch.Generator().manual_seed(1)).inputs
    vectors = LowRankEngine(network, threads).extract(weights, batch)
    with torch.no_grad():
        assert torch.allclose(vectors, network.extractor(batch), atol=1e-6)
        logits = LowRankEngine(network, threads).logits(weights, batch)
        assert torch.allclose(logits, network(batch), atol=1e-6)


def test_a_diverging_round_gives_numbers_that_are_not_finite() -> None:
    network, start = network_of(SPEC, SINGLE)
    end = LowRankEngine(network).train_models(
        start, chains_of([[[40]]], SIDE, SINGLE), [1.0], SGD._replace(learning_rate=1e30)
    )
    assert not all(bool(torch.isfinite(value).all()) for value in end.values())


@fast_engines
def test_another_optimiser_is_refused(engine: str) -> None:
    network, start = network_of(SPEC, SINGLE)
    fast, adam = ENGINES[engine](network, 1), SGD._replace(optimiser="adam")
    chains = chains_of([[[5]]], SIDE, SINGLE)
    for train in (
        lambda: fast.train_models(start, chains, [1.0], adam),
        lambda: fast.train_chains(start, chains, adam),
        lambda: fast.train_classifiers(start, chains, [1.0], adam),
    ):
        with pytest.raises(ValueError, match="knows plain SGD only, not adam"):
            train()


def single_errors(
    engine: str, chains: list[Chain], sgd: Sgd, spec: ModelSpec, seed: int
) -> dict[str, tuple[float, float]]:
    """By parameter: how far the fast engine's and the plain engine's update in single precision are from double's."""
    network, start = network_of(spec, SINGLE, seed)
    precise, _ = network_of(spec, DOUBLE, seed)
    wide = [[local._replace(inputs=local.inputs.double()) for local in chain] for chain in chains]
    shares = [1.0] * len(chains)
    fast = ENGINES[engine](network, 1).train_models(start, chains, shares, sgd)
    plain = GenericEngine(network).train_models(start, chains, shares, sgd)
    true = GenericEngine(precise).train_models(
        {name: value.double() for name, value in start.items()}, wide, shares, sgd
    )
    return {
        name: (float((fast[name] - value).norm()), float((plain[name] - value).norm())) for name, value in true.items()
    }


@fast_engines
def test_one_step_in_single_precision_errs_at_most_three_times_as_much_as_the_plain_loop(engine: str) -> None:
    """The median over ten seeds, so that no lucky plain step decides."""
    assert worst_ratio(engine, spec_of("small-cnn"), [[[5]]] * 3, seeds=10) <= 3


@pytest.mark.thorough
@fast_engines
def test_a_round_in_single_precision_errs_at_most_three_times_as_much_as_the_plain_loop(engine: str) -> None:
    assert worst_ratio(engine, spec_of("small-cnn"), [[[25], [25]]] * 3, seeds=10) <= 3


@fast_engines
def test_semantic_vectors_err_at_most_three_times_as_much_as_the_plain_loops(engine: str) -> None:
    plain, weights = network_of(spec_of("cnn"), SINGLE)
    exact, _ = network_of(spec_of("cnn"), torch.float64)
    exact.load({name: value.double() for name, value in weights.items()})
    images = local_set([300], 28, SINGLE, torch.Generator().manual_seed(1)).inputs
    with torch.no_grad():
        oracle = exact.extractor(images.double())
        errors = [
            (found - oracle).norm()
            for found in (ENGINES[engine](plain).extract(weights, images), plain.extractor(images))
        ]
    assert errors[0] <= 3 * errors[1]


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [[[[5]]] * 3, [[[50], [50]]] * 2], ids=["step", "round"])
@fast_engines
def test_the_papers_network_errs_at_most_three_times_as_much_as_the_plain_loop(sizes: Any, engine: str) -> None:
    assert worst_ratio(engine, spec_of("cnn"), sizes, seeds=10) <= 3


def worst_ratio(engine: str, spec: ModelSpec, sizes: Any, seeds: int) -> float:
    """Over the parameters, of the medians."""
    errors = [
        single_errors(engine, chains_of(sizes, 28, SINGLE, seed), Sgd(0.01, 5), spec, seed) for seed in range(seeds)
    ]
    ratios = [torch.tensor([each[name] for each in errors]).median(dim=0).values.tolist() for name in errors[0]]
    return max(fast / plain for fast, plain in ratios)
