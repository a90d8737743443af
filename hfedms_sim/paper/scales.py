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

from hfedms_sim.paper.published import KINDS, DataKind
from hfedms_sim.schedule import Growth

ScaleName = Literal["smoke", "factory", "full"]


@dataclass(frozen=True)
class Scale:
    name: ScaleName
    rounds: int
    seeds: tuple[int, ...]
    tuned_seeds: dict[DataKind, tuple[int, ...]]
    kinds: tuple[DataKind, ...]
    """Which data, in experiments that have both."""
    sensors: int
    types: int
    model: str
    learning_rate: float
    """The sensors' rate, for every strategy with default settings."""
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
        round_s={"stream": 0.32, "static": 1.6},
        evaluation_s=0.3,
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
"""The scales, from the smallest to the largest."""
