"""Laws that hold in every run: bytes are conserved, time does not run back, no cell gives more airtime than it has."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hfedms_sim.loading import scenario_of
from hfedms_sim.result import RunResult
from hfedms_sim.rounds import SERVER
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import run
from tests.conftest import tiny_scenario

profiles = st.fixed_dictionaries(
    {
        "name": st.just("drawn"),
        "uplink_bps": st.floats(1e3, 1e7),
        "downlink_bps": st.floats(1e3, 1e7),
        "duplex": st.sampled_from(["full", "device-half", "cell-half"]),
        "latency_s": st.sampled_from([0.0, 0.02, 1.5]),
    },
    optional={"channels": st.sampled_from([1, 2, 5, "dedicated"])},
).flatmap(
    lambda profile: (
        st.sampled_from([{"sharing": "fifo"}, {"sharing": "fair"}, {"sharing": "fair", "resource_units": 12}])
        .filter(lambda sharing: not ("resource_units" in sharing and profile.get("channels") == "dedicated"))
        .map(lambda sharing: profile | sharing)
    )
)
strategies = st.one_of(
    st.fixed_dictionaries({"name": st.just("fedavg"), "sample_ratio": st.floats(0.05, 1)}),
    st.fixed_dictionaries(
        {
            "name": st.just("hfedms-d"),
            "interval": st.integers(1, 4),
            "beta": st.integers(1, 10),
            "sample_ratio": st.floats(0.05, 1),
            "leftover": st.sampled_from(["drop", "spread"]),
            "order": st.sampled_from(["cycle", "round"]),
            "new_batch": st.sampled_from(["round", "cycle"]),
            "scatter": st.sampled_from(["unicast", "broadcast"]),
            "scc": st.sampled_from(["on", "off", "oracle"]),
        }
    ),
    st.fixed_dictionaries({"name": st.just("hfedms-s"), "beta": st.integers(1, 10)}),
)


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    cells = [{"name": f"cell{i}", "profile": draw(profiles)} for i in range(draw(st.integers(1, 3)))]
    return tiny_scenario(
        seed=draw(st.integers(0, 1000)),
        rounds=draw(st.integers(1, 6)),
        sensors={"count": draw(st.integers(1, 30))},
        cells=cells,
        backbone={"latency_s": draw(st.sampled_from([0.0, 0.05]))},
        strategy=draw(strategies),
    )


def busiest_airtime_share(result: RunResult) -> float:
    """The most airtime any pool has served by the end of any transfer, as a share of what it had since its first."""
    worst = 0.0
    transfers = result.transfers
    for cell in result.scenario.cells:
        if cell.profile.channels == "dedicated":
            continue
        rows = transfers[transfers["cell"] == cell.name]
        pools = [rows] if cell.profile.duplex == "cell-half" else [part for _, part in rows.groupby("direction")]
        for pool in pools:
            done_s = (pool["end_s"] - cell.profile.latency_s).to_numpy()
            order = np.argsort(done_s, kind="stable")
            served_s = np.cumsum(pool["airtime_s"].to_numpy()[order])
            elapsed_s = done_s[order] - pool["start_s"].min()
            worst = max(worst, float(np.max(served_s / (cell.profile.channels * elapsed_s), initial=0.0)))
    return worst


@pytest.mark.thorough
@settings(max_examples=120, deadline=None)
@given(scenarios())
def test_every_run_obeys_the_laws(scenario: Scenario) -> None:
    result = run(scenario, timing_only=True)
    rounds, transfers, work = result.rounds, result.transfers, result.work
    _bytes_are_conserved(result, rounds, transfers)
    _time_does_not_run_back(rounds, transfers, work)
    assert busiest_airtime_share(result) <= 1 + 1e-9
    assert (result.utilisation <= 1 + 1e-9).all()


def _bytes_are_conserved(result: RunResult, rounds: pd.DataFrame, transfers: pd.DataFrame) -> None:
    sent = transfers.groupby("direction")["bytes"].sum()
    assert rounds["uplink_bytes"].sum() == sent.get("up", 0) == result.summary["bytes"]["up"]
    assert rounds["downlink_bytes"].sum() == sent.get("down", 0) == result.summary["bytes"]["down"]
    chained = transfers[transfers["group"] >= 0]
    for (_, _), chain in chained.groupby(["round", "group"]):
        received = chain[chain["direction"] == "down"]["sensor"].tolist()
        sent_on = chain[chain["direction"] == "up"]["sensor"].tolist()
        assert received == sent_on  # whoever gets the model hands it on, in order
        assert chain["source"].iloc[0] == SERVER
        assert chain["target"].iloc[-1] == SERVER
        assert chain["bytes"].nunique() == 1


def _time_does_not_run_back(rounds: pd.DataFrame, transfers: pd.DataFrame, work: pd.DataFrame) -> None:
    assert (rounds["start_s"].to_numpy()[1:] == rounds["end_s"].to_numpy()[:-1]).all()
    assert (transfers["ready_s"] <= transfers["start_s"]).all()
    assert (transfers["start_s"] + transfers["airtime_s"] <= transfers["end_s"] * (1 + 1e-12) + 1e-12).all()
    assert transfers["end_s"].is_monotonic_increasing
    assert (work["start_s"] <= work["end_s"]).all()
    bounds = rounds.set_index("round")
    for table in (transfers, work):
        assert (table["end_s"] <= table["round"].map(bounds["end_s"])).all()
        assert (table["start_s"] >= table["round"].map(bounds["start_s"])).all()


@settings(max_examples=25, deadline=None)
@given(scenarios())
def test_the_same_seed_gives_the_same_tables_bit_for_bit(scenario: Scenario) -> None:
    first, second = (run(scenario, timing_only=True) for _ in range(2))
    for name in ("rounds", "transfers", "work", "captures", "faults"):
        assert first.arrow(name).equals(second.arrow(name))


@settings(max_examples=25, deadline=None)
@given(scenarios(), profiles)
def test_another_profile_leaves_every_draw_and_the_lineage_untouched(
    scenario: Scenario, profile: dict[str, Any]
) -> None:
    cells = [{"name": cell.name, "profile": profile} for cell in scenario.cells]
    other = scenario_of(scenario.model_dump(mode="json") | {"cells": cells})
    before, after = run(scenario, timing_only=True), run(other, timing_only=True)
    assert before.rounds["lineage"].equals(after.rounds["lineage"])
    columns = ["round", "sensor", "first_arrival", "captured"]
    assert _as_set(before.captures, columns) == _as_set(after.captures, columns)
    columns = ["round", "group", "hop", "source", "target", "payload", "bytes"]
    assert _as_set(before.transfers, columns) == _as_set(after.transfers, columns)


@settings(max_examples=25, deadline=None)
@given(scenarios())
def test_one_more_sensor_moves_nobody_elses_captures(scenario: Scenario) -> None:
    """Who is selected may change; what a sensor captures in a round may not."""
    grown = scenario.model_copy(
        update={"sensors": scenario.sensors.model_copy(update={"count": scenario.sensors.count + 1})}
    )
    columns = ["round", "sensor", "first_arrival", "captured"]
    before, after = (run(each, timing_only=True).captures[columns].drop_duplicates() for each in (scenario, grown))
    both = before.merge(after, on=["round", "sensor"])
    assert (both["first_arrival_x"] == both["first_arrival_y"]).all()
    assert (both["captured_x"] == both["captured_y"]).all()


@pytest.mark.parametrize("seed", [1, 2])
def test_another_seed_selects_others(seed: int) -> None:
    scenario = tiny_scenario(sensors={"count": 40})
    other = scenario.model_copy(update={"seed": scenario.seed + seed})
    first, second = (run(each, timing_only=True).work["sensor"].tolist() for each in (scenario, other))
    assert first != second


def _as_set(frame: pd.DataFrame, columns: list[str]) -> set[tuple[Any, ...]]:
    return set(frame[columns].itertuples(index=False, name=None))
