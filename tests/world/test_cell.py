"""Duplex: who shares with whom. What a transfer takes, and when its sensor has to connect first."""

from typing import Any

import pytest
from simpy import Environment

from hfedms_sim.rounds import EVERYONE
from hfedms_sim.seeds import Draws
from hfedms_sim.transfers import Demand
from hfedms_sim.world.cell import Cell
from hfedms_sim.world.radio.blocks import failed_blocks
from hfedms_sim.world.radio.loss_draws import LossDraws
from tests.world.cells import SEED, SENSORS, make_cell, transfer


def deliveries(env: Environment, cell: Cell, *sends: tuple[Any, int]) -> list[tuple[float, float]]:
    """(start, end) of a kilobyte for each (direction, sensor), all ready at once."""
    log: list[tuple[float, float]] = []
    for direction, sensor in sends:
        one = transfer(direction, sensor)
        sent = cell.medium.send(one, cell.demand(one))
        sent.callbacks.append(lambda event: log.append((event.value, env.now)))
    env.run()
    return log


def test_full_duplex_sends_and_receives_at_once(env: Environment) -> None:
    assert deliveries(env, make_cell(env), ("up", 1), ("down", 1)) == [(0.0, 0.5), (0.0, 1.0)]


def test_a_half_duplex_cell_shares_its_airtime_between_directions(env: Environment) -> None:
    ends = deliveries(env, make_cell(env, duplex="cell-half"), ("up", 1), ("down", 2))
    assert ends == [(0.0, 1.0), (0.0, 1.5)]


def test_a_cell_of_two_and_a_half_devices_slows_five_down_by_half_and_two_not_at_all(env: Environment) -> None:
    cell = make_cell(env, uplink_capacity_bps=20e3)  # at 8 kbit/s a device
    assert deliveries(env, cell, ("up", 1), ("up", 2)) == [(0.0, 1.0)] * 2
    assert deliveries(env, cell, *(("up", sensor) for sensor in range(5))) == [(1.0, 3.0)] * 5


def test_under_cell_half_the_uplink_has_what_the_base_stations_duty_cycle_leaves(env: Environment) -> None:
    """c = 1, d_down = 0.1: 9 uplinks of a second share 0.9 and take 10 s, in full duplex 9 s; 60 would take 66.7 s."""
    duty_cycle, nine = {"uplink": 0.5, "downlink": 0.1}, [("up", sensor) for sensor in range(9)]
    half = deliveries(env, make_cell(env, duplex="cell-half", duty_cycle=duty_cycle), *nine)
    assert [end_s for _, end_s in half] == pytest.approx([10.0] * 9)
    full = deliveries(env, make_cell(env, duty_cycle=duty_cycle), *nine)
    assert [end_s for _, end_s in full] == pytest.approx([19.0] * 9)


def test_a_half_duplex_device_does_one_thing_after_the_other(env: Environment) -> None:
    ends = deliveries(env, make_cell(env, duplex="device-half"), ("up", 1), ("down", 1))
    assert ends == [(0.0, 1.0), (1.0, 1.5)]


def test_half_duplex_devices_do_not_wait_for_each_other(env: Environment) -> None:
    ends = deliveries(env, make_cell(env, duplex="device-half"), ("up", 1), ("down", 2))
    assert ends == [(0.0, 0.5), (0.0, 1.0)]


def test_a_half_duplex_device_serves_its_queue_in_order_and_is_free_afterwards(env: Environment) -> None:
    cell = make_cell(env, duplex="device-half", sharing="fifo")
    ends = deliveries(env, cell, ("up", 1), ("down", 1), ("up", 1))
    assert ends == [(0.0, 1.0), (1.0, 1.5), (1.5, 2.5)]
    assert deliveries(env, cell, ("up", 1)) == [(2.5, 3.5)]


def test_a_broadcast_is_sent_until_its_last_listener_has_every_block(env: Environment) -> None:
    """20 blocks of 400 bits to twenty sensors, with the draw of the first of them."""
    cell = make_cell(env, blocks={"uplink_bits": 100, "downlink_bits": 400, "error_rate": 0.5})
    to_all = transfer("down", 3)._replace(sensor=EVERYONE, radios=tuple(range(3, 20)))
    failed = failed_blocks(20, 0.5, LossDraws(Draws(SEED), SENSORS).of(transfer("down", 3)), listeners=17)
    assert failed > 40
    assert cell.demand(to_all) == Demand(8 * (1_000 + failed * 50) / 16e3, failed * 50)


@pytest.mark.parametrize(("direction", "seconds"), [("up", 1.0), ("down", 0.5)])
def test_airtime_is_bits_over_rate(env: Environment, direction: Any, seconds: float) -> None:
    assert make_cell(env).demand(transfer(direction, 1)) == Demand(seconds, 0)


def test_failed_blocks_are_sent_again_within_the_airtime(env: Environment) -> None:
    """80 blocks of 100 bits; the failed ones come on top, at the same rate."""
    cell = make_cell(env, blocks={"uplink_bits": 100, "downlink_bits": 400, "error_rate": 0.5})
    demand = cell.demand(transfer("up", 1))
    assert demand.retransmitted_bytes > 0
    assert demand.airtime_s == pytest.approx((1_000 + demand.retransmitted_bytes) / 1_000)
    assert cell.demand(transfer("up", 1)) == demand
    assert len({cell.demand(transfer("up", sensor)) for sensor in range(20)}) > 10


def test_a_transfers_block_errors_do_not_depend_on_the_rate(env: Environment) -> None:
    blocks = {"uplink_bits": 100, "downlink_bits": 400, "error_rate": 0.5}
    slow, fast = make_cell(env, blocks=blocks), make_cell(env, blocks=blocks, uplink_bps=1e6)
    for sensor in range(20):
        sent_again = [each.demand(transfer("up", sensor)).retransmitted_bytes for each in (slow, fast)]
        assert sent_again[0] == sent_again[1]


def test_a_connection_is_set_up_after_inactivity_and_kept_while_used(env: Environment) -> None:
    cell = make_cell(env, setup_s=0.8, inactivity_s=10.0)
    assert cell.connections.set_up([1], env.now) is not None
    cell.connections.use([1], now_s=0.0, airtime_s=0.0)
    env.run(until=10.0)
    assert cell.connections.set_up([1], env.now) is None
    assert cell.connections.set_up([2], env.now) is not None
    env.run(until=10.5)
    env.run(cell.connections.set_up([1], env.now))
    assert env.now == 10.5 + 0.8


def test_set_ups_that_begin_together_are_one(env: Environment) -> None:
    cell = make_cell(env, setup_s=0.8)
    first = cell.connections.set_up([1], env.now)
    assert cell.connections.set_up([2, 3], env.now) is first
    env.run(until=0.1)
    assert cell.connections.set_up([4], env.now) is not first
