"""Joules by hand: every second of every sensor is transmitting, receiving, idle or asleep."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from simpy import Environment

from hfedms_sim.rounds import Direction
from hfedms_sim.scenario import Currents
from hfedms_sim.world.energy.connections import Connections
from hfedms_sim.world.energy.ledger import Ledger
from hfedms_sim.world.energy.meter import EnergyMeter, RoundEnergy

# At 1 V a milliampere is a milliwatt: distinct decades, so that a sum shows its parts.
CURRENTS = Currents(voltage_v=1.0, sleep_ma=1.0, connected_ma=1e3, receive_ma=1e6, transmit_ma=1e9)


class Radios:
    """Connections and a meter as a cell has them."""

    def __init__(self, currents: Currents, inactivity_s: float, sensors: int, *, frames: bool = False) -> None:
        self._meter = EnergyMeter(currents, sensors, Ledger(sensors))
        self._connections = Connections(
            Environment(0.0), 0.0, inactivity_s, sleeps_while_waiting=frames, meter=self._meter
        )

    def use(self, sensor: int, direction: Direction, ready_s: float, end_s: float, airtime_s: float) -> float:
        self._connections.set_up([sensor], ready_s)
        self._connections.use([sensor], end_s, airtime_s)
        return self._meter.transfer(direction, airtime_s, [sensor])

    def begin(self, sensor: int, ready_s: float) -> None:
        self._connections.set_up([sensor], ready_s)

    def abandon_set_up(self, sensor: int, now_s: float) -> None:
        self._connections.abandon_set_up([sensor], now_s)

    def end_round(self, now_s: float) -> RoundEnergy:
        return self._meter.end_round(now_s, self._connections.collect(now_s))


def meter(sensors: int = 1, inactivity_s: float = 10.0) -> Radios:
    return Radios(CURRENTS, inactivity_s, sensors)


def test_a_transfer_takes_its_airtime_at_the_current_of_its_direction() -> None:
    one = meter()
    assert one.use(0, "up", 0.0, 2.0, 2.0) == pytest.approx(2e6)
    assert one.use(0, "down", 2.0, 5.0, 3.0) == pytest.approx(3e3)
    assert one.end_round(5.0).transfers_j == pytest.approx(2e6 + 3e3)


def test_sensors_that_do_nothing_sleep() -> None:
    assert meter(sensors=5).end_round(100.0).baseline_j == pytest.approx(5 * 100 * 1e-3)


def test_waiting_for_airtime_and_the_inactivity_timer_are_idle() -> None:
    """Ready at 20, ends at 30 with 4 s of airtime: 6 s idle, 10 s timer, the other 80 s asleep."""
    one = meter()
    one.use(0, "up", 20.0, 30.0, 4.0)
    assert one.end_round(100.0).baseline_j == pytest.approx(16 * 1.0 + 80 * 1e-3)


def test_a_timer_is_split_between_rounds() -> None:
    """Ends at 30; 4 s of its timer are in the first round, 6 s in the second."""
    one = meter()
    one.use(0, "up", 28.0, 30.0, 2.0)
    assert one.end_round(34.0).baseline_j == pytest.approx(4 * 1.0 + 28 * 1e-3)
    assert one.end_round(50.0).baseline_j == pytest.approx(6 * 1.0 + 10 * 1e-3)
    assert one.end_round(60.0).baseline_j == pytest.approx(10 * 1e-3)


def test_a_use_within_the_timer_cuts_it_short() -> None:
    """Two uses 3 s apart: 3 s idle between them, 10 s after the second."""
    one = meter()
    one.use(0, "up", 0.0, 1.0, 1.0)
    one.use(0, "up", 4.0, 5.0, 1.0)
    assert one.end_round(15.0).baseline_j == pytest.approx(13 * 1.0)


def test_a_set_up_that_is_abandoned_was_idle_until_then() -> None:
    """Used until 1, its timer until 11; set up at 20 and given up at 23: 10 + 3 s idle. At 23 it is released."""
    one = meter()
    one.use(0, "up", 0.0, 1.0, 1.0)
    one.begin(0, 20.0)
    one.abandon_set_up(0, 23.0)
    assert one.end_round(100.0).baseline_j == pytest.approx(13 * 1.0 + 86 * 1e-3)
    assert one.end_round(200.0).baseline_j == pytest.approx(100 * 1e-3)


def test_a_transfer_that_outlasts_a_round_is_connected_in_both() -> None:
    """Ready at 30, ends at 120 with 5 s of airtime: 70 s of the first round, 20 of the second and 10 s of timer."""
    one = meter()
    one.use(0, "up", 0.0, 1.0, 1.0)
    one.begin(0, 30.0)
    assert one.end_round(100.0).baseline_j == pytest.approx((10 + 70) * 1.0 + 19 * 1e-3)
    one.use(0, "up", 30.0, 120.0, 5.0)
    assert one.end_round(200.0).baseline_j == pytest.approx((20 + 10 - 5) * 1.0 + 70 * 1e-3)


def test_a_radio_of_frames_sleeps_until_its_airtime_and_until_the_next() -> None:
    """Ready at 20, ends at 30 with 4 s of airtime; then 50 to 58 with 2 s: 94 s asleep, none idle."""
    one = Radios(CURRENTS, 0.0, 1, frames=True)
    one.use(0, "up", 20.0, 30.0, 4.0)
    one.use(0, "up", 50.0, 58.0, 2.0)
    assert one.end_round(100.0)[:2] == pytest.approx((6e6, 94 * 1e-3))


def test_a_radio_of_frames_may_stay_awake_after_its_airtime() -> None:
    """A timer of 5 s: after the first airtime it runs out, after the second it is cut short when 3 s have passed."""
    one = Radios(CURRENTS, 5.0, 1, frames=True)
    one.use(0, "up", 0.0, 4.0, 4.0)
    one.use(0, "up", 6.0, 19.0, 2.0)
    one.use(0, "up", 19.0, 23.0, 1.0)
    assert one.end_round(100.0).baseline_j == pytest.approx((5 + 3 + 5) * 1.0 + (100 - 7 - 13) * 1e-3)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.floats(0, 30), st.floats(0, 5), st.floats(0, 1)), max_size=20),
    st.floats(0, 20),
    st.integers(1, 5),
)
def test_idle_airtime_and_sleep_add_up_to_all_the_time_there_is(
    uses: list[tuple[int, float, float, float]], inactivity_s: float, rounds: int
) -> None:
    """With equal idle and sleep currents the baseline is (sensors x time - airtime) x current, however it is cut."""
    equal = CURRENTS.model_copy(update={"connected_ma": 1.0})
    cut = Radios(equal, inactivity_s, 3)
    free_s, total_j, airtime_s = [0.0, 0.0, 0.0], 0.0, 0.0
    for sensor, gap_s, length_s, share in uses:
        ready_s = free_s[sensor] + gap_s
        free_s[sensor] = ready_s + length_s
        cut.use(sensor, "up", ready_s, free_s[sensor], share * length_s)
        airtime_s += share * length_s
    end_s = max(free_s) + 1.0
    for number in range(rounds):
        total_j += cut.end_round(end_s * (number + 1)).baseline_j
    assert total_j == pytest.approx((3 * end_s * rounds - airtime_s) * 1e-3)
    assert total_j >= 0


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 2), st.floats(0, 30), st.floats(0, 5), st.floats(0, 1)), max_size=8),
        min_size=1,
        max_size=4,
    ),
    st.floats(0, 20),
)
def test_idle_time_is_what_a_clock_beside_each_radio_would_show(
    rounds: list[list[tuple[int, float, float, float]]], inactivity_s: float
) -> None:
    """Connected from ready to the end of the timer, overlaps counted once, less airtime; a round's end cuts it."""
    billed = Radios(CURRENTS.model_copy(update={"sleep_ma": 0.0}), inactivity_s, 3)
    spans_s: list[list[tuple[float, float]]] = [[], [], []]
    start_s = 0.0
    for uses in rounds:
        free_s, airtime_s = [start_s] * 3, 0.0
        for sensor, gap_s, length_s, share in uses:
            ready_s = free_s[sensor] + gap_s
            free_s[sensor] = ready_s + length_s
            billed.use(sensor, "up", ready_s, free_s[sensor], share * length_s)
            spans_s[sensor].append((ready_s, free_s[sensor] + inactivity_s))
            airtime_s += share * length_s
        end_s = max(free_s) + 3.0
        connected_s = sum(_covered_s(spans, start_s, end_s) for spans in spans_s)
        assert billed.end_round(end_s).baseline_j == pytest.approx(connected_s - airtime_s, abs=1e-9)
        start_s = end_s


def _covered_s(spans_s: list[tuple[float, float]], from_s: float, to_s: float) -> float:
    """How much of the time between the two lies in some span; the spans begin in ascending order."""
    covered_s, reached_s = 0.0, from_s
    for begin_s, end_s in spans_s:
        begin_s, end_s = max(begin_s, reached_s), min(end_s, to_s)
        if end_s > begin_s:
            covered_s, reached_s = covered_s + end_s - begin_s, end_s
    return covered_s


def test_a_set_up_that_was_given_up_keeps_no_connection_open() -> None:
    """With release assistance the last uplink releases its sensor, unless more is under way: given up is not."""
    connections = Connections(Environment(0.0), 1.0, 10.0, release_assistance=True)
    connections.set_up([0], 0.0)
    connections.abandon_set_up([0], 0.5)
    connections.set_up([0], 2.0)
    connections.use([0], 4.0, 1.0, is_last=True)
    assert connections.set_up([0], 5.0) is not None
    assert connections.collect(6.0).connected_s == pytest.approx(0.5 + 2.0 + 1.0)
