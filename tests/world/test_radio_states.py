"""Every state of a radio on a timeline worked out by hand.

The radio of all tests: a kilobyte takes 1 s up and 0.5 s down, a set-up 0.5 s, latency is 0.25 s, the timer 10 s. At
1 V, asleep it takes 1 mW, connected 10, receiving 100, transmitting 1000: seconds can be read off the joules. Sensor 3
does everything, until 200 s have passed.
"""

from typing import Any

import numpy as np
import pytest
from simpy import Environment
from simpy.events import ProcessGenerator

from hfedms_sim.rounds import Direction
from hfedms_sim.seeds import Draws
from hfedms_sim.trace import Trace
from hfedms_sim.world.energy.ledger import Ledger
from hfedms_sim.world.energy.meter import RoundEnergy, States
from hfedms_sim.world.energy.sensor_energy import SensorEnergy, sensor_energy
from tests.world.cells import SEED, SENSORS, make_cell, transfer

SENSOR, END_S = 3, 200.0
U = Draws(SEED).one_uniform("paging", SENSOR)  # its phase, as a share of any cycle
CURRENTS = {"voltage_v": 1.0, "sleep_ma": 1.0, "connected_ma": 10.0, "receive_ma": 100.0, "transmit_ma": 1000.0}
LTE_M = {"setup_s": 0.5, "latency_s": 0.25, "inactivity_s": 10.0}
FRAMES = {
    "uplink_payload_bytes": 500, "downlink_payload_bytes": 500, "uplink_frame_s": 2.0, "downlink_frame_s": 1.0,
    "uplink_silence_s": 20.0, "downlink_silence_s": 0.0,
}  # fmt: skip

Script = list[tuple[float, Direction]]


class Played:
    """What sensor 3 spent, and its transfers."""

    def __init__(self, script: Script, currents: dict[str, float], radio: dict[str, Any]) -> None:
        env, trace, ledger = Environment(0.0), Trace(), Ledger(SENSORS)
        cell = make_cell(env, trace, ledger, energy=CURRENTS | currents, **radio)

        def act() -> ProcessGenerator:
            for time_s, direction in script:
                yield env.timeout(time_s - env.now)
                yield from cell.transmit(transfer(direction, SENSOR))

        env.process(act())
        env.run(until=END_S)
        energy = cell.end_round()
        assert energy is not None
        assert cell.meter is not None
        self.cell: RoundEnergy = energy
        ledger.settle()
        cells = np.zeros(SENSORS, dtype=np.int64)
        self.energy: SensorEnergy = sensor_energy(ledger, [cell.meter.power], cells, END_S)
        self.states = States(*(float(state[SENSOR]) for state in self.energy[:7]))
        self.moments = [
            (row["ready_s"], row["start_s"], row["end_s"]) for row in trace.transfers.gathered().to_pylist()
        ]


def played(script: Script, currents: dict[str, float] | None = None, **radio: Any) -> Played:
    """Play the script; the other 19 sensors are at rest all the time, and the cell has the sum of all."""
    result = Played(script, currents or {}, LTE_M | radio)
    for state, by_sensor in zip(result.cell.joules, result.energy[:7], strict=True):
        assert state == pytest.approx(float(by_sensor.sum()), abs=1e-9)
    assert sum(result.cell.seconds) == pytest.approx(SENSORS * END_S)
    rest_j = float(result.energy.rest_w[0]) * END_S
    assert np.delete(result.energy.total_j, SENSOR) == pytest.approx(np.full(SENSORS - 1, rest_j))
    return result


def watts(transmit: float = 0.0, receive: float = 0.0, connected: float = 0.0, sleep: float = 0.0) -> States:
    """Return the joules of so many seconds in these states."""
    return States(transmit=transmit, receive=0.1 * receive, connected=0.01 * connected, sleep=0.001 * sleep)


def test_lte_m_in_c_drx() -> None:
    """Up at 20: set-up until 20.5, airtime until 21.5, delivered 21.75, kept until 31.75. Down at 25, within the timer:
    airtime until 25.5, delivered 25.75, kept until 35.75. Connected 20 to 35.75 = 15.75 s, of which set-up 0.5, sent 1,
    received 0.5: 13.75 s without airtime; 200 - 15.75 s asleep."""
    radio = played([(20.0, "up"), (25.0, "down")])
    assert radio.moments == [(20.0, 20.5, 21.75), (25.0, 25.0, 25.75)]
    assert radio.states == pytest.approx(watts(1, 0.5, 13.75, 184.25)._replace(setup=0.5 * 0.01))


