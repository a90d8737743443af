"""At which size the paper's experiments are played, and the rule that keeps a smaller factory true to the algorithm.

HFedMS gains from sequential work on the full model: the length L of a chain, summed over the full rounds. A small
factory with the paper's alpha and beta soon has chains of one sensor, which is another algorithm. So alpha and beta of
a scale are chosen by formula, before any result is looked at. With W(r) the sum of L over the full rounds up to r,
divided by r, which is FedAvg's sum,

    (a)  W at a tenth, at a half and at the end of the scale's rounds is within a factor of 1.5 of the paper's W at a
         tenth, at a half and at the end of its 500 rounds (2.52, 1.28, 1.02 for HFedMS-D with T = 5)
    (b)  no cycle of HFedMS-D has fewer than 80 % of kappa K participants

For HFedMS-S, T = 1, only (a) is asked, against its own 6.42, 3.84 and 3.23.

Seconds of a round are what one core of a virtual AMD EPYC (AVX2) took; they serve the estimate of a study's hours.
"""

from dataclasses import dataclass
from math import ceil
from typing import Literal

from hfedms_sim.loading import load_scenario
from hfedms_sim.paper.published import KINDS, DataKind
from hfedms_sim.scenario import Scenario
from hfedms_sim.schedule import Growth, cycle_of, group_count, group_size, selected
from hfedms_sim.strategies.hfedms import ChainSettings

ScaleName = Literal["smoke", "factory", "full"]
FACTOR = 1.5
LEAST_PARTICIPANTS = 0.8
PAPER_ROUNDS = 500


@dataclass(frozen=True)
class Scale:
    name: ScaleName
    rounds: int
    seeds: tuple[int, ...]
    tuned_seeds: dict[DataKind, tuple[int, ...]]
    kinds: tuple[DataKind, ...]
    """Of data, in experiments that have both."""
    sensors: int
    types: int
    model: str
    learning_rate: float
    """Of the sensors, for every strategy with default settings."""
    alpha: float
    beta: int
    evaluate_every: int
    round_s: dict[DataKind, float]
    """Processor seconds of one of FedAvg's rounds."""
    evaluation_s: float
    growth: dict[Growth, tuple[float, ...]]
    """alpha of the heat-maps, by growth function."""
    betas: tuple[int, ...]
    """beta of the heat-maps."""

    @property
    def probe_round(self) -> int:
        """A full round of HFedMS-D near the middle, whose batches the probe of forgetting is made of."""
        return 5 * ceil(self.rounds / 10) + 1

    @property
    def overrides(self) -> tuple[str, ...]:
        return (
            f"sensors={{count: {self.sensors}, types: {self.types}}}",
            f"model={self.model}",
            f"strategy.learning_rate={self.learning_rate}",
        )


_GROWTH: dict[Growth, tuple[float, ...]] = {
    "log": (0.5, 2.0, 4.0),
    "linear": (0.02, 0.072, 0.2),
    "exp": (0.005, 0.01, 0.02),
}

SCALES: dict[ScaleName, Scale] = {
    "smoke": Scale(
        name="smoke",
        rounds=40,
        seeds=(1,),
        tuned_seeds={},
        kinds=KINDS,
        sensors=100,
        types=10,
        model="small-cnn",
        learning_rate=0.05,
        alpha=1.0,
        beta=8,
        evaluate_every=5,
        round_s={"stream": 0.3, "static": 0.8},
        evaluation_s=0.3,
        growth={"log": (0.25, 1.0, 3.0), "linear": (0.05, 0.3), "exp": (0.02, 0.08)},
        betas=(4, 8),
    ),
    "factory": Scale(
        name="factory",
        rounds=250,
        seeds=(1, 2, 3),
        tuned_seeds={"stream": (1, 2, 3), "static": (1,)},
        kinds=KINDS,
        sensors=368,
        types=10,
        model="small-cnn",
        learning_rate=0.01,
        alpha=2.0,
        beta=10,
        evaluate_every=5,
        round_s={"stream": 0.9, "static": 3.2},
        evaluation_s=0.9,
        growth=_GROWTH,
        betas=(5, 10, 20),
    ),
    "full": Scale(
        name="full",
        rounds=250,
        seeds=(1,),
        tuned_seeds={"stream": (1, 2, 3)},
        kinds=("stream",),
        sensors=368,
        types=10,
        model="cnn",
        learning_rate=0.01,
        alpha=2.0,
        beta=10,
        evaluate_every=5,
        round_s={"stream": 7.5, "static": 31.0},
        evaluation_s=6.0,
        growth=_GROWTH,
        betas=(5, 10, 20),
    ),
}
ORDER: tuple[ScaleName, ...] = ("smoke", "factory", "full")
"""From the smallest to the largest."""


def sequential_work(scenario: Scenario, rounds: int) -> float:
    """Return W(rounds): the chain lengths of the full rounds, summed, relative to FedAvg's."""
    sensors = scenario.sensors.count
    return sum(group_size(groups, sensors) for groups in _groups_of_cycles(scenario, rounds)) / rounds


def least_participation(scenario: Scenario) -> float:
    """Return the smallest number of participants of any cycle, relative to kappa K."""
    ratio, sensors = scenario.strategy.sample_ratio, scenario.sensors.count
    cycles = _groups_of_cycles(scenario, scenario.rounds)
    return min(selected(ratio, groups) * group_size(groups, sensors) for groups in cycles) / (ratio * sensors)


def _groups_of_cycles(scenario: Scenario, rounds: int) -> list[int]:
    """Return M of every cycle that begins within so many rounds."""
    settings = scenario.strategy
    assert isinstance(settings, ChainSettings)
    growth, alpha, beta = settings.growth, settings.alpha, settings.beta
    cycles = range(1, cycle_of(rounds, settings.cycle_rounds) + 1)
    return [group_count(growth, alpha, beta, cycle, scenario.sensors.count) for cycle in cycles]


def problems_of_size(scenario: Scenario) -> list[str]:
    """Return in which ways a scenario of HFedMS is too small to show the algorithm; none if it keeps the rule."""
    paper = load_scenario("paper-stream", strategy=scenario.strategy.name, rounds=PAPER_ROUNDS)
    problems = []
    for share in (0.1, 0.5, 1.0):
        ours, theirs = (sequential_work(each, round(share * each.rounds)) for each in (scenario, paper))
        if not 1 / FACTOR <= ours / theirs <= FACTOR:
            problems.append(f"sequential work after {share:.0%} of the rounds is {ours:.2f}, the paper's {theirs:.2f}")
    least = least_participation(scenario)
    if scenario.strategy.name == "hfedms-d" and least < LEAST_PARTICIPANTS:
        problems.append(f"a cycle has only {least:.0%} of kappa K participants")
    return problems
