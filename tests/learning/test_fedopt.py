"""FedAdagrad, FedAdam and FedYogi: two rounds by hand, in plain numbers."""

from math import sqrt

import pytest
import torch

from hfedms_sim.learning.learner import ChainLearner
from hfedms_sim.learning.networks import Weights
from hfedms_sim.rounds import RoundRecord
from hfedms_sim.strategies.fedavg import FedAvgSettings
from hfedms_sim.strategies.fedopt import FedAdagradSettings, FedAdamSettings, FedYogiSettings, ServerOptimiserSettings
from hfedms_sim.strategies.learners.fedopt import AdaptiveServerLearner, Rule, ServerOptimiser
from tests.learning.tiny_factory import START, parts, record

RATE, TAU, BETA1, BETA2 = 0.1, 0.01, 0.9, 0.99
W, MEAN_1, MEAN_2 = [1.0, -2.0, 0.5], [1.5, -2.001, 0.5], [0.9, -1.0, 0.6]
"""The second parameter moves by less than tau in the first round, the third not at all: there Yogi's sign turns."""
SGD = {"learning_rate": 0.1, "batch_size": 4}
SETTINGS = {"adagrad": FedAdagradSettings, "adam": FedAdamSettings, "yogi": FedYogiSettings}
every_rule = pytest.mark.parametrize("rule", SETTINGS)


def weights(values: list[float]) -> Weights:
    return {"a": torch.tensor(values[:1], dtype=torch.float64), "b": torch.tensor(values[1:], dtype=torch.float64)}


def flat(of: Weights) -> list[float]:
    return torch.cat([of["a"], of["b"]]).tolist()


def optimiser(rule: Rule) -> ServerOptimiser:
    return ServerOptimiser(rule, RATE, TAU) if rule == "adagrad" else ServerOptimiser(rule, RATE, TAU, BETA1, BETA2)


def sign(value: float) -> int:
    return (value > 0) - (value < 0)


def by_hand(rule: Rule, w: float, m: float, v: float, mean: float) -> tuple[float, float, float]:
    """One number through one round: the new w, m, v."""
    delta = mean - w
    if rule == "adagrad":
        m, v = delta, v + delta**2
    else:
        m = 0.9 * m + 0.1 * delta
        v = 0.99 * v + 0.01 * delta**2 if rule == "adam" else v - 0.01 * delta**2 * sign(v - delta**2)
    return w + 0.1 * m / (sqrt(v) + 0.01), m, v


@every_rule
def test_moments_and_weights_of_two_rounds_are_those_of_the_formulas(rule: Rule) -> None:
    server = optimiser(rule)
    hand = [(w, 0.0, 0.01**2) for w in W]
    now = weights(W)
    for mean in (MEAN_1, MEAN_2):
        now = server.step(now, weights(mean))
        hand = [by_hand(rule, *each, to) for each, to in zip(hand, mean, strict=True)]
        w, m, v = zip(*hand, strict=True)
        assert flat(now) == pytest.approx(w, abs=1e-7, rel=1e-7)
        assert flat(server.first) == pytest.approx(m, abs=1e-7, rel=1e-7)
        assert flat(server.second) == pytest.approx(v, abs=1e-12, rel=1e-7)


def test_numbers_of_the_first_round_worked_out() -> None:
    """Delta = 0.5. Adagrad: 0.1 x 0.5 / (sqrt(0.2501) + 0.01). Adam, Yogi: m = 0.05, v = 0.002599 and 0.0026."""
    first = {rule: flat(optimiser(rule).step(weights(W), weights(MEAN_1)))[0] for rule in ("adagrad", "adam", "yogi")}
    assert first["adagrad"] == pytest.approx(1.0980200, abs=1e-7)
    assert first["adam"] == pytest.approx(1 + 0.005 / (sqrt(0.002599) + 0.01), abs=1e-12)
    assert first["yogi"] == pytest.approx(1 + 0.005 / (sqrt(0.0026) + 0.01), abs=1e-12)


def test_yogi_forgets_a_large_change_more_slowly_than_adam() -> None:
    """After one of 1, a hundred of 0: Adam's second moment has decayed by 0.99^100, Yogi's stands."""
    left = {}
    for rule in ("adam", "yogi"):
        server = optimiser(rule)  # type: ignore[arg-type]
        now = server.step({"a": torch.zeros(1, dtype=torch.float64)}, {"a": torch.ones(1, dtype=torch.float64)})
        start = float(server.second["a"])
        for _ in range(100):
            now = server.step(now, now)
        left[rule] = float(server.second["a"]) / start
    assert left == pytest.approx({"adam": 0.99**100, "yogi": 1.0})


