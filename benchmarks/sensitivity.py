"""Whether the rivals' defaults are fair: `make sensitivity`. Takes about twenty minutes of processor time.

Each setting that their papers leave open is varied around its default, in the small factory of `paper benchmarks
--scale smoke` on streams. For each: the final accuracy at every value, mean of the seeds, and in how many of them the
best value beats the default. FedProx with mu = 0 and FedMMD with lambda = 0 are FedAvg, to the last bit.
"""

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import NamedTuple

import numpy as np

from hfedms_sim.paper.benchmarks import SCALES
from hfedms_sim.scenario import STRATEGY_SETTINGS, load_scenario
from hfedms_sim.simulation import run

SEEDS = (1, 2, 3)
ROUNDS = 40  # of the 60 that `paper benchmarks` plays
ADAM_RATES = (0.001, 10**-2.5, 0.01, 10**-1.5, 0.1)
SWEEPS: dict[tuple[str, str], tuple[float, ...]] = {
    ("fedprox", "mu"): (0, 0.001, 0.01, 0.1, 1),
    ("fedmmd", "lambda"): (0, 0.01, 0.1, 1),
    ("fedadagrad", "server_learning_rate"): (0.01, 10**-1.5, 0.1, 10**-0.5, 1),
    ("fedadam", "server_learning_rate"): ADAM_RATES,
    ("fedyogi", "server_learning_rate"): ADAM_RATES,
}


class Trial(NamedTuple):
    """A strategy with at most one setting off its default."""

    strategy: str
    setting: str | None
    value: float | None


def trial(strategy: str, setting: str, value: float) -> Trial:
    if not value:
        return Trial("fedavg", None, None)
    is_default = value == default(strategy, setting)
    return Trial(strategy, None, None) if is_default else Trial(strategy, setting, value)


def default(strategy: str, setting: str) -> float:
    return float(STRATEGY_SETTINGS[strategy].model_fields[setting].default)


def final_accuracy(each: Trial, seed: int) -> float:
    overrides = [*SCALES["smoke"].overrides, f"evaluate_every={ROUNDS}"]
    if each.setting is not None:
        overrides.append(f"strategy.{each.setting}={each.value}")
    scenario = load_scenario("paper-stream", strategy=each.strategy, seed=seed, rounds=ROUNDS, overrides=overrides)
    accuracy = run(scenario).summary["final_accuracy"]
    return 0.0 if accuracy is None else float(accuracy)  # None: it diverged


def rows(measured: dict[Trial, list[float]]) -> Iterator[str]:
    """Of the table in docs/learning.md, the default in bold."""
    for (strategy, setting), values in SWEEPS.items():
        accuracies = np.array([measured[trial(strategy, setting, value)] for value in values])
        means = accuracies.mean(axis=1)
        usual, best = values.index(default(strategy, setting)), int(means.argmax())
        cells = [f"{value:.2g}: {mean:.3f}" for value, mean in zip(values, means, strict=True)]
        cells[usual] = f"**{cells[usual]}**"
        ahead = accuracies[best] - accuracies[usual]
        lead = "the best" if best == usual else f"{ahead.mean():.3f} behind, in {(ahead > 0).sum()} of {len(SEEDS)}"
        yield f"| `{strategy}` | `{setting}` | {', '.join(cells)} | {lead} |"


def main(jobs: int) -> None:
    trials = list(dict.fromkeys(trial(*key, value) for key, values in SWEEPS.items() for value in values))
    measured: dict[Trial, list[float]] = {}
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        running = {each: [pool.submit(final_accuracy, each, seed) for seed in SEEDS] for each in trials}
        for each, futures in running.items():
            measured[each] = [future.result() for future in futures]
            setting = "" if each.setting is None else f" {each.setting} {each.value:.3g}"
            print(f"    {each.strategy}{setting}: {', '.join(f'{a:.4f}' for a in measured[each])}", flush=True)
    print(*rows(measured), sep="\n")


if __name__ == "__main__":
    main(jobs=int(sys.argv[1]) if len(sys.argv) > 1 else 2)