def test_lte_m_with_release_assistance() -> None:
    """Released at 21.75. Down at 25 sets up again: airtime 25.5 to 26, delivered 26.25, kept until 36.25 as ever.
    Connected 1.75 + 11.25 = 13 s, of which set-ups 1, sent 1, received 0.5: 10.5 s without airtime; 187 s asleep."""
    radio = played([(20.0, "up"), (25.0, "down")], release_assistance=True)
    assert radio.moments == [(20.0, 20.5, 21.75), (25.0, 25.5, 26.25)]
    assert radio.states == pytest.approx(watts(1, 0.5, 10.5, 187)._replace(setup=1.0 * 0.01))


def test_a_downlink_finds_a_sensor_released_that_has_just_sent_with_release_assistance() -> None:
    """Delivered at 21.75, and the downlink is ready in the same moment: it sets up all the same."""
    assert played([(20.0, "up"), (21.75, "down")], release_assistance=True).moments[1] == (21.75, 22.25, 23.0)
    assert played([(20.0, "up"), (21.75, "down")]).moments[1] == (21.75, 21.75, 22.5)


def test_lte_m_in_edrx() -> None:
    """Pages at p + 10 k, 0 <= p < 10. Up at 20: connected until 31.75. Down ready at p + 43 waits 7 s for p + 50, sets
    up, airtime p + 50.5 to p + 51, delivered p + 51.25, kept until p + 61.25. Connected 11.75 + 11.25 = 23 s, of which
    set-ups 1, sent 1, received 0.5: 20.5 s without airtime; 177 s idle at 1 mW + 50 mJ / 10 s = 6 mW."""
    page_s = 10 * U + 50
    radio = played([(20.0, "up"), (page_s - 7, "down")], {"page_j": 0.05}, idle={"mode": "edrx", "cycle_s": 10.0})
    assert radio.moments[1] == pytest.approx((page_s - 7, page_s + 0.5, page_s + 1.25))
    assert radio.states == pytest.approx(watts(1, 0.5, 20.5)._replace(setup=0.01, idle=177 * 0.006))


def test_an_uplink_never_waits_for_a_page() -> None:
    assert played([(20.0, "up")], idle={"mode": "drx", "cycle_s": 40.0}).moments == [(20.0, 20.5, 21.75)]


def test_lte_m_in_psm() -> None:
    """A set-up from idle is 0.2 J, from PSM 0.3 J and 1.5 s more. Up at 20, from PSM: set-up until 22, airtime until
    23, delivered 23.25, kept until 33.25, can be paged until 37.25. Down at 34 waits for the page q, 34 <= q < 36;
    set-up 0.5, airtime 0.5, latency 0.25, timer 10: kept until q + 11.25, paged until q + 15.25, in PSM from then on.
    Connected 13.25 + 11.25 = 24.5 s, of which set-ups 2 + 0.5, sent 1, received 0.5: 20.5 s without airtime. Idle
    (q - 33.25) + 4 s at 1 mW + 6 mJ / 2 s = 4 mW; asleep 20 + 200 - (q + 15.25) s."""
    page_s = 34 + (2 * U - 34) % 2
    idle = {"mode": "psm", "cycle_s": 2.0, "active_s": 4.0, "wake_s": 1.5}
    currents = {"setup_j": 0.2, "wake_j": 0.3, "page_j": 0.006}
    radio = played([(20.0, "up"), (34.0, "down")], currents, idle=idle)
    assert radio.moments[0] == (20.0, 22.0, 23.25)
    assert radio.moments[1] == pytest.approx((34.0, page_s + 0.5, page_s + 1.25))
    expected = watts(1, 0.5, 20.5, 20 + 200 - (page_s + 15.25))
    assert radio.states == pytest.approx(expected._replace(setup=0.2 + 0.3 + 0.2, idle=(page_s - 29.25) * 0.004))


def test_a_sensor_in_psm_wakes_when_it_is_wanted_or_by_itself() -> None:
    """It knows its schedule: down at 100 sets up for 0.5 + 1.5 s. Or it wakes at w + 60 k: down at 100 waits for that,
    and each wake-up costs its set-up, 0.5 J a minute, on top of 1 mW asleep. Connected 2 + 0.5 + 0.25 + 10 s."""
    currents = {"setup_j": 0.2, "wake_j": 0.3}
    knows = played([(100.0, "down")], currents, idle={"mode": "psm", "wake_s": 1.5})
    assert knows.moments == [(100.0, 102.0, 102.75)]
    assert knows.states == pytest.approx(watts(0, 0.5, 10.25, 187.25)._replace(setup=0.5))
    woken_s = 100 + (60 * U - 100) % 60
    waits = played([(100.0, "down")], currents, idle={"mode": "psm", "wake_s": 1.5, "wake_every_s": 60.0})
    assert waits.moments == [pytest.approx((100.0, woken_s + 2, woken_s + 2.75))]
    asleep_w = 0.001 + 0.5 / 60
    assert waits.states == pytest.approx(watts(0, 0.5, 10.25)._replace(setup=0.5, sleep=187.25 * asleep_w))


