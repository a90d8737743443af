"""Airtime in use over time: against the obvious sum, and as a whole against a run's utilisation."""

import dataclasses
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Lines
from hfedms_sim.report.views.utilisation import MOST_CELLS, use_over_time, utilisation_figure
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


def served_s(rows: list[Any], channels: float, edges_s: list[float], latency_s: float) -> list[float]:
    """What the transfers had in each bin, worked out by walking from moment to moment."""
    ends_s = {row.transfer: max(row.start_s, row.end_s - latency_s) for row in rows}
    moments_s = sorted({*edges_s, *(row.start_s for row in rows), *ends_s.values()})
    had_s = [0.0] * (len(edges_s) - 1)
    for begin_s, end_s in pairwise(moments_s):
        active = [row for row in rows if row.start_s <= begin_s and ends_s[row.transfer] >= end_s]
        place = max(number for number, edge_s in enumerate(edges_s) if edge_s <= begin_s)
        had_s[place] += min(len(active), channels) * (end_s - begin_s)
    return had_s


@pytest.mark.parametrize("figures", PROFILES, ids=lambda figures: str(figures.get("channels", "half")))
def test_a_bin_holds_what_the_transfers_had_in_it_when_they_shared_the_air(figures: dict[str, Any]) -> None:
    result = over(**figures)
    edges_s, uses = use_over_time(result, bins=7)
    width_s = edges_s[1]
    for use in uses:
        directions = ("up", "down") if use.direction == "both" else (use.direction,)
        own = result.transfers[(result.transfers["cell"] == use.cell) & result.transfers["direction"].isin(directions)]
        channels = {"dedicated": 4, 3: 3}.get(figures.get("channels", 1), 1)
        served = served_s(list(own.itertuples()), channels, edges_s.tolist(), figures.get("latency_s", 0.0))
        assert use.shares == pytest.approx(np.array(served) / (channels * width_s), abs=1e-9)


@pytest.mark.parametrize("bins", [3, 50, 400])
@pytest.mark.parametrize("figures", PROFILES, ids=lambda figures: str(figures.get("channels", "half")))
def test_no_bin_has_more_than_its_channels_hold(figures: dict[str, Any], bins: int) -> None:
    _, uses = use_over_time(over(**figures), bins)
    assert all(float(use.shares.max()) <= 1 + 1e-9 for use in uses)
    assert any(float(use.shares.max()) > 0.2 for use in uses)


@pytest.mark.parametrize("figures", PROFILES, ids=lambda figures: str(figures.get("channels", "half")))
def test_the_mean_over_all_bins_is_the_utilisation_of_the_run(figures: dict[str, Any]) -> None:
    result = over(**figures)
    _, uses = use_over_time(result)
    for cell, expected in result.utilisation.items():
        means = [float(use.shares.mean()) for use in uses if use.cell == cell]
        assert max(means) == pytest.approx(expected)


def lines_of(result: RunResult) -> dict[str, list[str]]:
    panels = [panel for panel in utilisation_figure(result).panels if isinstance(panel, Lines)]
    return {panel.title: [line.label for line in panel.lines] for panel in panels}


def test_a_cell_has_a_panel_with_a_line_for_each_direction_or_one_for_both() -> None:
    assert lines_of(over(duplex="full")) == {"one": ["uplink", "downlink"], "two": ["uplink", "downlink"]}
    assert lines_of(over(duplex="cell-half"))["one"] == ["both directions, which share one airtime"]


def test_many_cells_share_a_panel_for_each_direction() -> None:
    names = [f"cell{number}" for number in range(MOST_CELLS + 1)]
    many = timed(cells=[{"name": name, "profile": FAST | {"duplex": "full"}} for name in names])
    assert lines_of(many) == {"Uplinks": names, "Downlinks": names}


def test_dedicated_channels_of_a_run_of_an_earlier_version_are_not_guessed_at() -> None:
    result = over(duplex="full", channels="dedicated")
    earlier = dataclasses.replace(result, summary={**result.summary, "cells": []})
    with pytest.raises(InputError, match="made by an earlier version"):
        utilisation_figure(earlier)


def test_the_note_says_how_long_a_bin_is() -> None:
    result = timed_once()
    assert utilisation_figure(result).note.startswith("Bins of ")
    assert np.isclose(use_over_time(result, 10).edges_s[-1], result.summary["simulated_s"])
