"""Which rounds of a run are looked at: all whose rows are in the trace, or the last of them; one where one is shown."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from hfedms_sim.system.reading import opened_parquet, read_columns
from hfedms_sim.trace import Thinning

MOST_TRANSFERS = 1_000_000
"""Only the last rounds of a run with more are looked at, as many as have no more; one round in any case."""


class RoundSelection(NamedTuple):
    first_round: int
    thinning: Thinning

    def has(self, rounds: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of these rounds are looked at."""
        return np.asarray((rounds >= self.first_round) & self.thinning.kept(rounds))

    @property
    def is_whole(self) -> bool:
        """Whether that is all rounds."""
        return self.first_round == 1 and self.thinning.is_whole


def select_rounds(source: Path | Mapping[str, pa.Table], thinning: Thinning) -> RoundSelection:
    """Return the rounds of a run to look at, which is the last one if that alone has too many transfers."""
    if isinstance(source, Path):
        with opened_parquet(source / "transfers.parquet") as parquet:
            if parquet.metadata.num_rows <= MOST_TRANSFERS:
                return RoundSelection(1, thinning)
            numbers = read_columns(parquet, ["round"])["round"].to_numpy()
    else:
        numbers = source["transfers"]["round"].to_numpy()
    if len(numbers) <= MOST_TRANSFERS:
        return RoundSelection(1, thinning)
    return RoundSelection(int(min(numbers[-1], numbers[-MOST_TRANSFERS - 1] + 1)), thinning)


def typical_round(rounds: pd.DataFrame) -> int:
    """Return the round that stands for a run: the full round whose length is the lower median, of equal ones the first.

    `rounds` is a run's table, or some of its rows, at least one. Rounds that took no time do not count, unless none
    took any; where none of the others is a full round all of them count.
    """
    took_time = rounds[rounds["end_s"] > rounds["start_s"]]
    full = took_time[took_time["phase"] == "full"]
    chosen = next(each for each in (full, took_time, rounds) if len(each))
    numbers = chosen["round"].to_numpy()
    lengths_s = (chosen["end_s"] - chosen["start_s"]).to_numpy()
    ranked = np.lexsort((numbers, lengths_s))
    median_s = lengths_s[ranked[(len(ranked) - 1) // 2]]
    return int(numbers[lengths_s == median_s].min())
