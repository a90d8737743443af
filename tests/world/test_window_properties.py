"""What holds in any window, whatever the speeds, the radio and the trouble: against an event loop of its own too."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hfedms_sim.result import RunResult
from hfedms_sim.schedule import selected
from hfedms_sim.simulation import play
from tests import second_windows
from tests.window_factory import turns_s
from tests.world.windows_by_hand import FLAT, Played, arrivals, fedbuff, windows


def chain_intervals(result: RunResult) -> pd.DataFrame:
    """Return of each chain that left rows its version, its sensor and when its first and last rows began and ended."""
    rows = result.transfers[result.transfers["payload"] == "model"]
    named = rows.groupby(["version", "group"])
    spans = named.agg(begin_s=("ready_s", "min"), end_s=("end_s", "max"), sensors=("sensor", "nunique"))
    return spans.join(named["sensor"].first()).reset_index()


def assert_nobody_is_in_two_chains_at_once(result: RunResult) -> None:
    rows = result.transfers[result.transfers["payload"] == "model"]
    for _, own in rows.groupby("sensor"):
        turns = own.groupby(["version", "group"]).agg(begin_s=("ready_s", "min"), end_s=("end_s", "max"))
        turns = turns.sort_values(["begin_s", "end_s"])
        assert (turns["begin_s"].to_numpy()[1:] >= turns["end_s"].to_numpy()[:-1] - 1e-9).all()
        assert not turns.index.get_level_values("version").duplicated().any()  # at most once from each model


def assert_places_are_kept(result: RunResult, places: int) -> None:
    """Count chains that have begun and not ended, at every beginning."""
    spans = chain_intervals(result)
    for begin_s in spans["begin_s"]:
        assert ((spans["begin_s"] <= begin_s) & (spans["end_s"] > begin_s)).sum() <= places


def assert_bytes_are_right(result: RunResult) -> None:
    rounds, sent = result.rounds.set_index("round"), result.transfers
    for direction, column in (("up", "uplink_bytes"), ("down", "downlink_bytes")):
        of_round = sent[(sent["direction"] == direction) & (sent["outcome"] == "ok")].groupby("round")["bytes"].sum()
        assert rounds[column].to_dict() == of_round.reindex(rounds.index, fill_value=0).to_dict()
    assert (sent["version"] <= sent["round"] - 1).all()


def assert_sums_are_right(result: RunResult) -> None:
    rounds = result.rounds
    assert_bytes_are_right(result)
    assert (rounds["start_s"].to_numpy()[1:] == rounds["end_s"].to_numpy()[:-1]).all()
    assert (rounds["end_s"] >= rounds["start_s"]).all()


def assert_staleness_is_of_the_versions(result: RunResult) -> None:
    each_window = arrivals(result)
    stale = [[number - (version + 1) for _, version in who] for number, who in enumerate(each_window, start=1)]
    assert all(each >= 0 for window in stale for each in window)
    assert result.rounds["staleness"].tolist() == pytest.approx([sum(each) / len(each) for each in stale])
    assert result.rounds["arrived"].tolist() == [len(who) for who in each_window]
    up = result.transfers[result.transfers["direction"] == "up"]
    heard = {turn for who in each_window for turn in who}
    assert heard <= set(zip(up["sensor"], up["version"], strict=True))


speeds = st.lists(st.sampled_from([1, 2, 3, 4, 5, 6, 8, 9, 12]), min_size=1, max_size=7).map(tuple)
ratios = st.sampled_from([0.2, 0.34, 0.5, 0.7, 1.0])


@settings(max_examples=25)
@example(
    (1, 1, 1, 6), 1.0, 3, 7
)  # several that have arrived since the window began may start: first drawn, first served
@given(speeds, ratios, st.integers(1, 9), st.integers(1, 12))
def test_an_event_loop_written_from_the_docs_plays_the_same_windows(
    played: Played, work_s: tuple[int, ...], ratio: float, buffer: int, seed: int
) -> None:
    """On dedicated channels: beginnings, ends, who arrives from which version, who goes on."""
    rounds = 7
    result = played(fedbuff(buffer, ratio), work_s, rounds=rounds, seed=seed)
    places = selected(ratio, len(work_s))
    expected = second_windows.played(turns_s(work_s), buffer, places, rounds, seed)
    for number, window in enumerate(expected, start=1):
        staleness = sum(window.staleness) / len(window.arrived)
        assert windows(result)[number - 1] == (
            window.start_s, window.end_s, len(window.arrived), round(staleness, 6), window.under_way
        ), number  # fmt: skip
    who = [[(chain.sensor, chain.window - 1) for chain in window.arrived] for window in expected]
    assert arrivals(result) == who


@settings(max_examples=25)
@given(speeds, ratios, st.integers(1, 5), st.sampled_from(["dedicated", 1, 2]), st.integers(1, 5))
def test_nobody_is_in_two_chains_at_once_and_places_and_sums_are_kept(
    played: Played, work_s: tuple[int, ...], ratio: float, buffer: int, channels: Any, seed: int
) -> None:
    result = played(fedbuff(buffer, ratio), work_s, rounds=8, seed=seed, radio={"channels": channels})
    places = selected(ratio, len(work_s))
    assert_nobody_is_in_two_chains_at_once(result)
    assert_places_are_kept(result, places)
    assert_sums_are_right(result)
    assert_staleness_is_of_the_versions(result)
    assert result.rounds["under_way"].max() <= places
    if len(work_s) >= buffer:
        assert result.rounds["arrived"].tolist() == [buffer] * 8
    else:
        assert (result.rounds["arrived"] <= buffer).all()


@settings(max_examples=15)
@given(speeds, ratios, st.sampled_from(["dedicated", 1]), st.integers(1, 4), st.sampled_from([0.0, 1.0]))
def test_chains_of_sensors_keep_to_their_places_too(
    played: Played, work_s: tuple[int, ...], ratio: float, channels: Any, beta: int, alpha: float
) -> None:
    strategy = {"name": "hfedms-async", "beta": beta, "alpha": alpha, "sample_ratio": ratio}
    result = played(strategy, work_s * 2, rounds=8, radio={"channels": channels})
    rounds = result.rounds
    assert rounds["arrived"].tolist() == [1] * 8
    assert_nobody_is_in_two_chains_at_once(result)
    assert_sums_are_right(result)
    most = [selected(ratio, groups) for groups in rounds["total_groups"]]
    assert (rounds["under_way"] <= np.maximum.accumulate(most)).all()
    if alpha == 0.0:
        assert_places_are_kept(result, most[0])


TROUBLE: list[list[dict[str, Any]]] = [
    [],
    [{"kind": "sensor-outage", "mean_up_s": 40.0, "mean_down_s": 8.0}, {"kind": "transfer-loss", "probability": 0.1}],
    [{"kind": "sensor-crash", "mean_up_s": 60.0, "mean_down_s": 10.0}],
    [
        {"kind": "cell-outage", "mean_up_s": 60.0, "mean_down_s": 10.0},
        {"kind": "server-outage", "at_s": 20.0, "for_s": 9.0},
    ],
]
ENDINGS: list[dict[str, Any]] = [
    {},
    {"deadline_s": 20.0},
    {"deadline_s": 11.0, "quorum": 0.5},
    {"round_period_s": 25.0},
]
radios = st.fixed_dictionaries(
    {
        "channels": st.sampled_from(["dedicated", 1, 2]),
        "inactivity_s": st.sampled_from([0.0, 3.0, 30.0]),
        "setup_s": st.sampled_from([0.0, 1.5]),
    }
)


class Trouble(NamedTuple):
    """A factory in which things go wrong."""

    work_s: tuple[int, ...]
    ratio: float
    buffer: int
    radio: dict[str, Any]
    faults: list[dict[str, Any]]
    ending: dict[str, Any]
    seed: int

    def play(self, played: Played, **radio: Any) -> RunResult:
        """Play eight windows of FedBuff in it, on its radio with these figures beside it."""
        keys = {
            "rounds": 8,
            "seed": self.seed,
            "radio": self.radio | radio,
            "recovery": {"timeout_s": 6.0},
        } | self.ending
        return played(fedbuff(self.buffer, self.ratio), self.work_s, *self.faults, **keys)


troubles = st.builds(
    Trouble,
    speeds,
    ratios,
    st.integers(1, 4),
    radios,
    st.sampled_from(TROUBLE),
    st.sampled_from(ENDINGS),
    st.integers(1, 50),
)


@settings(max_examples=20)
@given(troubles)
def test_whatever_goes_wrong_nobody_is_in_two_chains_at_once(played: Played, trouble: Trouble) -> None:
    """And places are kept, and what has arrived, counted and gone on adds up to what has started."""
    result = trouble.play(played)
    rounds, places = result.rounds, selected(trouble.ratio, len(trouble.work_s))
    assert_nobody_is_in_two_chains_at_once(result)
    assert_bytes_are_right(result)
    assert (rounds["under_way"] <= places).all()
    assert (rounds["arrived"] <= rounds["groups"]).all()
    assert (rounds["arrived"] <= trouble.buffer).all()
    assert not rounds["deadline_missed"].any()
    counted = [len(who) for who in arrivals(result)]
    assert counted == rounds["arrived"].where(~rounds["void"], 0).tolist()
    begun = {(each.plan.round, group.number) for each in play(result.scenario) for group in each.plan.groups}
    assert rounds["groups"].sum() + rounds["under_way"].iloc[-1] >= len(begun)
    assert (rounds["start_s"].to_numpy()[1:] >= rounds["end_s"].to_numpy()[:-1]).all()


@settings(max_examples=20)
@example(Trouble((2,), 1.0, 1, {}, [], {"deadline_s": 10.0}, 1))
@given(troubles)
def test_radios_that_always_spend_the_same_spend_it_over_the_whole_run(played: Played, trouble: Trouble) -> None:
    """Whatever state a second is counted as, and in whatever window."""
    result = trouble.play(played, energy=FLAT)
    spent_j = 0.1 * len(trouble.work_s) * result.summary["simulated_s"]
    assert result.rounds["energy_j"].sum() == pytest.approx(spent_j)
    assert result.summary["energy_j"] == pytest.approx(spent_j)
