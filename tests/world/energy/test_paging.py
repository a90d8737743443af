"""Pages: who waits how long, the same on every radio, and nothing left behind by an interrupt."""

from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
import pytest
from simpy import Environment, Interrupt, Process
from simpy.events import ProcessGenerator

from hfedms_sim.rounds import EVERYONE, SERVER, Hop, Payload
from hfedms_sim.scenario import Idle, Scenario
from hfedms_sim.seeds import Draws
from hfedms_sim.simulation import run
from hfedms_sim.trace import Trace
from hfedms_sim.transfers import Transfer
from hfedms_sim.world.cell import Cell
from hfedms_sim.world.energy.paging import Paging
from tests.conftest import tiny_scenario
from tests.world.cells import SEED, SENSORS, make_cell, transfer

CYCLE_S = 40.0
EDRX = {"mode": "edrx", "cycle_s": CYCLE_S}
CURRENTS = {"voltage_v": 1.0, "sleep_ma": 1.0, "connected_ma": 10.0, "receive_ma": 100.0, "transmit_ma": 1000.0}


def next_page_s(sensor: int, now_s: float) -> float:
    """Return the first of phase, phase + cycle, ... that is not before now."""
    page_s = CYCLE_S * Draws(SEED).one_uniform("paging", sensor)
    while page_s < now_s:
        page_s += CYCLE_S
    return page_s


@pytest.mark.parametrize("idle", [EDRX, {"mode": "psm", "wake_every_s": CYCLE_S}], ids=str)
def test_the_mean_wait_is_half_a_cycle(idle: dict[str, Any]) -> None:
    """A uniform wait has mean cycle / 2 and variance cycle squared / 12; the interval of 99.9 % is 3.29 sigma."""
    paging, sensors = Paging(Idle(**idle), Draws(7)), 4_000
    waits_s = np.array([paging.wait_s(sensor, -1e9, 12_345.6) for sensor in range(sensors)])
    assert (waits_s >= 0).all()
    assert (waits_s < CYCLE_S).all()
    assert abs(waits_s.mean() - CYCLE_S / 2) < 3.29 * CYCLE_S / sqrt(12 * sensors)
    assert waits_s.var() == pytest.approx(CYCLE_S**2 / 12, rel=0.05)


def factory(strategy: dict[str, Any], **radio: Any) -> Scenario:
    """Every sensor has a channel of its own, so that airtime begins with the page."""
    profile = {"name": "p", "uplink_bps": 1e6, "downlink_bps": 1e6, "channels": "dedicated", "idle": EDRX} | radio
    cells = [{"name": "hall", "profile": profile}]
    return tiny_scenario(cells=cells, sensors={"count": 300}, rounds=3, strategy=strategy)


def pages_of(scenario: Scenario) -> pd.DataFrame:
    """Return the downlinks that waited, with the phase at which their airtime began."""
    rows = run(scenario, timing_only=True).transfers
    rows = rows[(rows["direction"] == "down") & (rows["start_s"] > rows["ready_s"])]
    return rows.assign(wait_s=rows["start_s"] - rows["ready_s"], phase_s=rows["start_s"] % CYCLE_S)


def test_the_downlinks_of_a_run_wait_half_a_cycle_in_the_mean() -> None:
    pages = pages_of(factory({"name": "fedavg", "sample_ratio": 1.0}))
    first = pages[pages["round"] == 1]
    assert len(first) > 290
    assert abs(first["wait_s"].mean() - CYCLE_S / 2) < 3.29 * CYCLE_S / sqrt(12 * len(first))


def test_a_sensor_has_the_same_phase_on_every_radio_and_under_every_strategy() -> None:
    chains = {"name": "hfedms-d", "interval": 3, "beta": 20, "sample_ratio": 0.5}
    runs = [
        factory({"name": "fedavg", "sample_ratio": 0.3}),
        factory({"name": "fedavg", "sample_ratio": 0.9}, uplink_bps=2e4, duplex="device-half", inactivity_s=1.0),
        factory(chains, release_assistance=True),
    ]
    for scenario in runs:
        pages = pages_of(scenario)
        expected_s = CYCLE_S * Draws(scenario.seed).uniform("paging", pages["sensor"].to_numpy())
        off_s = np.abs(pages["phase_s"].to_numpy() - expected_s)
        assert len(pages) > 50
        assert np.minimum(off_s, CYCLE_S - off_s).max() < 1e-6