def learner(rule: Rule, **changes: float | str) -> AdaptiveServerLearner:
    return AdaptiveServerLearner(SETTINGS[rule](**(SGD | changes)), parts())


@pytest.mark.parametrize(
    ("rule", "rate", "tau", "betas"),
    [("adagrad", 0.1, 0.01, None), ("adam", 10**-2.5, 1e-4, (0.9, 0.99)), ("yogi", 10**-2.5, 1e-4, (0.9, 0.99))],
)
def test_defaults_are_the_authors_best_for_characters(
    rule: Rule, rate: float, tau: float, betas: tuple[float, float] | None
) -> None:
    server = learner(rule).optimiser
    assert (server.rule, server.rate, server.tau) == (rule, pytest.approx(rate), tau)
    if betas is not None:
        assert (server.beta1, server.beta2) == betas


@every_rule
def test_settings_reach_the_optimiser(rule: Rule) -> None:
    changes = {"server_learning_rate": 0.7, "tau": 0.3} | ({} if rule == "adagrad" else {"beta1": 0.2, "beta2": 0.4})
    server = learner(rule, **changes).optimiser
    expected = (0.7, 0.3) if rule == "adagrad" else (0.7, 0.3, 0.2, 0.4)
    assert (server.rate, server.tau, server.beta1, server.beta2)[: len(expected)] == expected


@every_rule
def test_the_pseudo_gradient_is_the_change_to_fedavgs_mean(rule: Rule, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no plain server SGD to run; but its step of rate 1, w + 1.0 Delta, would give FedAvg's mean here."""
    seen: list[tuple[Weights, Weights]] = []

    def noted(self: ServerOptimiser, before: Weights, mean: Weights) -> Weights:
        seen.append((before, mean))
        return {name: before[name] + 1.0 * (mean[name] - before[name]) for name in before}

    monkeypatch.setattr(ServerOptimiser, "step", noted)
    adaptive, plain = learner(rule), ChainLearner(FedAvgSettings(**SGD), parts())
    for number, size in ((1, 9), (2, 5)):
        for each in (adaptive, plain):
            each.learn(record(number, [[0], [1], [2]], size))
        before, mean = seen[-1]
        for name, value in plain.weights.items():
            assert torch.allclose(adaptive.weights[name], value, atol=1e-6)
            assert torch.allclose(before[name] + 1.0 * (mean[name] - before[name]), value, atol=1e-6)
    assert len(seen) == 2
    assert all(torch.equal(seen[0][0][name], START[name]) for name in START)


@every_rule
def test_a_learner_steps_from_its_own_model_with_its_own_moments(rule: Rule) -> None:
    adaptive, plain = learner(rule), ChainLearner(FedAvgSettings(**SGD), parts())
    server, now = learner(rule).optimiser, START
    for number in (1, 2):
        plain.weights = now
        for each in (adaptive, plain):
            each.learn(record(number, [[0], [1]], 9))
        now = server.step(now, plain.weights)
        assert all(torch.equal(adaptive.weights[name], now[name]) for name in START)
    assert not torch.equal(now["classifier.weight"], plain.weights["classifier.weight"])


def moments(of: AdaptiveServerLearner) -> Weights:
    server = of.optimiser
    kept = {f"m {name}": value for name, value in server.first.items()}
    return {name: value.clone() for name, value in (kept | {f"v {n}": x for n, x in server.second.items()}).items()}


NOBODY = RoundRecord(2, 2, "full", (), (), 0.0, 1.0)
LOST = RoundRecord(2, 2, "full", record(2, [[0]], 3).chains, (False,), 0.0, 1.0)
NO_SAMPLES = record(2, [[0], [1]], 0, samples=())


@every_rule
@pytest.mark.parametrize("weighing", ["samples", "uniform"])
@pytest.mark.parametrize("empty", [NOBODY, LOST, NO_SAMPLES], ids=["nobody", "lost", "no samples"])
def test_an_empty_round_moves_neither_the_model_nor_the_moments(rule: Rule, weighing: str, empty: RoundRecord) -> None:
    one = learner(rule, weights=weighing)
    one.learn(record(1, [[0], [1]], 9))
    before, kept = one.weights, moments(one)
    one.learn(empty)
    assert all(torch.equal(one.weights[name], before[name]) for name in before)
    assert kept
    assert all(torch.equal(value, kept[name]) for name, value in moments(one).items())


def test_every_rule_has_settings_of_its_own() -> None:
    assert all(issubclass(settings, ServerOptimiserSettings) for settings in SETTINGS.values())
    assert not hasattr(FedAdagradSettings(), "beta1")
