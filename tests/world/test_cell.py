"""Duplex: who shares with whom."""

from typing import Any

import pytest

from hfedms_sim.rounds import Payload
from hfedms_sim.scenario import Cell as CellSettings
from hfedms_sim.seeds import Draws
from hfedms_sim.world.attachment import RoundRobin
from hfedms_sim.world.cell import Cell
from hfedms_sim.world.clock import Clock
from hfedms_sim.world.luck import Luck

KILOBYTE = Payload("model", 1_000)  # takes a second up, half a second down


def make_cell(env: Clock, **changes: Any) -> Cell:
    profile = {"name": "test", "uplink_bps": 8e3, "downlink_bps": 16e3} | changes
    settings = CellSettings.model_validate({"name": "hall", "profile": profile})
    cell = Cell(env, 0, settings, Draws(1), RoundRobin(20, 1))
    Luck(Draws(1), 20, [cell], RoundRobin(20, 1)).draw(1, range(20), {"up": KILOBYTE, "down": KILOBYTE})
    return cell


def deliveries(env: Clock, cell: Cell, *sends: tuple[Any, int]) -> list[tuple[float | None, float]]:
    """(start, end) of a kilobyte for each (direction, sensor), all ready at once."""
    log: list[tuple[float | None, float]] = []
    for direction, sensor in sends:
        sent = cell.send(direction, sensor, cell.need(direction, [sensor], KILOBYTE))
        sent.callbacks.append(lambda event: log.append((event.value, env.now)))
    env.run()
    return log


def test_full_duplex_sends_and_receives_at_once(env: Clock) -> None:
    assert deliveries(env, make_cell(env), ("up", 1), ("down", 1)) == [(None, 0.5), (None, 1.0)]


def test_a_half_duplex_cell_shares_its_airtime_between_directions(env: Clock) -> None:
    ends = deliveries(env, make_cell(env, duplex="cell-half"), ("up", 1), ("down", 2))
    assert ends == [(None, 1.0), (None, 1.5)]


def test_a_half_duplex_device_does_one_thing_after_the_other(env: Clock) -> None:
    ends = deliveries(env, make_cell(env, duplex="device-half"), ("up", 1), ("down", 1))
    assert ends == [(None, 1.0), (1.0, 1.5)]


def test_half_duplex_devices_do_not_wait_for_each_other(env: Clock) -> None:
    ends = deliveries(env, make_cell(env, duplex="device-half"), ("up", 1), ("down", 2))
    assert ends == [(None, 0.5), (None, 1.0)]


def test_a_half_duplex_device_serves_its_queue_in_order_and_is_free_afterwards(env: Clock) -> None:
    cell = make_cell(env, duplex="device-half", sharing="fifo")
    ends = deliveries(env, cell, ("up", 1), ("down", 1), ("up", 1))
    assert ends == [(0.0, 1.0), (1.0, 1.5), (1.5, 2.5)]
    assert deliveries(env, cell, ("up", 1)) == [(2.5, 3.5)]


@pytest.mark.parametrize(("direction", "seconds"), [("up", 1.0), ("down", 0.5)])
def test_airtime_is_bits_over_rate(env: Clock, direction: Any, seconds: float) -> None:
    assert make_cell(env).need(direction, [1], KILOBYTE) == (seconds, 0, 0)


def test_failed_blocks_are_sent_again_within_the_airtime(env: Clock) -> None:
    """80 blocks of 100 bits; the failed ones come on top, at the same rate."""
    cell = make_cell(env, blocks={"uplink_bits": 100, "downlink_bits": 400, "error_rate": 0.5})
    need = cell.need("up", [1], KILOBYTE)
    assert need.retransmitted_bytes > 0
    assert need.airtime_s == pytest.approx((1_000 + need.retransmitted_bytes) / 1_000)
    assert cell.need("up", [1], KILOBYTE) == need
    assert len({cell.need("up", [sensor], KILOBYTE) for sensor in range(20)}) > 10


def test_a_transfers_block_errors_do_not_depend_on_the_rate(env: Clock) -> None:
    blocks = {"uplink_bits": 100, "downlink_bits": 400, "error_rate": 0.5}
    slow, fast = make_cell(env, blocks=blocks), make_cell(env, blocks=blocks, uplink_bps=1e6)
    for sensor in range(20):
        sent_again = [each.need("up", [sensor], KILOBYTE).retransmitted_bytes for each in (slow, fast)]
        assert sent_again[0] == sent_again[1]


def test_a_connection_is_set_up_after_inactivity_and_kept_while_used(env: Clock) -> None:
    cell = make_cell(env, setup_s=0.8, inactivity_s=10.0)
    assert cell.connections.set_up([1], env.now) is not None
    cell.connections.use("up", [1], now_s=0.0, airtime_s=0.0)
    env.run(until=10.0)
    assert cell.connections.set_up([1], env.now) is None
    assert cell.connections.set_up([2], env.now) is not None
    env.run(until=10.5)
    env.run(cell.connections.set_up([1], env.now))
    assert env.now == 10.5 + 0.8


def test_set_ups_that_begin_together_are_one(env: Clock) -> None:
    cell = make_cell(env, setup_s=0.8)
    first = cell.connections.set_up([1], env.now)
    assert cell.connections.set_up([2, 3], env.now) is first
    env.run(until=0.1)
    assert cell.connections.set_up([4], env.now) is not first
