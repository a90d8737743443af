"""What the sections of a page say, against the tables of the runs."""

import dataclasses
from collections.abc import Sequence

import pytest

from hfedms_sim.exhibits import Lines, Table
from hfedms_sim.report.page.blocks import Block, Cards, Prose, Section, SortableTable, Switch
from hfedms_sim.report.page.build import MOST_RUNS, page_of
from hfedms_sim.report.page.runs import PageRuns
from hfedms_sim.report.page.sections.air import chosen_rounds
from hfedms_sim.report.page.sections.comparing import why_faster
from hfedms_sim.report.views.rounds_timeline import typical_round
from hfedms_sim.result import RunResult
from hfedms_sim.scenario import load_profile
from hfedms_sim.units import format_seconds
from tests.report.views.samples import PLACED, learnt, placed_once, timed, timed_once

FEDAVG = {"name": "fedavg", "sample_ratio": 0.5}
SLOW = [{"name": "hall", "profile": {"name": "slow", "uplink_bps": 4e3, "downlink_bps": 4e3}}]


def page_sections(*results: RunResult) -> dict[str, Section]:
    page = page_of(PageRuns(results))
    every = (*page.runs[0].sections, *page.sections, *page.closing)
    return {section.name: section for section in every}


def texts(blocks: Sequence[Block]) -> str:
    told = [paragraph for block in blocks if isinstance(block, Prose) for paragraph in block.paragraphs]
    return "\n".join(
        [*told, *("\n".join(card) for block in blocks if isinstance(block, Cards) for card in block.cards)]
    )


def tables(section: Section) -> dict[str, Table]:
    return {block.table.name: block.table for block in section.blocks if isinstance(block, SortableTable)}


def test_a_run_names_its_limit_its_worst_sensor_and_what_is_not_modelled() -> None:
    result = timed_once()
    sections = page_sections(result)
    told = texts(sections["overview"].blocks)
    assert result.summary["limited_by"]["text"] in told
    assert "Worst sensor" in told
    assert "nothing was trained" in told
    assert "chain length" in str(tables(sections["words"])["words"].rows)
    assert "interference between cells" in str(tables(sections["not-modelled"])["not-modelled"].rows)


def test_sections_that_have_nothing_to_show_are_not_there() -> None:
    assert {"learning", "faults", "energy"}.isdisjoint(page_sections(timed_once()))
    assert {"time", "air", "round", "hall", "groups", "record"} <= set(page_sections(timed_once()))
    assert "energy" in page_sections(placed_once())


def test_what_all_sensors_have_alike_is_in_the_note_and_the_slowest_come_first() -> None:
    radio = load_profile("private-5g").model_dump(mode="json")
    sensors = {"count": 12, "placement": {"kind": "uniform", "width_m": 400, "length_m": 100}}
    wide = timed(sensors=sensors, cells=[{"name": "middle", "profile": radio, "x_m": 200, "y_m": 50}])
    table = tables(page_sections(wide)["hall"])["sensors"]
    rates = [row[table.header.index("uplink, bit/s")] for row in table.rows]
    assert rates == sorted(rates, key=lambda rate: -1.0 if rate is None else float(rate))
    assert "processor instant" in table.note
    assert "processor" not in table.header


def test_the_timeline_begins_with_a_typical_round_and_has_all_of_a_few() -> None:
    result = timed_once()
    (by_sensor, _) = (block for block in page_sections(result)["round"].blocks if isinstance(block, Switch))
    names = [name for name, _ in by_sensor.options]
    assert names == [str(number) for number in result.rounds["round"]]
    assert names[by_sensor.chosen] == str(typical_round(result))


@pytest.mark.parametrize("most", [4, 7, 30])
def test_of_many_rounds_the_ends_the_longest_and_a_typical_one_are_chosen(most: int) -> None:
    result = timed(rounds=60)
    lengths_s = result.rounds["end_s"] - result.rounds["start_s"]
    chosen = chosen_rounds(result, most)
    assert len(chosen) <= most
    assert chosen == sorted(set(chosen))
    assert {1, 60, int(result.rounds["round"][lengths_s.argmax()]), typical_round(result)} <= set(chosen)


def test_the_faster_of_two_is_explained_by_rounds_and_seconds_a_round() -> None:
    quick, slow = learnt(0.6, targets=[0.5]), learnt(0.6, targets=[0.5], cells=SLOW)
    for each in (quick, slow):
        assert isinstance(each.summary, dict)
        reached = int((each.rounds["accuracy"] >= 0.5).to_numpy().argmax())
        at_s = float(each.rounds["end_s"][reached])
        each.summary["targets"] = [{"accuracy": 0.5, "round": reached + 1, "simulated_s": at_s}]
    first, second = why_faster(slow, quick, "slow", "quick")
    times = [format_seconds(each.summary["targets"][0]["simulated_s"]) for each in (quick, slow)]
    assert first.startswith("quick takes 0.5 of the simulated time of slow to accuracy 0.5")
    assert f"({times[0]} against {times[1]})" in first
    assert "1 of its rounds" in first
    assert second.startswith("What its rounds save most is cell direction")


def test_runs_that_take_equally_long_are_said_to() -> None:
    assert list(why_faster(timed_once(), timed_once(), "one", "other")) == ["one and other take equally long."]


