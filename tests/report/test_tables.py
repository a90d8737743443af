"""What the closing table says of a run in which something went wrong."""

from dataclasses import replace
from io import StringIO
from typing import Any

from rich.console import Console

from hfedms_sim.report.tables import closing_table
from hfedms_sim.result import RunResult
from hfedms_sim.simulation import run
from tests.conftest import tiny_scenario

FEDAVG = {"name": "fedavg", "sample_ratio": 1.0}


def played(*faults: dict[str, Any], **keys: Any) -> RunResult:
    return run(tiny_scenario(strategy=FEDAVG, rounds=3, faults=list(faults), **keys), timing_only=True)


def with_summary(result: RunResult, **keys: Any) -> RunResult:
    return replace(result, summary={**result.summary, **keys})


def rows(result: RunResult) -> dict[str, str]:
    """Return the lines of the closing table by their headings."""
    text = StringIO()
    Console(width=200, file=text).print(closing_table(result))
    cells = [line.split("│")[1:3] for line in text.getvalue().splitlines() if line.count("│") == 3]
    return {heading.strip(): entry.strip() for heading, entry in cells}


def test_a_run_in_which_all_went_well_has_no_line_of_faults() -> None:
    shown = rows(played())
    assert "faults" not in shown
    assert shown["rounds"] == "3 (timing only: nothing was trained)"


def test_what_went_wrong_is_counted_by_kind_the_most_frequent_first() -> None:
    counted = {"out of coverage": 7, "retry": 3, "skip": 1_200, "detour": 3}
    assert rows(with_summary(played(), faults=counted))["faults"] == "1,200 skip, 3 detour, 3 retry"


def test_sensors_out_of_coverage_are_told_with_the_sensors_alone() -> None:
    assert "faults" not in rows(with_summary(played(), faults={"out of coverage": 7}))


def test_the_counts_are_those_of_the_table_of_faults() -> None:
    """One sensor of eight is gone from the beginning, and skipped in each of three rounds."""
    result = played({"kind": "sensor-crash", "at_s": 0.0, "sensors": [5]})
    assert result.faults["kind"].tolist() == ["skip"] * 3
    assert rows(result)["faults"] == "3 skip"


def test_void_rounds_are_counted_beside_the_rounds() -> None:
    """All sensors are gone for the first 50 s, for longer than anybody waits; the second round begins at 100 s."""
    outage = {"kind": "sensor-crash", "at_s": 0.0, "for_s": 50.0}
    result = played(outage, recovery={"timeout_s": 1.0}, round_period_s=100.0)
    assert result.rounds["void"].tolist() == [True, False, False]
    assert rows(result)["rounds"] == "3 (1 void; timing only: nothing was trained)"
    assert rows(result)["faults"] == "8 skip, 1 void"


def test_a_run_that_stalled_says_why() -> None:
    result = played({"kind": "sensor-crash", "at_s": 1e-6})
    assert rows(result)["rounds"] == (
        "1 of 3 (1 void; timing only: nothing was trained): stalled in round 1: every sensor is gone for ever"
    )


def test_a_run_that_could_not_begin_has_a_closing_table() -> None:
    result = played({"kind": "server-outage", "at_s": 0.0})
    why = "stalled in round 1: the server is down for ever"
    assert rows(result)["rounds"] == f"1 of 3 (1 void; timing only: nothing was trained): {why}"
    assert rows(result)["faults"] == "1 outage, 1 void"


def test_trained_rounds_that_were_void_stand_before_the_reason_to_stop() -> None:
    stopped = {"reason": "target", "round": 3, "detail": "accuracy 0.6"}
    result = with_summary(played(), faults={"void": 2}, stopped=stopped)
    trained = replace(result, provenance={**result.provenance, "timing_only": False})
    assert rows(trained)["rounds"] == "3 of 3 (2 void): accuracy 0.6 reached in round 3"


def test_a_run_of_an_older_version_has_no_counts() -> None:
    result = played()
    older = replace(result, summary={key: value for key, value in result.summary.items() if key != "faults"})
    assert "faults" not in rows(older)
