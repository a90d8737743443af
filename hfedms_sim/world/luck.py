"""Luck of transfers: one uniform draw each, for whoever loses blocks or frames.

A draw is keyed by direction, sensor, round and kind of payload: in a round a sensor sends, or receives, at most one
payload of each. So the same transfer has the same luck on every radio. The draws of all sensors and many rounds are
made at once, which costs a hundredth of making them one by one.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.rounds import Direction, Payload, PayloadKind
from hfedms_sim.seeds import Draws
from hfedms_sim.world.air import Air
from hfedms_sim.world.attachment import Attachment
from hfedms_sim.world.cell import Cell

_NUMBERS: dict[PayloadKind, int] = {"model": 0, "classifier": 0, "report": 1, "scatter": 2}
_DIRECTIONS: tuple[Direction, ...] = ("up", "down")
_BLOCK_DRAWS, _BLOCK_ROUNDS = 2**16, 32  # at most


class Luck:
    def __init__(self, draws: Draws, sensors: int, cells: Sequence[Cell], attachment: Attachment) -> None:
        self._airs = {number: cell.air for number, cell in enumerate(cells) if cell.air.needs_luck}
        self._is_one_cell = len(cells) == 1
        self._attachment = attachment
        self._lucks = LuckAhead(draws, sensors if self._airs else 0)

    def draw(self, round_number: int, sensors: Sequence[int], payloads: Mapping[Direction, Payload]) -> None:
        """For the next transfers to and from these sensors. Each cell's air hears of those of its own sensors."""
        if not self._airs:
            return
        (kind,) = {_NUMBERS[payload.kind] for payload in payloads.values()}
        lucks = self._lucks.of_round(round_number, kind)
        for air, own, own_lucks in self._shares(sensors, lucks):
            for direction, payload in payloads.items():
                air.foresee(direction, payload.size_bytes, own, own_lucks[_DIRECTIONS.index(direction)])

    def _shares(
        self, sensors: Sequence[int], lucks: NDArray[np.float64]
    ) -> Iterator[tuple[Air, Sequence[int], NDArray[np.float64]]]:
        """Every air that needs luck, which of the sensors use it, and their lucks."""
        taking_part = np.fromiter(sensors, np.int64, len(sensors))
        if self._is_one_cell:
            yield self._airs[0], sensors, lucks.take(taking_part, axis=1)
            return
        cells = self._attachment.cells(taking_part)
        for number, air in self._airs.items():
            own = taking_part[cells == number]
            yield air, own.tolist(), lucks.take(own, axis=1)


class LuckAhead:
    """Draws of all sensors, many rounds at a time: a round of its own would pay for calls, not for draws."""

    def __init__(self, draws: Draws, sensors: int) -> None:
        self._draws = draws.of_entities([f"blocks/{direction}" for direction in _DIRECTIONS], sensors)
        self._rounds = max(1, min(_BLOCK_ROUNDS, _BLOCK_DRAWS // max(1, sensors)))
        self._blocks: dict[tuple[int, int], NDArray[np.float64]] = {}  # by kind of payload and number of the block

    def of_round(self, round_number: int, kind: int) -> NDArray[np.float64]:
        """By direction and sensor."""
        number, place = divmod(round_number, self._rounds)
        block = self._blocks.get((kind, number))
        if block is None:
            rounds = np.arange(number * self._rounds, (number + 1) * self._rounds)
            block = self._draws.uniform(4 * rounds + kind)
            self._blocks.pop((kind, number - 1), None)
            self._blocks[kind, number] = block
        return block[:, place]