def test_a_broadcast_waits_for_the_last_of_its_listeners(env: Environment) -> None:
    trace = Trace()
    cell = make_cell(env, trace, idle=EDRX, setup_s=1.0, energy=CURRENTS)
    listeners = tuple(range(5))
    everyone = Transfer(1, 1, 0, Hop(-1, SERVER, EVERYONE), "down", Payload("scatter", 1_000), EVERYONE, listeners)
    env.run(until=100.0)
    env.run(env.process(cell.transmit(everyone)))
    last_s = max(next_page_s(sensor, 100.0) for sensor in listeners)
    (row,) = trace.transfers.gathered().to_pylist()
    assert (row["start_s"], row["end_s"]) == pytest.approx((last_s + 1.0, last_s + 1.5))
    energy = cell.end_round()
    assert energy is not None
    assert (energy.seconds.setup, energy.seconds.receive) == pytest.approx((5 * 1.0, 5 * 0.5))
    assert energy.seconds.idle == pytest.approx(SENSORS * env.now - 5 * 1.5)


def test_a_broadcast_to_connected_listeners_does_not_wait(env: Environment) -> None:
    cell = make_cell(env, idle=EDRX)
    env.run(env.process(cell.transmit(transfer("up", 1))))
    env.run(env.process(cell.transmit(transfer("down", 1))))
    assert env.now == 1.5


def interrupted(env: Environment, cell: Cell, one: Transfer, time_s: float) -> None:
    """Carry out a transfer and interrupt it at this time; wait until then."""

    def breaker(process: Process) -> ProcessGenerator:
        yield env.timeout(time_s - env.now)
        process.interrupt("a fault")
        try:
            yield process
        except Interrupt:
            return

    env.run(env.process(breaker(env.process(cell.transmit(one)))))


def test_an_interrupt_in_the_wait_for_a_page_leaves_a_row_and_nothing_else(env: Environment) -> None:
    """The next downlink waits for the same page as if nothing had been, and idle time goes on."""
    trace = Trace()
    cell = make_cell(env, trace, idle=EDRX, setup_s=1.0, energy=CURRENTS, release_assistance=True)
    page_s = next_page_s(1, 100.0)
    env.run(until=page_s - 5.0)
    interrupted(env, cell, transfer("down", 1), page_s - 2.0)
    (row,) = trace.transfers.gathered().to_pylist()
    assert (row["outcome"], row["airtime_s"], row["energy_j"]) == ("aborted", 0.0, 0.0)
    assert (row["ready_s"], row["start_s"], row["end_s"]) == (page_s - 5.0, page_s - 2.0, page_s - 2.0)
    energy = cell.end_round()
    assert energy is not None
    assert energy.seconds == pytest.approx((0, 0, 0, 0, SENSORS * env.now, 0, 0))
    env.run(env.process(cell.transmit(transfer("down", 1))))
    assert env.now == pytest.approx(page_s + 1.5)
    env.run(env.process(cell.transmit(transfer("up", 1))))
    assert env.now == pytest.approx(page_s + 2.5)
    assert cell.connections.page_wait_s([1], env.now) > 0  # released by its uplink: nothing is under way any more


def test_an_interrupted_set_up_from_psm_costs_the_share_of_it_that_was_done(env: Environment) -> None:
    """A set-up of 1 + 3 s and 2 J is given up after 1 s: 0.5 J; the sensor is released and in PSM again."""
    currents = CURRENTS | {"setup_j": 1.5, "wake_j": 0.5}
    cell = make_cell(env, idle={"mode": "psm", "wake_s": 3.0}, setup_s=1.0, energy=currents)
    env.run(until=10.0)
    interrupted(env, cell, transfer("down", 1), 11.0)
    env.run(until=20.0)
    energy = cell.end_round()
    assert energy is not None
    assert (energy.joules.setup, energy.seconds.setup, energy.seconds.connected) == pytest.approx((0.5, 1.0, 0.0))
    assert energy.seconds.sleep == pytest.approx(SENSORS * 20.0 - 1.0)


def test_release_assistance_waits_for_what_else_the_sensor_has_under_way(env: Environment) -> None:
    """Half a kilobyte sets up until 1; two kilobytes of the same sensor do not wait for that. They have the air alone
    until 1, share it until 2, when the short one is delivered, and need 0.5 s more: connected from 0 to 2.5."""
    cell = make_cell(env, energy=CURRENTS, release_assistance=True, setup_s=1.0, inactivity_s=10.0)
    for payload in (Payload("report", 500), Payload("model", 2_000)):
        env.process(cell.transmit(transfer("up", 1, payload)))
    env.run(until=100.0)
    energy = cell.end_round()
    assert energy is not None
    assert SENSORS * 100.0 - energy.seconds.sleep == pytest.approx(2.5)
