"""Groups, chains and participants over rounds, and how many sensors a chain has."""

import dataclasses

from hfedms_sim.exhibits import Bars, Boxes, Lines
from hfedms_sim.report.views.groups import chain_sizes, groups_figure
from tests.report.views.samples import timed, timed_once


def test_the_lines_are_the_columns_of_rounds() -> None:
    result = timed_once()
    *panels, sizes = groups_figure([result]).panels
    for panel, column in zip(panels, ("total_groups", "groups", "participants"), strict=True):
        assert isinstance(panel, Lines)
        assert panel.lines[0].y == tuple(map(float, result.rounds[column]))
    assert isinstance(sizes, Bars)
    assert [sum(value or 0 for value in values) for _, values in sizes.series] == [len(chain_sizes(result))]


def test_chains_have_as_many_sensors_as_took_part() -> None:
    result = timed_once()
    sizes = chain_sizes(result)
    assert len(sizes) == result.rounds["groups"].sum()
    assert sizes.sum() == result.rounds["participants"].sum()


def test_chains_that_go_on_after_a_window_are_counted_once() -> None:
    result = timed(strategy={"name": "fedasync", "sample_ratio": 0.5}, rounds=5)
    assert result.rounds["under_way"].notna().all()
    chains = result.transfers[["version", "group", "sensor"]].drop_duplicates()
    assert chain_sizes(result).sum() == len(chains)


def test_several_runs_have_a_line_and_a_box_each_and_seeds_a_band() -> None:
    seeds = [timed(seed=seed) for seed in (1, 2)]
    results = [*seeds, timed(strategy={"name": "fedavg", "sample_ratio": 0.5})]
    formed, *_, sizes = groups_figure(results).panels
    assert isinstance(formed, Lines)
    assert isinstance(sizes, Boxes)
    assert [bool(line.low) for line in formed.lines] == [True, False]
    assert [label for label, _ in sizes.groups] == ["hfedms-d, 2 seeds", "fedavg, seed 1"]


def test_a_column_that_an_earlier_version_lacks_has_no_panel() -> None:
    result = timed_once()
    earlier = dataclasses.replace(result)
    earlier.__dict__["rounds"] = result.rounds.assign(total_groups=None)
    assert [panel.title for panel in groups_figure([earlier]).panels][:2] == ["Chains in parallel", "Participants"]
