"""Energy through a whole run: rows, rounds and summary agree, and nothing is negative."""

from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hfedms_sim.limits import limits_of
from hfedms_sim.loading import load_scenario
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import parts_of, run
from hfedms_sim.simulation.session import Session
from hfedms_sim.trace import Trace
from hfedms_sim.world.world import World
from tests.conftest import FAST, tiny_scenario

CURRENTS = {"voltage_v": 3.6, "sleep_ma": 0.003, "connected_ma": 6.0, "receive_ma": 46.0, "transmit_ma": 220.0}


@settings(max_examples=30, deadline=None)
@given(
    profile=st.fixed_dictionaries(
        {
            "setup_s": st.sampled_from([0.0, 0.8]),
            "inactivity_s": st.sampled_from([0.0, 10.0, 1e4]),
            "latency_s": st.sampled_from([0.0, 0.1]),
            "blocks": st.sampled_from([None, {"uplink_bits": 1000, "downlink_bits": 680, "error_rate": 0.1}]),
            "sharing": st.sampled_from(["fair", "fifo"]),
            "duplex": st.sampled_from(["full", "device-half", "cell-half"]),
        }
    ),
    device=st.sampled_from(["instant", "mcu"]),
    scatter=st.sampled_from(["unicast", "broadcast"]),
)
def test_rows_add_up_to_rounds_and_rounds_to_the_summary(profile: dict[str, Any], device: str, scatter: str) -> None:
    cells = [{"name": name, "profile": FAST | profile | {"energy": CURRENTS}} for name in "ab"]
    strategy = {"name": "hfedms-d", "interval": 3, "beta": 2, "sample_ratio": 0.5, "scatter": scatter}
    result = run(tiny_scenario(cells=cells, compute={"device": device}, strategy=strategy), timing_only=True)
    rounds, transfers, work = result.rounds, result.transfers, result.work
    by_round = transfers.groupby("round")["energy_j"].sum() + work.groupby("round")["energy_j"].sum()
    assert (rounds["energy_j"] - rounds["baseline_energy_j"]).tolist() == pytest.approx(by_round.tolist(), rel=1e-9)
    assert result.summary["energy_j"] == pytest.approx(rounds["energy_j"].sum())
    assert rounds["retransmitted_bytes"].sum() == transfers["retransmitted_bytes"].sum()
    for column in (rounds["baseline_energy_j"], transfers["energy_j"], work["energy_j"]):
        assert (column >= 0).all()


def test_one_cell_without_figures_leaves_the_rounds_energy_open() -> None:
    cells = [{"name": "a", "profile": FAST | {"energy": CURRENTS}}, {"name": "b", "profile": FAST}]
    result = run(tiny_scenario(cells=cells), timing_only=True)
    assert result.summary["energy_j"] is None
    assert result.rounds["energy_j"].isna().all()
    assert result.transfers.groupby("cell")["energy_j"].count().to_dict()["a"] > 0


STATES = ("transmit", "receive", "connected", "setup", "idle", "sleep", "compute")
SET_UPS = {"page_j": 0.01, "setup_j": 0.5, "wake_j": 0.2, "transmit_duty": 0.4}
IDLE_MODES: list[dict[str, Any] | None] = [
    None,
    {"mode": "listening"},
    {"mode": "drx", "cycle_s": 1.28},
    {"mode": "edrx", "cycle_s": 81.92},
    {"mode": "psm"},
    {"mode": "psm", "cycle_s": 2.56, "active_s": 8.0, "wake_s": 1.5},
    {"mode": "psm", "cycle_s": 2.56, "active_s": 8.0, "wake_s": 1.5, "wake_every_s": 600.0},
]


def played(scenario: Scenario) -> tuple[Session, World, Trace]:
    trace = Trace()
    session = Session(scenario, parts_of(scenario), trace, threads=1, device="cpu", store=None)
    session.play(lambda progress: None, inf)
    return session, session.world, trace


