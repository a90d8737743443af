"""Which round stands for a run where only one is shown: an explanation, a timeline."""

import numpy as np
import pandas as pd


def typical_round(rounds: pd.DataFrame) -> int:
    """Return the number of the full round whose length is the lower median; of equal ones the first.

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
