"""Traces of every n-th cycle: what is in them is what a whole trace has, and nobody takes them for whole."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from hfedms_sim import explain, verify
from hfedms_sim.errors import InputError
from hfedms_sim.report.page.build import page_of
from hfedms_sim.report.page.html import page_html
from hfedms_sim.report.page.runs import PageRuns
from hfedms_sim.report.tables import closing_facts
from hfedms_sim.report.views.rounds_timeline import timeline_figure, typical_round
from hfedms_sim.report.views.utilisation import utilisation_figure
from hfedms_sim.result import RunResult
from hfedms_sim.simulation import open_run, run
from tests.conftest import tiny_scenario

CYCLES = {"name": "hfedms-d", "interval": 3, "beta": 2, "sample_ratio": 0.5}
ALIKE = {"name": "fedavg", "sample_ratio": 1.0}


def played(every: int, out: Path | None = None, **changes: Any) -> RunResult:
    keys: dict[str, Any] = {"rounds": 14, "strategy": CYCLES} | changes
    return run(tiny_scenario(trace_every=every, **keys), timing_only=True, out=out)


@pytest.mark.parametrize("is_on_disk", [False, True])
def test_the_rows_of_every_nth_cycle_are_those_of_a_whole_trace(tmp_path: Path, is_on_disk: bool) -> None:
    whole, thin = played(1), played(2, tmp_path / "run" if is_on_disk else None)
    kept = [1, 2, 3, 7, 8, 9, 13, 14]
    for name in ("transfers", "work", "captures"):
        table = getattr(whole, name)
        expected = table[table["round"].isin(kept)].reset_index(drop=True)
        pd.testing.assert_frame_equal(getattr(thin, name), expected)
    assert thin.traced_rounds["round"].tolist() == kept
    assert whole.traced_rounds["round"].tolist() == [*range(1, 15)]


def test_all_other_tables_and_figures_are_of_the_whole_run() -> None:
    whole, thin = played(1), played(3)
    for name in ("rounds", "faults", "sensors"):
        assert thin.arrow(name).equals(whole.arrow(name))
    for key in ("simulated_s", "bytes", "energy_j", "lineage", "rounds"):
        assert thin.summary[key] == whole.summary[key]


def test_of_rounds_that_are_all_alike_some_tell_what_all_would() -> None:
    whole, thin = (played(every, strategy=ALIKE, round_period_s=1000.0) for every in (1, 4))
    assert thin.utilisation.tolist() == pytest.approx(whole.utilisation.tolist(), rel=0.05)
    assert thin.limits.limited_by is not None
    assert whole.limits.limited_by is not None
    assert thin.limits.limited_by.cause == whole.limits.limited_by.cause
    assert thin.limits.limited_by.share == pytest.approx(whole.limits.limited_by.share)
    assert (thin.limits.rounds, whole.limits.rounds) == (4, 14)
    for mine, theirs in zip(thin.limits.uses, whole.limits.uses, strict=True):
        assert mine.active_share == pytest.approx(theirs.active_share, rel=0.05)


def test_faults_of_rounds_that_are_left_out_are_no_others() -> None:
    """A deadline that cuts chains off in every round is the cause, in a thin trace too."""
    whole, thin = (played(every, strategy=ALIKE, deadline_s=100.0) for every in (1, 2))
    assert len(whole.faults)
    assert thin.limits.limited_by is not None
    assert whole.limits.limited_by is not None
    assert thin.limits.limited_by.cause == whole.limits.limited_by.cause


def test_a_round_that_is_left_out_is_not_drawn_as_empty() -> None:
    thin = played(2)
    assert typical_round(thin) in (1, 7, 13)
    timeline_figure(thin, 7)
    with pytest.raises(InputError, match=r"round 4 is left out of its trace, which is of one cycle in 2 only"):
        timeline_figure(thin, 4)


def test_use_over_time_is_refused_rather_than_drawn_with_holes() -> None:
    with pytest.raises(InputError, match="its transfers are of one cycle in 2 only"):
        utilisation_figure(played(2))


def test_whoever_looks_at_the_run_is_told(tmp_path: Path) -> None:
    played(2, tmp_path / "run")
    thin = open_run(tmp_path / "run")
    rows = dict(closing_facts(thin).rows)
    assert rows["trace"] == "transfers, work and captures of one cycle in 2 only (trace_every)"
    assert explain(thin).limited_by is not None
    assert "one cycle in 2 only" in page_html(page_of(PageRuns((thin,))))


def test_a_thin_trace_can_be_verified(tmp_path: Path) -> None:
    played(2, tmp_path / "run")
    assert verify(tmp_path / "run").problems == ()
