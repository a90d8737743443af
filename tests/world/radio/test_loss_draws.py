"""Draws are made ahead for many rounds and sensors; asked for in any order, each is the one its key stands for."""

from math import ceil
from typing import Any

import pytest
from simpy import Environment

from hfedms_sim.rounds import Direction, Payload
from hfedms_sim.seeds import Draws
from hfedms_sim.transfers import Demand
from hfedms_sim.world.radio.blocks import failed_blocks
from hfedms_sim.world.radio.loss_draws import LossDraws
from tests.world.cells import SEED, make_cell, transfer

BLOCKS = {"uplink_bits": 100, "downlink_bits": 300, "error_rate": 0.2}
BLOCK_BITS: dict[Direction, int] = {"up": 100, "down": 300}
RATE_BPS: dict[Direction, float] = {"up": 8e3, "down": 16e3}


@pytest.mark.parametrize("sensors", [1, 5_000, 70_000])
def test_forwards_and_back_to_a_round_that_was_forgotten_a_transfer_has_the_same_draw(sensors: int) -> None:
    """Blocks of 32 rounds, of 13 and of one."""
    draws, last = LossDraws(Draws(SEED), sensors), sensors - 1
    seen: dict[Any, float] = {}
    for number in (1, 2, 31, 32, 33, 100, 1, 32):
        for kind in ("model", "scatter"):
            for direction in RATE_BPS:
                key = (number, kind, direction)
                drawn = draws.of(transfer(direction, last, Payload(kind, 1), number))  # type: ignore[arg-type]
                assert seen.setdefault(key, drawn) == drawn
    assert len(set(seen.values())) == len(seen) == 6 * 2 * 2


def test_a_model_and_its_classifier_share_a_draw_reports_and_scatters_have_their_own() -> None:
    draws = LossDraws(Draws(SEED), 3)
    kinds: list[Any] = ["model", "classifier", "report", "scatter"]
    model, classifier, report, scatter = (draws.of(transfer("up", 2, Payload(kind, 1))) for kind in kinds)
    assert model == classifier
    assert len({model, report, scatter}) == 3


def test_a_draw_depends_on_the_sensor_and_not_on_how_many_there_are() -> None:
    few, many = LossDraws(Draws(SEED), 3), LossDraws(Draws(SEED), 3_000)
    assert [few.of(transfer("up", each)) for each in range(3)] == [many.of(transfer("up", each)) for each in range(3)]


@pytest.mark.parametrize("direction", ["up", "down"])
def test_a_demand_is_that_of_the_transfers_own_draw(env: Environment, direction: Direction) -> None:
    cell = make_cell(env, blocks=BLOCKS)
    for sensor in range(20):
        for size_bytes in (9_000, 70):
            one = transfer(direction, sensor, Payload("model", size_bytes), round_number=7)
            uniform = LossDraws(Draws(SEED), 20).of(one)
            failed = failed_blocks(ceil(8 * size_bytes / BLOCK_BITS[direction]), 0.2, uniform)
            again_bytes = failed * BLOCK_BITS[direction] // 8
            assert cell.demand(one) == Demand(8 * (size_bytes + again_bytes) / RATE_BPS[direction], again_bytes)
