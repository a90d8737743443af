"""Transfers as SimPy processes: they can be interrupted in every phase, fail, and be waited for by anybody.

The radio: a set-up of 1 s, 4 kB up at a kilobyte a second, a latency of 0.5 s. At 1 V and 1 A a second of airtime up
is a joule; idle is a millijoule a second, sleep nothing.
"""

from typing import Any

import pytest
from simpy import Environment, Interrupt, Process
from simpy.events import ProcessGenerator

from hfedms_sim.rounds import Payload
from hfedms_sim.trace import Trace
from hfedms_sim.world.cell import Cell
from hfedms_sim.world.invariants import Invariants
from hfedms_sim.world.radio.airtime import FairPool, FifoPool
from hfedms_sim.world.radio.delivery import TransferAborted
from hfedms_sim.world.transfer_log import TransferLog
from tests.world.cells import SEED, SENSORS, make_cell, transfer

CURRENTS = {"voltage_v": 1.0, "sleep_ma": 0.0, "idle_ma": 1.0, "receive_ma": 500.0, "transmit_ma": 1000.0}
RADIO = {"setup_s": 1.0, "inactivity_s": 10.0, "latency_s": 0.5, "energy": CURRENTS}
BIG = Payload("model", 4_000)
KINDS = [{"sharing": "fair"}, {"sharing": "fifo"}, {"duplex": "device-half"}]


def rows(trace: Trace) -> list[dict[str, Any]]:
    return list(trace.transfers.gathered().to_pylist())


def interrupt_at(env: Environment, process: Process, time_s: float) -> None:
    def breaker() -> ProcessGenerator:
        yield env.timeout(time_s)
        process.interrupt("a fault")

    env.process(breaker())


def waited_for(process: Process) -> ProcessGenerator:
    """Wait for a process that is interrupted, and return the cause."""
    try:
        yield process
    except Interrupt as interrupt:
        return interrupt.cause
    return None


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize(
    ("phase", "time_s", "start_s", "airtime_s", "idle_s"),
    [
        ("set-up", 0.4, 0.4, 0.0, 0.4),  # not connected afterwards
        ("airtime", 3.0, 1.0, 2.0, 1.0 + 10.0),
        ("latency", 5.2, 1.0, 4.0, 1.0 + 0.2 + 10.0),
    ],
)
def test_an_interrupt_leaves_a_row_the_airtime_so_far_and_a_free_radio(
    env: Environment, kind: dict[str, str], phase: str, time_s: float, start_s: float, airtime_s: float, idle_s: float
) -> None:
    trace = Trace()
    cell = make_cell(env, trace, **RADIO, **kind)
    process = env.process(cell.transmit(transfer("up", 1, BIG)))
    interrupt_at(env, process, time_s)
    assert env.run(env.process(waited_for(process))) == "a fault"
    (row,) = rows(trace)
    assert (row["outcome"], row["ready_s"], row["start_s"], row["end_s"]) == ("aborted", 0.0, start_s, time_s)
    assert (row["airtime_s"], row["energy_j"]) == (pytest.approx(airtime_s), pytest.approx(airtime_s))
    env.run(until=100.0)
    assert cell.end_round()[:2] == pytest.approx((airtime_s, idle_s * 1e-3))
    env.run(env.process(cell.transmit(transfer("up", 1, BIG))))
    assert env.now == pytest.approx(105.5)


@pytest.mark.parametrize("kind", KINDS[1:], ids=str)
def test_an_interrupt_while_waiting_gives_up_the_place_in_the_queue(env: Environment, kind: dict[str, str]) -> None:
    """Three transfers of one sensor after another; the second is given up while it waits, so the third follows on."""
    trace = Trace()
    cell = make_cell(env, trace, energy=CURRENTS, **kind)
    processes = [env.process(cell.transmit(transfer("up", 1, BIG))) for _ in range(3)]
    interrupt_at(env, processes[1], 3.0)
    assert env.run(env.process(waited_for(processes[1]))) == "a fault"
    env.run()
    assert [(row["outcome"], row["start_s"], row["end_s"], row["airtime_s"]) for row in rows(trace)] == [
        ("aborted", 3.0, 3.0, 0.0),
        ("ok", 0.0, 4.0, 4.0),
        ("ok", 4.0, 8.0, 4.0),
    ]


