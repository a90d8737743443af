"""The contest in a scenario of one's own: its rows, on curves made by hand, and whom it leaves out."""

import pytest

from benchmarks.contest import PLUS, SEEDS, Case, rows_of
from hfedms_sim.campaign import Curve, Point, TrialResult
from hfedms_sim.paper.experiment import Seeds

Played = tuple[Case, Seeds]


def played(strategy: str, numbers: str, round_hours: float, accuracies: tuple[float, ...] = (0.4, 0.7, 0.8)) -> Played:
    """Return a contestant whose rounds last so many hours and end so accurately, the same with every seed."""
    case = Case(strategy, (), numbers)
    curve = Curve(tuple(point(number, round_hours, reached) for number, reached in enumerate(accuracies, start=1)))
    return case, Seeds({seed: TrialResult(case.trial("quickstart", [], seed, 1), {}, {}, curve) for seed in SEEDS})


def point(number: int, round_hours: float, accuracy: float) -> Point:
    simulated_s = 3600.0 * round_hours * number
    return Point(number, "full", simulated_s, 0, 0, None, 0, None, accuracy, 0.5, None, None, None, None)


def test_plain_numbers_are_compared_with_plain_and_int8_with_everybody() -> None:
    everybody = [
        played(PLUS, "int8", 1.0), played(PLUS, "plain", 4.0),
        played("fedadam", "int8", 2.0), played("fedadam", "plain", 8.0), played("fedavg", "plain", 40.0),
    ]  # fmt: skip
    int8, plain = rows_of("a radio", 0.7, everybody)
    assert int8[:4] == ("a radio", "int8", "2", "fedadam, int8: 4")
    assert plain[:4] == ("a radio", "plain", "8", "fedadam: 16")
    assert int8[4].startswith("0.50 (")
    assert plain[4].startswith("0.50 (")


def test_the_rivals_best_is_the_most_accurate_of_those_with_the_same_numbers() -> None:
    everybody = [
        played(PLUS, "plain", 1.0), played("fedadam", "plain", 1.0, (0.4, 0.6, 0.7)), played("fedavg", "plain", 1.0),
        played("fedadam", "int8", 1.0, (0.9, 0.9, 0.9)),
    ]  # fmt: skip
    (row,) = rows_of("a radio", 0.7, everybody)
    assert row[-2] == "0.800"


def test_who_has_nobody_to_beat_gets_a_line_instead_of_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of("a radio", 0.7, [played(PLUS, "int8", 1.0), played("fedavg", "plain", 1.0)])
    assert list(rows) == []
    assert "hfedms-plus, int8 has nobody to beat on a radio" in capsys.readouterr().out


def test_some_seeds_are_told_from_all() -> None:
    case, seeds = played(PLUS, "plain", 1.0)
    slow = played(PLUS, "plain", 1.0, (0.1, 0.1, 0.1))[1]
    seeds.by_seed[3] = slow.by_seed[3]
    (row,) = rows_of("a radio", 0.7, [(case, seeds), played("fedavg", "plain", 1.0)])
    assert row[2] == "2 (2 of 3)"
