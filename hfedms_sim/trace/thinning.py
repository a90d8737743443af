"""Which rounds have rows in the tables that grow with every transfer: transfers, work and captures.

Of a long run a scenario may ask for every n-th cycle only (`trace_every`). Whole cycles, because the rounds within one
differ: a calibration round is not like the full one before it. All other tables, the summary and what the sensors have
spent are of the whole run.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.scenario import Scenario

if TYPE_CHECKING:
    import pandas as pd


class Thinning(NamedTuple):
    every: int = 1
    cycle_rounds: int = 1

    @property
    def is_whole(self) -> bool:
        """Whether every round has its rows."""
        return self.every == 1

    def keeps(self, round_number: int) -> bool:
        """Return whether a round has rows in all tables."""
        return (round_number - 1) // self.cycle_rounds % self.every == 0

    def kept(self, rounds: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return for each of these rounds whether it has rows in all tables."""
        return np.asarray((rounds - 1) // self.cycle_rounds % self.every == 0)

    def __str__(self) -> str:
        return f"of one {'cycle' if self.cycle_rounds > 1 else 'round'} in {self.every:,} only (trace_every)"


def thinning_of(scenario: Scenario) -> Thinning:
    """Return which rounds of the scenario's runs have rows in all tables."""
    return Thinning(scenario.trace_every, scenario.strategy.cycle_rounds)


def traced_rounds(scenario: Scenario, rounds: "pd.DataFrame") -> "pd.DataFrame":
    """Return those rows of the table of rounds whose transfers, work and captures are in the trace."""
    traced: pd.DataFrame = rounds[thinning_of(scenario).kept(rounds["round"].to_numpy())]
    return traced


def traced_s(thinning: Thinning, rounds: NDArray[np.int64], starts_s: NDArray[np.float64], end_s: float) -> float:
    """Return how long the rounds with rows took, each up to the beginning of the next; the last one up to `end_s`."""
    lengths_s = np.diff(starts_s, append=end_s)
    return float(lengths_s[thinning.kept(rounds)].sum())
