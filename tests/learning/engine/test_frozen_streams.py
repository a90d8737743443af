"""What looks at the model that the round started from, in the fast engines: FedMMD, distillation, FedFusion."""

from collections.abc import Sequence
from typing import Any, get_args

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hfedms_sim.learning.distillation import distilling
from hfedms_sim.learning.engine import (
    CROSS_ENTROPY,
    ENGINES,
    Chain,
    GenericEngine,
    Loss,
    LowRankEngine,
    Sgd,
    dense,
    lowrank,
)
from hfedms_sim.learning.fusion import Operator
from hfedms_sim.learning.networks import Network, Weights
from hfedms_sim.models import spec_of
from hfedms_sim.scenario.models import ModelSpec
from hfedms_sim.strategies.learners.fedmmd import two_streams
from tests.learning.engine.rounds_at_random import (
    chains_of,
    descents,
    fusion_network_of,
    local_set,
    network_of,
    sizes_of_chains,
    specs,
)
from tests.learning.engine.test_lowrank import (
    DOUBLE,
    RAGGED,
    SGD,
    SHARES,
    SIDE,
    SINGLE,
    SPEC,
    fast_engines,
    furthest,
)

CASES: dict[str, tuple[Loss, Operator | None]] = {
    "fedmmd": (two_streams(0.1), None),
    "distillation": (distilling(20.0), None),
    **{f"fusion {operator}": (CROSS_ENTROPY, operator) for operator in get_args(Operator)},
}
every_case = pytest.mark.parametrize("case", CASES)
every_operator = pytest.mark.parametrize("operator", get_args(Operator))


def built(case: str, spec: ModelSpec, dtype: torch.dtype, seed: int = 1) -> tuple[Network, Weights, Loss]:
    loss, operator = CASES[case]
    network, start = (
        network_of(spec, dtype, seed) if operator is None else fusion_network_of(spec, operator, dtype, seed)
    )
    return network, start, loss


def both(
    case: str, spec: ModelSpec, chains: Sequence[Chain], shares: Sequence[float], sgd: Sgd, threads: int = 1
) -> float:
    """How far apart the two engines' means are, to the largest weight if that is above 1: some rounds diverge."""
    network, start, loss = built(case, spec, DOUBLE)
    fast = LowRankEngine(network, threads).train_models(start, chains, shares, sgd, loss)
    plain = GenericEngine(network).train_models(start, chains, shares, sgd, loss)
    return furthest(fast, plain) / max(1.0, *(float(value.abs().max()) for value in plain.values()))


@every_case
@settings(max_examples=40)
@given(data=st.data(), side=st.integers(2, 7), sizes=sizes_of_chains, sgd=descents)
def test_any_network_on_any_chains_ends_where_the_plain_engine_does(
    case: str, data: st.DataObject, side: int, sizes: list[list[list[int]]], sgd: Sgd
) -> None:
    spec = data.draw(specs(side, fewest_convolutions=1 if case.startswith("fusion") else 0))
    shares = data.draw(st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=len(sizes), max_size=len(sizes)))
    # FedMMD's narrowest kernel, of width 1e-6, makes up to a million times more of a rounding error in a logit, at each
    # step anew.
    steps = max((sum(sum(epochs) for epochs in chain) for chain in sizes), default=1)
    near = 1e-10 * max(1, steps) if case == "fedmmd" else 1e-11
    assert both(case, spec, chains_of(sizes, side, DOUBLE), shares, sgd) < near


@every_case
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("budget_bytes", [1, 10**9])
@pytest.mark.parametrize("largest_history", [0, 10**9])
def test_shared_or_private_in_bundles_of_any_size_it_learns_the_same(
    case: str, largest_history: int, budget_bytes: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense, "_LARGEST_HISTORY", largest_history)
    monkeypatch.setattr(lowrank, "BUNDLE_BYTES", budget_bytes)
    assert both(case, SPEC, chains_of(RAGGED, SIDE, DOUBLE), SHARES, SGD, threads) < 1e-11


@every_case
def test_what_is_frozen_matters(case: str) -> None:
    """The same chains with the cross-entropy alone, or with fusion weights that leave the frozen stack out."""
    network, start, loss = built(case, SPEC, DOUBLE)
    chains = chains_of(RAGGED, SIDE, DOUBLE)
    engine = LowRankEngine(network)
    learnt = engine.train_models(start, chains, SHARES, SGD, loss)
    if loss is CROSS_ENTROPY:
        changed = start | {name: torch.zeros_like(start[name]) for name in ("gamma", "fusion.weight") if name in start}
    else:
        changed = start
    other = engine.train_models(changed, chains, SHARES, SGD)
    assert furthest(learnt, other) > 1e-3


@every_case
@pytest.mark.parametrize("kept_bytes", [0, 10**9])
def test_each_end_and_its_distance_are_the_plain_engines(
    case: str, kept_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lowrank, "KEPT_BYTES", kept_bytes)
    network, start, loss = built(case, SPEC, DOUBLE)
    chains = chains_of(RAGGED, SIDE, DOUBLE)
    found: list[Any] = []
    for engine in (LowRankEngine(network), GenericEngine(network)):
        ends = engine.train_chains(start, chains, SGD, loss)
        mean = ends.mean_by_distance(lambda number, distance: 1 / (distance + 1e-8))
        models = {number: {name: each.clone() for name, each in model.items()} for number, model in ends.models()}
        found.append((models, mean))
    (models, mean), (plain_models, plain_mean) = found
    assert models.keys() == plain_models.keys()
    assert max(furthest(models[number], plain_models[number]) for number in models) < 1e-11
    assert furthest(mean, plain_mean) < 1e-11