def test_a_page_that_comes_after_the_active_time_comes_too_late() -> None:
    """Kept until 33.25 (as above), paged until 33.75; the next of 100 s is later, so a downlink at 33.5 waits for the
    sensor to wake, every 7 s."""
    idle = {"mode": "psm", "cycle_s": 100.0, "active_s": 0.5, "wake_every_s": 7.0, "wake_s": 1.5}
    woken_s = 33.5 + (7 * U - 33.5) % 7
    radio = played([(20.0, "up"), (33.5, "down")], idle=idle)
    assert radio.moments[1] == pytest.approx((33.5, woken_s + 2, woken_s + 2.75))


def test_nb_iot_with_release_assistance_in_edrx_and_a_transmitter_that_is_on_for_a_part_of_its_airtime() -> None:
    """Up at 20: set-up 0.4 J until 22.5, airtime until 23.5 (the transmitter on for 0.6 s), delivered 23.75, released.
    Down ready 3 s before the page at p + 80: set-up p + 80 to p + 82.5, airtime until p + 83, delivered p + 83.25, kept
    until p + 88.25. Connected 3.75 + 8.25 = 12 s, of which set-ups 5, airtime 1.5; 5.5 + 0.4 s at connected power."""
    page_s = 20 * U + 80
    idle = {"mode": "edrx", "cycle_s": 20.0}
    currents = {"setup_j": 0.4, "page_j": 0.1, "transmit_duty": 0.6}
    radio = played(
        [(20.0, "up"), (page_s - 3, "down")],
        currents, idle=idle, setup_s=2.5, inactivity_s=5.0, release_assistance=True,
    )  # fmt: skip
    assert radio.moments[1] == pytest.approx((page_s - 3, page_s + 2.5, page_s + 3.25))
    assert radio.states == pytest.approx(watts(0.6, 0.5, 5.9)._replace(setup=0.8, idle=188 * 0.006))
    assert radio.cell.transfers_j == pytest.approx(0.6 + 0.4 * 0.01 + 0.5 * 0.1)


def test_a_radio_that_listens_is_reachable_at_once_at_the_power_of_reception() -> None:
    radio = played([(20.0, "down")], idle={"mode": "listening"}, setup_s=0.0)
    assert radio.moments == [(20.0, 20.0, 20.75)]
    assert radio.states == pytest.approx(watts(0, 0.5, 0.25 + 10)._replace(idle=189.25 * 0.1))


@pytest.mark.parametrize(("idle", "state", "rest_w"), [(None, "sleep", 0.001), ({"mode": "listening"}, "idle", 0.1)])
def test_a_radio_of_frames_rests_in_its_silences(idle: dict[str, str] | None, state: str, rest_w: float) -> None:
    """Two frames of 2 s, 20 s apart, and a downlink of two frames of 1 s at 100: 6 s of airtime, 194 s at rest."""
    radio = played(
        [(20.0, "up"), (100.0, "down")], idle=idle, frames=FRAMES, setup_s=0.0, inactivity_s=0.0, latency_s=0.0
    )
    assert radio.moments == [(20.0, 20.0, 44.0), (100.0, 100.0, 102.0)]
    assert radio.states == pytest.approx(watts(4, 2)._replace(**{state: 194 * rest_w}))


def test_a_medium_can_bill_what_its_radios_do_beside_airtime() -> None:
    """A window of 0.5 s and 2 s of waiting for it: they were rest before, and belong to no transfer."""
    env, ledger = Environment(0.0), Ledger(SENSORS)
    cell = make_cell(env, None, ledger, energy=CURRENTS)
    assert cell.meter is not None
    assert cell.meter.bill(SENSOR, "receive", 0.5) == pytest.approx(0.05)
    assert cell.meter.bill(SENSOR, "connected", 2.0) == pytest.approx(0.02)
    env.run(until=10.0)
    energy = cell.end_round()
    assert energy is not None
    assert energy.transfers_j == 0.0
    asleep_s = 10.0 * SENSORS - 2.5
    assert energy.seconds == States(receive=0.5, connected=2.0, sleep=asleep_s)
    assert energy.baseline_j == pytest.approx(0.07 + asleep_s * 0.001) == pytest.approx(sum(energy.joules))
    ledger.settle()
    own = sensor_energy(ledger, [cell.meter.power], np.zeros(SENSORS, dtype=np.int64), 10.0)
    assert own.total_j[SENSOR] == pytest.approx(0.07 + 7.5 * 0.001)