def test_an_interrupted_transfer_speeds_up_the_others(env: Environment) -> None:
    """Two share the air for 4 s and have 2 s each; the one that is left needs its other 2 s alone."""
    trace = Trace()
    cell = make_cell(env, trace)
    first, second = (env.process(cell.transmit(transfer("up", sensor, BIG))) for sensor in (1, 2))
    interrupt_at(env, first, 4.0)
    env.process(waited_for(first))
    env.run(second)
    assert [(row["outcome"], row["end_s"], row["airtime_s"]) for row in rows(trace)] == [
        ("aborted", 4.0, 2.0),
        ("ok", 6.0, 4.0),
    ]


def test_bytes_of_an_aborted_transfer_have_not_arrived(env: Environment) -> None:
    trace = Trace()
    log = TransferLog(trace, SENSORS, Invariants(SEED))
    cell = make_cell(env, log=log, blocks={"uplink_bits": 100, "downlink_bits": 400, "error_rate": 0.5})
    demand = cell.demand(transfer("up", 1, BIG))
    process = env.process(cell.transmit(transfer("up", 1, BIG)))
    interrupt_at(env, process, demand.airtime_s / 2)
    env.run(env.process(waited_for(process)))
    (row,) = rows(trace)
    assert row["retransmitted_bytes"] == int(demand.retransmitted_bytes / 2)
    assert log.collect() == (0, 0, row["retransmitted_bytes"])


class LinkLostError(Exception):
    """A fault's own reason."""


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("time_s", [1.0, 4.2])  # in its airtime, in its latency
def test_who_waits_for_a_delivery_that_fails_gets_the_exception(
    env: Environment, log: list[Any], kind: dict[str, str], time_s: float
) -> None:
    cell = make_cell(env, latency_s=0.5, **kind)
    one = transfer("up", 1, BIG)
    delivery = cell.medium.send(one, cell.demand(one))

    def waiter(name: str) -> ProcessGenerator:
        try:
            yield delivery
        except LinkLostError as error:
            log.append((name, str(error), env.now))

    for name in "ab":
        env.process(waiter(name))
    env.run(until=time_s)
    delivery.cancel(LinkLostError("gone"))
    env.run(until=20.0)
    assert log == [("a", "gone", time_s), ("b", "gone", time_s)]
    env.run(env.process(waiter("late")))
    assert log[2:] == [("late", "gone", 20.0)]


def test_a_transfer_whose_delivery_fails_is_aborted_and_its_process_fails(env: Environment) -> None:
    trace = Trace()
    cell = make_cell(env, trace)
    process = env.process(cell.transmit(transfer("up", 1, BIG)))
    env.run(until=1.0)
    process.target.cancel(LinkLostError("gone"))  # type: ignore[attr-defined]
    with pytest.raises(LinkLostError, match="gone"):
        env.run(process)
    (row,) = rows(trace)
    assert (row["outcome"], row["airtime_s"], row["end_s"]) == ("aborted", 1.0, 1.0)


@pytest.mark.parametrize("pool_type", [FairPool, FifoPool])
def test_a_late_waiter_is_told_at_once_when_the_airtime_began(
    env: Environment, log: list[Any], pool_type: type[FairPool] | type[FifoPool]
) -> None:
    pool = pool_type(env, 1)
    env.run(until=3.0)
    delivery = pool.send(2.0)
    env.run(until=9.0)

    def late() -> ProcessGenerator:
        log.append(((yield delivery), env.now))

    env.run(env.process(late()))
    assert log == [(3.0, 9.0)]


@pytest.mark.parametrize("pool_type", [FairPool, FifoPool])
def test_a_cancelled_delivery_nobody_waits_for_disturbs_nobody(
    env: Environment, pool_type: type[FairPool] | type[FifoPool]
) -> None:
    pool = pool_type(env, 1)
    first, second = pool.send(4.0), pool.send(4.0)
    assert first.cancel() == second.cancel() == 0.0
    assert first.cancel() == 0.0
    with pytest.raises(TransferAborted):
        env.run(first)
    third = pool.send(4.0)
    assert env.run(third) == env.now - 4.0 == 0.0
    assert third.cancel() == 4.0


@pytest.mark.parametrize("medium", [{}, {"duplex": "device-half"}])
def test_a_waiter_may_be_interrupted_without_ending_the_transfer(
    env: Environment, log: list[Any], medium: dict[str, str]
) -> None:
    cell: Cell = make_cell(env, **medium)
    delivery = cell.medium.send(transfer("up", 1), cell.demand(transfer("up", 1)))

    def waiter() -> ProcessGenerator:
        try:
            yield delivery
        except Interrupt:
            log.append(("gone", env.now))

    process = env.process(waiter())
    interrupt_at(env, process, 0.5)
    env.run(delivery)
    assert (log, env.now) == ([("gone", 0.5)], 1.0)
