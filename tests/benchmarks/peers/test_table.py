"""What the contest prints."""

import pytest

from benchmarks.peers.contest import Turn
from benchmarks.peers.table import print_table, verdicts

TURNS = {
    "hfedms_sim": [Turn(2.0, 2.0, 10**9), Turn(9.0, 2.0, 10**9), Turn(2.0, 2.0, 10**9)],
    "plain loop": [Turn(3.0, 3.0, 10**9)] * 3,
    "pfl": [Turn(8.0, 8.0, 10**9)] * 3,
    "flower": [Turn(15.0, 14.0, 7_600_000_000)] * 3,
}


def test_a_bar_is_met_by_the_ratio_of_medians(capsys: pytest.CaptureFixture[str]) -> None:
    assert verdicts(TURNS) == [True, False]
    assert "flower to ours: 7.5 (bar: at least 8) MISSED" in capsys.readouterr().out


def test_the_table_has_a_line_each_with_ratio_memory_and_versions(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(TURNS, {name: {"torch": "2"} for name in TURNS} | {"flower": {"torch": "2", "flwr": "1.41.0"}})
    flower = capsys.readouterr().out.splitlines()[-1].split()
    assert flower == ["flower", "15.00", "15.00-15.00", "14.00", "7.50", "7.60", "torch", "2", "flwr", "1.41.0"]