@every_operator
def test_a_bundle_knows_what_the_frozen_features_take(operator: Operator) -> None:
    """A number for each sample and feature."""
    _, plain = network_of(spec_of("small-cnn"), SINGLE)
    network, start = fusion_network_of(spec_of("small-cnn"), operator, SINGLE)
    (chain,) = chains_of([[[40]]], 28, SINGLE)
    fused = lowrank.bundle_bytes(lowrank.LayerNames.of(network), start, chain, SGD)
    unfused = lowrank.bundle_bytes(lowrank.LayerNames.of(network)._replace(fusion=()), plain, chain, SGD)
    assert fused - unfused >= 4 * 40 * 16 * 7 * 7


@fast_engines
@every_operator
@pytest.mark.parametrize("images", [0, 1, 130, 600])
def test_in_evaluation_both_stacks_of_the_fused_network_are_the_given_one(
    engine: str, operator: Operator, images: int
) -> None:
    network, weights = fusion_network_of(SPEC, operator, SINGLE)
    batch = local_set([images], SIDE, SINGLE, torch.Generator().manual_seed(1)).inputs
    moved = {name: 1.1 * value for name, value in weights.items()}
    logits = ENGINES[engine](network, 1).logits(moved, batch)
    network.load(moved)
    with torch.no_grad():
        assert torch.allclose(logits, network(batch), atol=1e-5)
    assert logits.shape == (images, 4)


@fast_engines
@every_case
@pytest.mark.parametrize("threads", [1, 2])
def test_in_single_precision_ragged_chains_end_where_the_plain_engines_do_and_do_so_twice(
    engine: str, case: str, threads: int
) -> None:
    network, start, loss = built(case, SPEC, SINGLE)
    chains, sgd = chains_of(RAGGED, SIDE, SINGLE), Sgd(0.1, 4)
    fast, again = (ENGINES[engine](network, threads).train_models(start, chains, SHARES, sgd, loss) for _ in range(2))
    plain = GenericEngine(network).train_models(start, chains, SHARES, sgd, loss)
    assert furthest(fast, plain) < 5e-6
    assert furthest(fast, again) == 0
    assert furthest(plain, start) > 0.01


@pytest.mark.thorough
@fast_engines
@every_case
@pytest.mark.parametrize("sizes", [[[[5]]] * 3, [[[15], [10]]] * 2], ids=["step", "round"])
def test_single_precision_errs_at_most_three_times_as_much_as_the_plain_loop(
    engine: str, case: str, sizes: Any
) -> None:
    """The median over ten seeds, so that no lucky plain step decides."""
    assert errs_little(engine, case, spec_of("small-cnn"), sizes)


@pytest.mark.slow
@fast_engines
@every_case
def test_the_papers_network_errs_at_most_three_times_as_much_as_the_plain_loop(engine: str, case: str) -> None:
    assert errs_little(engine, case, spec_of("cnn"), [[[50]]] * 2)


def errs_little(engine: str, case: str, spec: ModelSpec, sizes: Any, seeds: int = 10) -> bool:
    """By the medians, in every parameter. In one step gamma does not move at all: both stacks are still equal."""
    errors = [single_errors(engine, case, chains_of(sizes, 28, SINGLE, seed), spec, seed) for seed in range(seeds)]
    medians = [torch.tensor([each[name] for each in errors]).median(dim=0).values.tolist() for name in errors[0]]
    return all(fast <= 3 * plain for fast, plain in medians)


def single_errors(
    engine: str, case: str, chains: list[Chain], spec: ModelSpec, seed: int
) -> dict[str, tuple[float, float]]:
    """By parameter: how far the fast engine's and the plain engine's update in single precision are from double's."""
    network, start, loss = built(case, spec, SINGLE, seed)
    precise, *_ = built(case, spec, DOUBLE, seed)
    wide = [[local._replace(inputs=local.inputs.double()) for local in chain] for chain in chains]
    shares, sgd = [1.0] * len(chains), Sgd(0.01, 5)
    fast = ENGINES[engine](network, 1).train_models(start, chains, shares, sgd, loss)
    plain = GenericEngine(network).train_models(start, chains, shares, sgd, loss)
    true = GenericEngine(precise).train_models(
        {name: value.double() for name, value in start.items()}, wide, shares, sgd, loss
    )
    return {
        name: (float((fast[name] - value).norm()), float((plain[name] - value).norm())) for name, value in true.items()
    }


def test_the_fusions_convolution_is_no_part_of_the_stack_of_convolutions() -> None:
    network, _ = fusion_network_of(SPEC, "conv", SINGLE)
    plain, _ = network_of(SPEC, SINGLE)
    assert lowrank.LayerNames.of(network).convolutions == lowrank.LayerNames.of(plain).convolutions
    assert lowrank.LayerNames.of(network).fusion == ("fusion.weight", "fusion.bias")
    assert lowrank.LayerNames.of(plain).fusion == ()