@settings(max_examples=40, deadline=None)
@given(
    idle=st.sampled_from(IDLE_MODES),
    profile=st.fixed_dictionaries(
        {
            "release_assistance": st.booleans(),
            "setup_s": st.sampled_from([0.0, 0.8]),
            "inactivity_s": st.sampled_from([0.0, 3.0, 1e4]),
            "latency_s": st.sampled_from([0.0, 0.1]),
            "duplex": st.sampled_from(["full", "device-half", "cell-half"]),
        }
    ),
    currents=st.sampled_from([{}, SET_UPS]),
    device=st.sampled_from(["instant", "mcu"]),
    scatter=st.sampled_from(["unicast", "broadcast"]),
    seed=st.integers(1, 5),
)
def test_joules_of_states_and_of_sensors_add_up_to_the_total(
    idle: dict[str, Any] | None,
    profile: dict[str, Any],
    currents: dict[str, float],
    device: str,
    scatter: str,
    seed: int,
) -> None:
    radio = FAST | profile | {"idle": idle, "energy": CURRENTS | currents}
    cells = [{"name": "a", "profile": radio}, {"name": "b", "profile": FAST | {"energy": CURRENTS}}]
    strategy = {"name": "hfedms-d", "interval": 3, "beta": 2, "sample_ratio": 0.5, "scatter": scatter}
    scenario = tiny_scenario(cells=cells, compute={"device": device}, strategy=strategy, seed=seed)
    session, world, trace = played(scenario)
    rounds, summary = (
        trace.rounds.gathered().to_pandas(),
        session.summary(1.0, limits_of(scenario, trace.tables())),
    )
    by_state = rounds[[f"{state}_j" for state in STATES]]
    assert by_state.sum(axis=1).to_numpy() == pytest.approx(rounds["energy_j"].to_numpy(), rel=1e-9)
    assert (by_state.to_numpy() >= 0).all()
    assert list(summary["energy_by_state"].values()) == pytest.approx(by_state.sum().tolist(), rel=1e-9)
    spent = world.energy_of_sensors()
    for state, joules in zip(STATES, by_state.sum().tolist(), strict=True):
        assert getattr(spent, state).sum() == pytest.approx(joules, rel=1e-6, abs=1e-9)
    assert (np.array(spent[:7]) >= 0).all()
    assert spent.total_j.sum() == pytest.approx(summary["energy_j"], rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(
    idle=st.sampled_from(IDLE_MODES),
    release_assistance=st.booleans(),
    inactivity_s=st.sampled_from([0.0, 3.0, 1e4]),
    setup_s=st.sampled_from([0.0, 0.8]),
    strategy=st.sampled_from(["fedavg", "hfedms-s", "hfedms-d"]),
)
def test_the_seconds_of_the_states_add_up_to_sensors_times_elapsed(
    idle: dict[str, Any] | None, release_assistance: bool, inactivity_s: float, setup_s: float, strategy: str
) -> None:
    """With every current alike, and nothing billed by the event, joules are seconds."""
    alike = {"voltage_v": 1.0} | dict.fromkeys(("sleep_ma", "connected_ma", "receive_ma", "transmit_ma"), 1e3)
    radio = {"idle": idle, "release_assistance": release_assistance, "inactivity_s": inactivity_s, "setup_s": setup_s}
    if idle is not None and "wake_every_s" in idle:
        radio["idle"] = {key: value for key, value in idle.items() if key != "wake_every_s"}
    cells = [{"name": "a", "profile": FAST | radio | {"energy": alike}}]
    _, world, trace = played(tiny_scenario(cells=cells, strategy={"name": strategy}))
    rounds = trace.rounds.gathered().to_pandas()
    seconds = rounds["energy_j"] - rounds["compute_j"]
    assert seconds.tolist() == pytest.approx((8 * (rounds["end_s"] - rounds["start_s"])).tolist(), rel=1e-9)
    assert (world.energy_of_sensors().total_j).tolist() == pytest.approx([world.now_s] * 8, rel=1e-9)


def test_sensors_of_a_cell_without_figures_have_no_joules_and_those_of_others_do() -> None:
    """Sensors take the two cells in turn."""
    cells = [{"name": "a", "profile": FAST | {"energy": CURRENTS}}, {"name": "b", "profile": FAST}]
    scenario = tiny_scenario(cells=cells)
    session, world, trace = played(scenario)
    spent = world.energy_of_sensors()
    assert np.isnan(spent.total_j).tolist() == [False, True] * 4
    rows = trace.transfers.gathered().to_pandas()
    airtime_j = rows[rows["direction"] == "up"].groupby("sensor")["energy_j"].sum()
    assert spent.transmit[::2].tolist() == pytest.approx([airtime_j.get(sensor, 0.0) for sensor in range(0, 8, 2)])
    summary = session.summary(1.0, limits_of(scenario, trace.tables()))
    assert (summary["energy_by_state"], summary["battery_life"]) == (None, None)
    assert trace.rounds.gathered()["transmit_j"].null_count == 6


@pytest.mark.parametrize("scenario", ["quickstart", "assembly-hall", "lorawan-yard"])
def test_the_sensors_joules_add_up_to_those_of_the_run_state_by_state(scenario: str) -> None:
    result = run(load_scenario(scenario, rounds=6), timing_only=True)
    for state, spent_j in result.summary["energy_by_state"].items():
        assert result.sensors[f"{state}_j"].sum() == pytest.approx(spent_j, rel=1e-9), state