def test_two_runs_list_what_differs() -> None:
    sections = page_sections(timed_once(), timed(cells=SLOW))
    differing = tables(sections["comparison"])["differences"]
    assert ("cells.0.profile.uplink_bps", "8000.0", "4000.0") in differing.rows
    assert differing.header == ("key", "hfedms-d, fast", "hfedms-d, slow")


def test_radios_that_share_one_learning_say_so_and_strategies_do_not() -> None:
    alike = page_sections(timed_once(), timed(cells=SLOW))["overview"]
    assert "would learn the very same model" in texts(alike.blocks)
    assert "hfedms-d, fast; hfedms-d, slow" in texts(alike.blocks)
    assert "very same model" not in texts(page_sections(timed_once(), timed(strategy=FEDAVG))["overview"].blocks)


def test_who_leaves_sensors_out_is_told_and_is_not_the_fastest() -> None:
    whole, partial = timed(), timed(cells=SLOW)
    assert isinstance(partial.summary, dict)
    partial.summary.update(coverage={"sensors": 8, "covered": 3}, simulated_s=1e-3)
    told = texts(page_sections(whole, partial)["overview"].blocks)
    assert "Fastest, all sensors in coverage\nhfedms-d, fast" in told
    assert "Out of coverage are 5 of 8 sensors with hfedms-d, slow." in told


def test_a_page_of_many_runs_says_how_many_have_sections_of_their_own() -> None:
    runs = PageRuns(tuple(timed(seed=seed, rounds=1) for seed in range(1, MOST_RUNS + 3)))
    page = page_of(runs)
    assert len(page.runs) == MOST_RUNS
    assert f"The first {MOST_RUNS} of {MOST_RUNS + 2} runs" in texts(page.closing[-1].blocks)


def test_a_run_of_an_earlier_version_has_a_page_without_what_it_lacks() -> None:
    result = timed(**PLACED)
    kept = ("scenario", "strategy", "profile", "seed", "rounds", "simulated_s", "final_accuracy", "best_accuracy",
            "bytes", "energy_j", "targets", "lineage", "cells")  # fmt: skip
    earlier = dataclasses.replace(result, summary={key: result.summary[key] for key in kept})
    assert {"overview", "time", "round"} <= set(page_sections(earlier))


def test_equal_variants_share_a_headline() -> None:
    told = texts(page_sections(timed_once(), timed(cells=SLOW))["overview"].blocks)
    assert "Fewest bytes, all sensors in coverage\nhfedms-d, fast; hfedms-d, slow" in told


def test_without_training_strategies_are_said_not_to_be_compared_at_equal_quality() -> None:
    sections = page_sections(timed_once(), timed(strategy=FEDAVG))
    assert "not compared at equal quality" in texts(sections["overview"].blocks)
    assert tables(sections["comparison"])["comparison"].title == "What the rounds of each took"


def test_of_several_variants_each_is_compared_with_the_fastest() -> None:
    results = timed_once(), timed(cells=SLOW), timed(strategy=FEDAVG)
    told = texts(page_sections(*results)["comparison"].blocks).splitlines()
    seconds = {
        f"{each.summary['strategy']}, {each.summary['profile']}": each.summary["simulated_s"] for each in results
    }
    fastest = min(seconds, key=lambda name: seconds[name])
    assert told[0].startswith(f"{fastest} is the fastest: 6 rounds of {format_seconds(seconds[fastest] / 6)} and ")
    for name in set(seconds) - {fastest}:
        assert any(
            line.startswith(f"{name} takes {seconds[name] / seconds[fastest]:.3g} times as long") for line in told
        )


def test_lost_samples_are_told_by_variant_and_only_where_some_are_lost() -> None:
    poisson = {"arrival": "poisson", "rate_hz": 0.5, "batch": 10, "buffer": 20}
    quick = [{"name": "hall", "profile": {"name": "quick", "uplink_bps": 8e8, "downlink_bps": 8e8}}]
    losing, keeping = timed(stream=poisson), timed(stream=poisson, cells=quick)
    table = tables(page_sections(losing, keeping)["comparison"])["samples"]
    lost = losing.captures["overflowed"].sum() / losing.captures["arrived"].sum()
    assert table.rows[0][2] == pytest.approx(100 * lost)
    assert lost > 0
    assert "samples" not in tables(page_sections(timed_once(), timed(cells=SLOW))["comparison"])


def test_a_trained_run_and_a_timing_only_one_are_two_rows() -> None:
    trained = learnt(0.4, targets=[])
    assert isinstance(trained.provenance, dict)
    trained.provenance["timing_only"] = False
    for results in ((trained, timed(targets=[])), (timed(targets=[]), trained)):
        rows = tables(page_sections(*results)["comparison"])["comparison"].rows
        assert {row[0] for row in rows} == {"hfedms-d, trained", "hfedms-d, timing only"}


def test_seeds_that_were_never_evaluated_at_the_same_time_are_drawn_by_themselves() -> None:
    seeds = [learnt(0.5, rounds=1, seed=seed) for seed in (1, 2)]
    for number, each in enumerate(seeds):
        each.rounds["accuracy"], each.rounds["loss"] = 0.5, 1.0
        each.rounds["end_s"] += 100.0 * number
    (switch,) = (block for block in page_sections(*seeds)["learning"].blocks if isinstance(block, Switch))
    (panel, *_) = switch.options[0][1].panels
    assert isinstance(panel, Lines)
    assert [line.label for line in panel.lines] == ["hfedms-d, seed 1", "hfedms-d, seed 2"]
