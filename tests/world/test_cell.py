"""Duplex: who shares with whom."""

from typing import Any

import pytest
import simpy

from hfedms_sim.scenario import Cell as CellSettings
from hfedms_sim.world.cell import Cell

KILOBYTE = 1_000  # takes a second up, half a second down


def make_cell(env: simpy.Environment, **changes: Any) -> Cell:
    profile = {"name": "test", "uplink_bps": 8e3, "downlink_bps": 16e3} | changes
    return Cell(env, CellSettings.model_validate({"name": "hall", "profile": profile}))


def deliveries(env: simpy.Environment, cell: Cell, *sends: tuple[Any, int]) -> list[tuple[float | None, float]]:
    """(start, end) of a kilobyte for each (direction, sensor), all ready at once."""
    log: list[tuple[float | None, float]] = []
    for direction, sensor in sends:
        sent = cell.send(direction, sensor, KILOBYTE)
        sent.callbacks.append(lambda event: log.append((event.value, env.now)))
    env.run()
    return log


def test_full_duplex_sends_and_receives_at_once(env: simpy.Environment) -> None:
    assert deliveries(env, make_cell(env), ("up", 1), ("down", 1)) == [(None, 0.5), (None, 1.0)]


def test_a_half_duplex_cell_shares_its_airtime_between_directions(env: simpy.Environment) -> None:
    ends = deliveries(env, make_cell(env, duplex="cell-half"), ("up", 1), ("down", 2))
    assert ends == [(None, 1.0), (None, 1.5)]


def test_a_half_duplex_device_does_one_thing_after_the_other(env: simpy.Environment) -> None:
    ends = deliveries(env, make_cell(env, duplex="device-half"), ("up", 1), ("down", 1))
    assert ends == [(None, 1.0), (1.0, 1.5)]


def test_half_duplex_devices_do_not_wait_for_each_other(env: simpy.Environment) -> None:
    ends = deliveries(env, make_cell(env, duplex="device-half"), ("up", 1), ("down", 2))
    assert ends == [(None, 0.5), (None, 1.0)]


def test_a_half_duplex_device_serves_its_queue_in_order_and_is_free_afterwards(env: simpy.Environment) -> None:
    cell = make_cell(env, duplex="device-half", sharing="fifo")
    ends = deliveries(env, cell, ("up", 1), ("down", 1), ("up", 1))
    assert ends == [(0.0, 1.0), (1.0, 1.5), (1.5, 2.5)]
    assert deliveries(env, cell, ("up", 1)) == [(2.5, 3.5)]


@pytest.mark.parametrize(("direction", "seconds"), [("up", 1.0), ("down", 0.5)])
def test_airtime_is_bits_over_rate(env: simpy.Environment, direction: Any, seconds: float) -> None:
    assert make_cell(env).airtime_s(direction, KILOBYTE) == seconds
