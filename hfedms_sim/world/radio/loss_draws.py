"""One uniform draw for each transfer that may lose blocks or frames.

A draw is keyed by direction, sensor, turn and kind of payload: in a turn a sensor sends, or receives, at most one
payload of each. So the same transfer has the same losses on every radio, whenever it is asked for. Inside, the draws
of all sensors and many turns are made at once, which costs a hundredth of making them one by one; those of turns that
are long past are made one by one.
"""

from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.rounds import Direction, PayloadKind
from hfedms_sim.seeds import Draws, EntityDraws
from hfedms_sim.transfers import Transfer

_KINDS: dict[PayloadKind, int] = {"model": 0, "classifier": 0, "report": 1, "scatter": 2}
_DIRECTIONS: dict[Direction, int] = {"up": 0, "down": 1}
Turns = TypeVar("Turns", int, NDArray[np.int64])
_BLOCK_DRAWS, _BLOCK_TURNS = 2**16, 32  # at most


class LossDraws:
    def __init__(self, draws: Draws, sensors: int) -> None:
        self._draws = draws
        self._sensors = sensors
        self._turns = max(1, min(_BLOCK_TURNS, _BLOCK_DRAWS // sensors))
        self._blocks: dict[tuple[int, int], NDArray[np.float64]] = {}  # by kind of payload and number of the block
        self._newest: dict[int, int] = {}  # block of each kind

    def of(self, transfer: Transfer) -> float:
        """Return the transfer's draw in [0, 1); a broadcast has that of its first listener."""
        kind, sensor = _KINDS[transfer.payload.kind], transfer.radios[0]
        number, place = divmod(transfer.turn, self._turns)
        block = self._blocks.get((kind, number))
        if block is None:
            if number < self._newest.get(kind, number):  # forgotten
                return self._draws.one_uniform(_purpose(transfer.direction), sensor, _index(transfer.turn, kind))
            block = self._draw(kind, number)
        return block.item(_DIRECTIONS[transfer.direction], place, sensor)

    def _draw(self, kind: int, number: int) -> NDArray[np.float64]:
        """Draw for the turns of a new block, by direction, turn and sensor, and keep only the block before it."""
        turns = np.arange(number * self._turns, (number + 1) * self._turns)
        self._blocks.pop((kind, self._newest.get(kind, number) - 1), None)
        self._newest[kind] = number
        block = self._blocks[kind, number] = self._entity_draws.uniform(_index(turns, kind))
        return block

    @cached_property
    def _entity_draws(self) -> EntityDraws:
        return self._draws.of_entities([_purpose(direction) for direction in _DIRECTIONS], self._sensors)


def _purpose(direction: Direction) -> str:
    return f"blocks/{direction}"


def _index(turn: Turns, kind: int) -> Turns:
    return 4 * turn + kind
