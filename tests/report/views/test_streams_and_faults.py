"""What was lost: samples to full buffers, and what went wrong, where there is any."""

import dataclasses

import pandas as pd

from hfedms_sim.exhibits import Lines
from hfedms_sim.report.views.faults import faults_figure
from hfedms_sim.report.views.streams import streams_figure
from tests.report.views.samples import timed, timed_once


def test_a_stream_that_never_overflows_is_not_shown() -> None:
    assert streams_figure(timed_once()) is None


def test_samples_are_summed_by_round() -> None:
    result = timed(stream={"arrival": "periodic", "rate_hz": 50.0, "batch": 10})
    figure = streams_figure(result)
    assert figure is not None
    [panel] = figure.panels
    assert isinstance(panel, Lines)
    sums = result.captures.groupby("round")[["captured", "overflowed"]].sum()
    assert [line.label for line in panel.lines] == ["captured", "overflowed"]
    assert [line.y for line in panel.lines] == [tuple(map(float, sums[name])) for name in sums]
    assert f"{sums['overflowed'].sum():,} lost to full buffers" in figure.note
    assert sums["overflowed"].sum() > 0


def test_a_run_without_faults_is_not_shown() -> None:
    assert faults_figure(timed_once()) is None


def test_faults_are_counted_by_kind_until_each_moment() -> None:
    result = dataclasses.replace(timed_once())
    end_s = result.summary["simulated_s"]
    rows = [(0.0, "retry"), (end_s / 2, "retry"), (end_s, "skip")]
    faults = pd.DataFrame(rows, columns=["time_s", "kind"])
    result.__dict__["faults"] = faults
    figure = faults_figure(result)
    assert figure is not None
    [panel] = figure.panels
    assert isinstance(panel, Lines)
    assert [line.label for line in panel.lines] == ["retry (2)", "skip (1)"]
    retries, skips = panel.lines
    assert (retries.y[0], retries.y[-1]) == (1.0, 2.0)
    assert (skips.y[0], skips.y[-2], skips.y[-1]) == (0.0, 0.0, 1.0)
