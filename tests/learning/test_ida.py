"""IDA's average: weights by hand, its variants, and models that are kept or trained twice."""

from collections.abc import Iterator
from math import sqrt
from typing import Any

import pytest
import torch

from hfedms_sim.learning.engine import generic, lowrank
from hfedms_sim.learning.engine.chain_models import ChainModels, distance
from hfedms_sim.learning.networks import StackNetwork, Weights
from hfedms_sim.rounds import RoundRecord
from hfedms_sim.strategies.ida import IdaSettings
from hfedms_sim.strategies.learners.ida import InverseDistanceLearner, inverse_distance_mean
from tests.learning.tiny_factory import SPEC, START, chain_learner, parts, record

SGD = {"learning_rate": 0.1, "batch_size": 4}


def model(*values: float) -> Weights:
    """Two parameters, so that a distance that forgot one of them would show."""
    return {"a": torch.tensor(values[:1], dtype=torch.float64), "b": torch.tensor(values[1:], dtype=torch.float64)}


def mean_of(*models: Weights, shares: list[float] | None = None, **settings: Any) -> list[float]:
    mean = inverse_distance_mean(ChainModels(lambda: iter(models), **settings), shares or [1.0] * len(models))
    assert mean is not None
    return torch.cat([mean["a"], mean["b"]]).tolist()


def test_the_distance_is_euclidean_over_all_parameters() -> None:
    assert distance(model(0, 0, 1), model(2, 3, 7)) == pytest.approx(7.0)


def test_the_l1_distance_is_the_sum_of_absolute_differences() -> None:
    assert distance(model(0, 0, 1), model(2, -3, 7), "l1") == pytest.approx(11.0)


THREE = (model(0, 0), model(3, 0), model(3, 9))
"""Their mean is (2, 3), at distances sqrt(13), sqrt(10) and sqrt(37)."""
INVERSE = (1 / sqrt(13), 1 / sqrt(10), 1 / sqrt(37))


def expected(*alphas: float) -> Any:
    total = sum(alphas)
    return pytest.approx([3 * (alphas[1] + alphas[2]) / total, 9 * alphas[2] / total], rel=1e-7)


def test_models_count_by_the_inverse_of_their_distance_to_the_mean() -> None:
    assert mean_of(*THREE) == expected(*INVERSE)


def test_by_the_l1_norm_they_count_by_the_inverse_of_another_distance() -> None:
    """|(2, 3)| = 5, |(1, -3)| = 4 and |(1, 6)| = 7."""
    mean = inverse_distance_mean(ChainModels(lambda: iter(THREE)), [1.0, 1.0, 1.0], "l1")
    assert mean is not None
    assert [float(mean["a"]), float(mean["b"])] == expected(1 / 5, 1 / 4, 1 / 7)


def test_shares_multiply_the_inverse_distance_and_leave_the_mean_it_is_measured_from_plain() -> None:
    shares = [9.0, 5.0, 2.0]
    weighted = expected(*(share * inverse for share, inverse in zip(shares, INVERSE, strict=True)))
    assert mean_of(*THREE, shares=shares) == weighted


def test_an_outlier_counts_less_than_in_the_plain_mean() -> None:
    crowd = [model(0.1 * number, 0) for number in range(9)]
    assert mean_of(*crowd, model(100, 0))[0] < 0.2 * (3.6 + 100) / 10


@pytest.mark.parametrize("kept_bytes", [0, 16, 40, 47, 48, 10**6])
def test_kept_in_memory_or_asked_for_twice_gives_the_same_bits(kept_bytes: int) -> None:
    """Three models of 16 bytes each. Like the engine's, they hold only until the next one is asked for."""
    asked = 0

    def models() -> Iterator[Weights]:
        nonlocal asked
        asked += 1
        live = model(0, 0)
        for each in THREE:
            for name, value in each.items():
                live[name].copy_(value)
            yield live

    mean = inverse_distance_mean(ChainModels(models, kept_bytes), [1.0, 1.0, 1.0])
    assert mean is not None
    assert [float(mean["a"]), float(mean["b"])] == mean_of(*THREE)
    assert asked == (1 if kept_bytes >= 48 else 2)


def test_one_model_alone_is_the_mean() -> None:
    assert mean_of(model(3, 4)) == [3.0, 4.0]


def test_equal_models_stay_as_they_are_bit_for_bit() -> None:
    value = torch.rand(100, generator=torch.Generator().manual_seed(1))
    mean = inverse_distance_mean(ChainModels(lambda: iter([{"a": value.clone()} for _ in range(7)])), [1.0] * 7)
    assert mean is not None
    assert torch.equal(mean["a"], value)


def test_a_model_that_is_the_mean_takes_all_but_nothing_of_it() -> None:
    """Its weight is 1 / eps = 1e8 against 1 / 2 of the two others, which cancel out."""
    assert mean_of(model(0, 0), model(1, 1), model(2, 2)) == pytest.approx([1.0, 1.0])
    assert mean_of(model(0, 0), model(1, 1), model(2, 2), shares=[1.0, 1.0, 0.0]) == pytest.approx([1.0, 1.0], abs=1e-7)


def test_no_models_have_no_mean() -> None:
    assert inverse_distance_mean(ChainModels(lambda: iter(())), []) is None


SIZES = {0: 9, 1: 5, 2: 3}


def played() -> RoundRecord:
    """Three sensors with different numbers of samples."""
    whole = record(1, [[sensor] for sensor in SIZES], 1)
    chains = tuple((chain[0]._replace(samples=((0, SIZES[chain[0].sensor]),)),) for chain in whole.chains)
    return RoundRecord(1, 1, "full", chains, whole.arrived, 0.0, 1.0)


