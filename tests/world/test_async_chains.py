"""HFedMS's chains without a barrier, by hand."""

import pandas as pd
import pytest

from hfedms_sim.result import RunResult
from tests.world.windows_by_hand import REPORT_S, Played, ends


def chains_of(result: RunResult) -> dict[tuple[int, int], pd.DataFrame]:
    rows = result.transfers[result.transfers["payload"] == "model"]
    return {(version, group): own for (version, group), own in rows.groupby(["version", "group"])}


def test_chains_that_are_all_under_way_come_back_one_by_one_and_report_and_start_again(played: Played) -> None:
    """Four sensors in two groups of two, both under way. All report until r; one chain takes s, the other t > s. The
    first comes back at r + s, all groups of the cycle have started, so its two sensors report and are grouped anew:
    there is one group of them, which starts r later from the model of window 1."""
    strategy = {"name": "hfedms-async", "beta": 2, "alpha": 0.0, "sample_ratio": 1.0}
    result = played(strategy, (2, 6, 2, 36), rounds=2)
    first = {group: rows for (version, group), rows in chains_of(result).items() if version == 0}
    assert len(first) == 2
    lengths = {}
    for group, rows in first.items():
        who = rows[rows["direction"] == "down"].sort_values("start_s")["sensor"].tolist()
        assert len(who) == 2
        lengths[group] = sum(12 + (2, 6, 2, 36)[sensor] for sensor in who)
        assert rows["start_s"].min() == pytest.approx(REPORT_S)
    fast = min(lengths, key=lambda group: lengths[group])
    slow_s, fast_s = max(lengths.values()), min(lengths.values())
    back = set(first[fast]["sensor"])
    reports = result.transfers[result.transfers["payload"] == "report"]
    assert reports["sensor"].tolist()[:4] == [0, 1, 2, 3]
    assert set(reports["sensor"].tolist()[4:]) == back
    assert reports["start_s"].tolist()[4:] == pytest.approx([REPORT_S + fast_s] * 2)
    (again,) = [rows for (version, _), rows in chains_of(result).items() if version == 1]
    assert set(again["sensor"]) == back
    assert again["start_s"].min() == pytest.approx(2 * REPORT_S + fast_s)
    next_s = min(2 * REPORT_S + 2 * fast_s, REPORT_S + slow_s)
    assert result.rounds["end_s"].tolist() == pytest.approx([REPORT_S + fast_s, next_s])
    assert result.rounds["under_way"].tolist() == [1, 1]
    assert result.rounds["cycle"].tolist() == [1, 1]
    assert result.rounds["total_groups"].tolist() == [2, 2]


def test_a_cycle_has_as_many_arrivals_as_places_and_the_next_group_starts_from_the_new_model(played: Played) -> None:
    """Eight equal sensors, four groups of two, two places: 28 s a chain. Both come back at r + 28. The first closes
    window 1 and a third group starts, from its model; the second closes window 2, with which the cycle has had its
    two arrivals. So four idle sensors, the second's and those of the fourth group, report, and are grouped into two of
    M = 4, for one of which there is a place. r + 56: the third group closes window 3."""
    strategy = {"name": "hfedms-async", "beta": 4, "alpha": 0.0, "sample_ratio": 0.5}
    result = played(strategy, (2,) * 8, rounds=3)
    r = REPORT_S
    assert ends(result) == [(0, round(r + 28, 6)), (round(r + 28, 6),) * 2, (round(r + 28, 6), round(r + 56, 6))]
    assert result.rounds["cycle"].tolist() == [1, 1, 2]
    begun = {key: round(rows["start_s"].min(), 6) for key, rows in chains_of(result).items()}
    assert sorted((version, begin_s) for (version, _), begin_s in begun.items()) == [
        (0, round(r, 6)), (0, round(r, 6)), (1, round(r + 28, 6)), (2, round(2 * r + 28, 6)),
    ]  # fmt: skip
    reports = result.transfers[result.transfers["payload"] == "report"]
    third = set(chains_of(result)[next(key for key in begun if key[0] == 1)]["sensor"])
    assert sorted(reports["sensor"].tolist()[8:]) == sorted(set(range(8)) - third)
    assert result.rounds["staleness"].tolist() == [0, 1, 1]


def test_a_chain_that_is_back_while_others_report_is_mixed_in_when_they_have(played: Played) -> None:
    """Two groups of two equal sensors, both under way, and both back at r + 28. The first closes window 1. Its sensors
    report, until 2 r + 28; then the second closes window 2."""
    strategy = {"name": "hfedms-async", "beta": 2, "alpha": 0.0, "sample_ratio": 1.0}
    result = played(strategy, (2,) * 4, rounds=2)
    assert ends(result) == [(0, round(REPORT_S + 28, 6)), (round(REPORT_S + 28, 6), round(2 * REPORT_S + 28, 6))]


def test_a_cycle_has_its_arrivals_and_groups_anew_when_all_its_groups_have_started(played: Played) -> None:
    """Three groups of two and three places: none is left to start after the first arrival, though a cycle has three."""
    strategy = {"name": "hfedms-async", "beta": 3, "alpha": 0.0, "sample_ratio": 1.0}
    result = played(strategy, (2, 4, 2, 4, 2, 16), rounds=4)
    assert result.rounds["cycle"].tolist() == [1, 1, 1, 2]
    reports = result.transfers[result.transfers["payload"] == "report"].groupby("round").size()
    assert reports.to_dict() == {1: 6, 2: 2, 3: 2, 4: 2}
