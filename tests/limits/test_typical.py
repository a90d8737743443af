"""Which round stands for a run."""

import pandas as pd
import pytest

from hfedms_sim.limits import typical_round


def rounds(*rows: tuple[str, float]) -> pd.DataFrame:
    """Return rounds one after the other, each a phase and a length."""
    ends_s = pd.Series([length_s for _, length_s in rows]).cumsum()
    lengths_s = pd.Series([length_s for _, length_s in rows])
    phases = [phase for phase, _ in rows]
    numbers = range(1, len(rows) + 1)
    return pd.DataFrame({"round": numbers, "phase": phases, "start_s": ends_s - lengths_s, "end_s": ends_s})


@pytest.mark.parametrize(
    ("lengths_s", "expected"), [((5, 9, 7), 3), ((9, 5, 7, 8), 3), ((4,), 1), ((2, 8), 1), ((3, 3, 3), 1)]
)
def test_it_is_the_lower_median_and_the_first_of_equal_ones(lengths_s: tuple[float, ...], expected: int) -> None:
    assert typical_round(rounds(*(("full", float(length_s)) for length_s in lengths_s))) == expected


def test_calibration_rounds_do_not_count_beside_full_ones() -> None:
    mixed = rounds(("full", 40.0), ("calibration", 1.0), ("calibration", 2.0), ("full", 30.0), ("calibration", 1.0))
    assert typical_round(mixed) == 4


def test_without_full_rounds_all_count() -> None:
    assert typical_round(rounds(("calibration", 3.0), ("calibration", 1.0), ("calibration", 2.0))) == 3