def learner(variant: str, rate: float = 0.05, norm: str = "l2") -> InverseDistanceLearner:
    settings = IdaSettings(variant=variant, norm=norm, **SGD | {"learning_rate": rate})  # type: ignore[arg-type]
    return InverseDistanceLearner(settings, parts())


def ends(rate: float) -> list[tuple[Weights, float]]:
    """Where each sensor ends on its own, in FedAvg's words, and its accuracy on what it trained on."""
    found = []
    for chain in played().chains:
        alone = chain_learner(IdaSettings(**SGD | {"learning_rate": rate}))
        alone.learn(RoundRecord(1, 1, "full", (chain,), (True,), 0.0, 1.0))
        network, local = StackNetwork(SPEC), alone.local_set(chain[0], 1)
        network.load(alone.weights)
        right = int((network(local.inputs).argmax(dim=1) == local.labels).sum())
        found.append((alone.weights, right / len(local.labels)))
    return found


@pytest.mark.usefixtures("every_engine")
@pytest.mark.parametrize("rate", [0.02, 0.05])  # one sensor knows nothing of its samples; all know some
@pytest.mark.parametrize("norm", ["l2", "l1"])
@pytest.mark.parametrize("variant", ["plain", "fedavg", "intrac"])
def test_the_variants_are_those_of_the_specification(variant: str, rate: float, norm: str) -> None:
    models = [weights for weights, _ in ends(rate)]
    centre = {name: sum(each[name].double() for each in models) / 3 for name in START}
    apart = [torch.cat([(centre[name] - each[name].double()).flatten() for name in START]).tolist() for each in models]
    distances = [sum(map(abs, each)) if norm == "l1" else sqrt(sum(x * x for x in each)) for each in apart]
    alphas = [1 / (far + 1e-8) for far in distances]
    if variant == "fedavg":
        alphas = [alpha * size for alpha, size in zip(alphas, SIZES.values(), strict=True)]
    if variant == "intrac":
        alphas = [alpha / max(1 / 62, accuracy) for alpha, (_, accuracy) in zip(alphas, ends(rate), strict=True)]
        assert (0.0 in [accuracy for _, accuracy in ends(rate)]) == (rate == 0.02)
    one = learner(variant, rate, norm)
    one.learn(played())
    for name, value in one.weights.items():
        mean = sum(a * each[name].double() for a, each in zip(alphas, models, strict=True)) / sum(alphas)
        assert float((mean - value).abs().max()) < 1e-6  # type: ignore[union-attr]


def test_the_norms_differ() -> None:
    learnt = [learner("plain", norm=norm) for norm in ("l2", "l1")]
    for one in learnt:
        one.learn(played())
    assert not torch.equal(learnt[0].weights["classifier.weight"], learnt[1].weights["classifier.weight"])


def test_the_variants_differ() -> None:
    learnt = []
    for variant in ("plain", "fedavg", "intrac"):
        one = learner(variant)
        one.learn(played())
        learnt.append(one.weights["classifier.weight"])
    assert not torch.allclose(learnt[0], learnt[1], atol=1e-5)
    assert not torch.allclose(learnt[0], learnt[2], atol=1e-5)
    assert not torch.allclose(learnt[1], learnt[2], atol=1e-5)


@pytest.mark.usefixtures("every_engine")
@pytest.mark.parametrize("variant", ["plain", "fedavg", "intrac"])
def test_the_key_weights_is_without_effect_and_says_so(variant: str) -> None:
    learnt = []
    for weights in ("uniform", "samples"):
        settings = IdaSettings(variant=variant, weights=weights, **SGD)  # type: ignore[arg-type]
        one = InverseDistanceLearner(settings, parts())
        one.learn(played())
        learnt.append(one.weights)
    assert all(torch.equal(learnt[0][name], learnt[1][name]) for name in START)
    assert "Without effect" in str(IdaSettings.model_fields["weights"].description)


@pytest.mark.usefixtures("every_engine")
@pytest.mark.parametrize("norm", ["l2", "l1"])
@pytest.mark.parametrize("variant", ["plain", "fedavg", "intrac"])
def test_a_learner_short_of_memory_trains_twice_and_learns_the_same_bits(
    variant: str, norm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    roomy = learner(variant, norm=norm)
    roomy.learn(played())
    monkeypatch.setattr(generic, "ChainModels", lambda train: ChainModels(train, kept_bytes=0))
    monkeypatch.setattr(lowrank, "KEPT_BYTES", 0)
    short = learner(variant, norm=norm)
    short.learn(played())
    assert all(torch.equal(roomy.weights[name], short.weights[name]) for name in START)


@pytest.mark.usefixtures("every_engine")
@pytest.mark.parametrize("variant", ["plain", "fedavg", "intrac"])
def test_an_empty_round_changes_nothing(variant: str) -> None:
    one = learner(variant)
    for nothing in (RoundRecord(1, 1, "full", (), (), 0.0, 1.0), record(1, [[0], [1]], 0, samples=())):
        one.learn(nothing)
        assert all(torch.equal(one.weights[name], START[name]) for name in START)


@pytest.mark.usefixtures("every_engine")
@pytest.mark.parametrize("variant", ["plain", "fedavg", "intrac"])
def test_a_sensor_without_samples_has_no_say(variant: str) -> None:
    """It hands back what it was sent; FedAvg does not count it either."""
    whole = played()
    idle = record(1, [[7]], 0, samples=()).chains
    with_idle, without = learner(variant), learner(variant)
    with_idle.learn(RoundRecord(1, 1, "full", (*whole.chains, *idle), (True,) * 4, 0.0, 1.0))
    without.learn(whole)
    assert all(torch.allclose(with_idle.weights[name], without.weights[name], atol=1e-7) for name in START)
