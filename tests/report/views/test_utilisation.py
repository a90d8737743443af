"""Airtime in use over time: against the obvious sum, and as a whole against a run's utilisation."""

import dataclasses
from typing import Any

import numpy as np
import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Lines
from hfedms_sim.report.views.utilisation import use_over_time, utilisation_figure
from hfedms_sim.result import RunResult
from tests.conftest import FAST
from tests.report.views.samples import timed, timed_once

PROFILES: list[dict[str, Any]] = [
    {"duplex": "cell-half"},
    {"duplex": "full", "channels": 3},
    {"duplex": "full", "channels": "dedicated", "latency_s": 0.4},
]


def over(**figures: Any) -> RunResult:
    cells = [{"name": name, "profile": FAST | figures} for name in ("one", "two")]
    return timed(cells=cells)


def overlap_s(row: Any, begin_s: float, end_s: float) -> float:
    """The airtime of a transfer within a bin, as one would work it out by hand."""
    if row.end_s == row.start_s:
        return float(row.airtime_s) if begin_s < row.end_s <= end_s else 0.0
    within_s = max(0.0, min(end_s, row.end_s) - max(begin_s, row.start_s))
    return float(row.airtime_s) * within_s / float(row.end_s - row.start_s)


@pytest.mark.parametrize("figures", PROFILES, ids=lambda figures: str(figures.get("channels", "half")))
def test_a_bin_holds_what_the_transfers_had_in_it(figures: dict[str, Any]) -> None:
    result = over(**figures)
    edges_s, uses = use_over_time(result, bins=7)
    width_s = edges_s[1]
    for use in uses:
        directions = ("up", "down") if use.direction == "both" else (use.direction,)
        own = result.transfers[(result.transfers["cell"] == use.cell) & result.transfers["direction"].isin(directions)]
        channels = {"dedicated": 4, 3: 3}.get(figures.get("channels", 1), 1)
        for bin_number, share in enumerate(use.shares):
            bin_s = [overlap_s(row, edges_s[bin_number], edges_s[bin_number + 1]) for row in own.itertuples()]
            assert share == pytest.approx(sum(bin_s) / (channels * width_s), abs=1e-12)


@pytest.mark.parametrize("figures", PROFILES, ids=lambda figures: str(figures.get("channels", "half")))
def test_the_mean_over_all_bins_is_the_utilisation_of_the_run(figures: dict[str, Any]) -> None:
    result = over(**figures)
    _, uses = use_over_time(result)
    for cell, expected in result.utilisation.items():
        means = [float(use.shares.mean()) for use in uses if use.cell == cell]
        assert max(means) == pytest.approx(expected)


def test_cells_whose_directions_share_one_airtime_have_one_line_and_others_two() -> None:
    half, full = over(duplex="cell-half"), over(duplex="full")
    assert [panel.title for panel in utilisation_figure(half).panels] == ["Both directions, which share one airtime"]
    panels = utilisation_figure(full).panels
    assert [panel.title for panel in panels] == ["Uplinks", "Downlinks"]
    for panel in panels:
        assert isinstance(panel, Lines)
        assert [line.label for line in panel.lines] == ["one", "two"]


def test_dedicated_channels_of_a_run_of_an_earlier_version_are_not_guessed_at() -> None:
    result = over(duplex="full", channels="dedicated")
    earlier = dataclasses.replace(result, summary={**result.summary, "cells": []})
    with pytest.raises(InputError, match="made by an earlier version"):
        utilisation_figure(earlier)


def test_the_note_says_how_long_a_bin_is() -> None:
    result = timed_once()
    assert utilisation_figure(result).note.startswith("Bins of ")
    assert np.isclose(use_over_time(result, 10).edges_s[-1], result.summary["simulated_s"])
