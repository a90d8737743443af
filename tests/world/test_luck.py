"""What transfers lose is foreseen for all sensors at once; here it is worked out again one by one."""

from math import ceil
from typing import Any

import pytest

from hfedms_sim.rounds import Direction, Payload
from hfedms_sim.scenario import Cell as CellSettings
from hfedms_sim.seeds import Draws
from hfedms_sim.world.attachment import RoundRobin
from hfedms_sim.world.blocks import failed_blocks
from hfedms_sim.world.cell import Cell
from hfedms_sim.world.clock import Clock
from hfedms_sim.world.luck import Luck, LuckAhead

SENSORS, ROUND, SEED = 30, 7, 1
PAYLOADS: dict[Direction, Payload] = {"up": Payload("model", 9_000), "down": Payload("model", 7_000)}
BLOCKS = {"uplink_bits": 100, "downlink_bits": 300, "error_rate": 0.2}
BLOCK_BITS: dict[Direction, int] = {"up": 100, "down": 300}
RATE_BPS: dict[Direction, float] = {"up": 8e3, "down": 16e3}


def make_cells(env: Clock, *changes: dict[str, Any]) -> list[Cell]:
    attachment = RoundRobin(SENSORS, len(changes))
    cells = []
    for number, change in enumerate(changes):
        profile = {"name": "test", "uplink_bps": RATE_BPS["up"], "downlink_bps": RATE_BPS["down"]} | change
        settings = CellSettings.model_validate({"name": str(number), "profile": profile})
        cells.append(Cell(env, number, settings, Draws(SEED), attachment))
    return cells


def draw(cells: list[Cell], payloads: dict[Direction, Payload]) -> None:
    Luck(Draws(SEED), SENSORS, cells, RoundRobin(SENSORS, len(cells))).draw(ROUND, range(SENSORS), payloads)


@pytest.mark.parametrize("kind", ["model", "classifier", "report", "scatter"])
@pytest.mark.parametrize("direction", ["up", "down"])
def test_a_sensors_need_is_that_of_its_own_draw(env: Clock, direction: Direction, kind: Any) -> None:
    cells = make_cells(env, {"blocks": BLOCKS}, {}, {"blocks": BLOCKS})
    payload = Payload(kind, 9_000)
    draw(cells, {direction: payload})
    index = 4 * ROUND + {"model": 0, "classifier": 0, "report": 1, "scatter": 2}[kind]
    for sensor in range(SENSORS):
        need = cells[sensor % 3].need(direction, [sensor], payload)
        if sensor % 3 == 1:
            assert need == (8 * 9_000 / RATE_BPS[direction], 0, 0)
            continue
        uniform = Draws(SEED).one_uniform(f"blocks/{direction}", sensor, index)
        failed = failed_blocks(ceil(8 * 9_000 / BLOCK_BITS[direction]), 0.2, uniform)
        again_bytes = failed * BLOCK_BITS[direction] // 8
        assert need == (8 * (9_000 + again_bytes) / RATE_BPS[direction], again_bytes, 0)


def test_a_cell_hears_of_its_own_sensors_only(env: Clock) -> None:
    cells = make_cells(env, {"blocks": BLOCKS}, {"blocks": BLOCKS})
    draw(cells, PAYLOADS)
    cells[0].need("up", [0], PAYLOADS["up"])
    with pytest.raises(KeyError):
        cells[0].need("up", [1], PAYLOADS["up"])


def test_one_cell_has_all_sensors(env: Clock) -> None:
    (alone,), (first, second) = make_cells(env, {"blocks": BLOCKS}), make_cells(env, *[{"blocks": BLOCKS}] * 2)
    draw([alone], PAYLOADS)
    draw([first, second], PAYLOADS)
    for sensor in range(SENSORS):
        for direction, payload in PAYLOADS.items():
            shared = (first, second)[sensor % 2].need(direction, [sensor], payload)
            assert alone.need(direction, [sensor], payload) == shared


def test_nobody_taking_part_is_no_trouble(env: Clock) -> None:
    cells = make_cells(env, {"blocks": BLOCKS})
    Luck(Draws(SEED), SENSORS, cells, RoundRobin(SENSORS, 1)).draw(ROUND, [], PAYLOADS)


@pytest.mark.parametrize("sensors", [1, 5_000, 70_000])
def test_luck_drawn_ahead_is_the_luck_of_its_round(sensors: int) -> None:
    """Blocks of 32 rounds, of 13 and of one; forwards, and back to a round that was forgotten."""
    ahead = LuckAhead(Draws(SEED), sensors)
    for number in (1, 2, 31, 32, 33, 100, 1):
        for kind in (0, 2):
            up, down = ahead.of_round(number, kind)
            last = sensors - 1
            assert up[last] == Draws(SEED).one_uniform("blocks/up", last, 4 * number + kind)
            assert down[last] == Draws(SEED).one_uniform("blocks/down", last, 4 * number + kind)
