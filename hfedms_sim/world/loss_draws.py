"""One uniform draw for each transfer that may lose blocks or frames.

A draw is keyed by direction, sensor, round and kind of payload: in a round a sensor sends, or receives, at most one
payload of each. So the same transfer has the same losses on every radio, whenever it is asked for. Inside, the draws
of all sensors and many rounds are made at once, which costs a hundredth of making them one by one.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.rounds import Direction, PayloadKind
from hfedms_sim.seeds import Draws, EntityDraws
from hfedms_sim.world.transfer import Transfer

_KINDS: dict[PayloadKind, int] = {"model": 0, "classifier": 0, "report": 1, "scatter": 2}
_DIRECTIONS: dict[Direction, int] = {"up": 0, "down": 1}
_BLOCK_DRAWS, _BLOCK_ROUNDS = 2**16, 32  # at most


class LossDraws:
    def __init__(self, draws: Draws, sensors: int) -> None:
        self._draws = draws
        self._sensors = sensors
        self._rounds = max(1, min(_BLOCK_ROUNDS, _BLOCK_DRAWS // sensors))
        self._blocks: dict[tuple[int, int], NDArray[np.float64]] = {}  # by kind of payload and number of the block

    def of(self, transfer: Transfer) -> float:
        """Return the transfer's draw in [0, 1); a broadcast has that of its first listener."""
        kind = _KINDS[transfer.payload.kind]
        number, place = divmod(transfer.round, self._rounds)
        block = self._blocks.get((kind, number))
        if block is None:
            block = self._draw(kind, number)
        return block.item(_DIRECTIONS[transfer.direction], place, transfer.radios[0])

    def _draw(self, kind: int, number: int) -> NDArray[np.float64]:
        """Draw for the rounds of a block, by direction, round and sensor, and forget the block before it."""
        rounds = np.arange(number * self._rounds, (number + 1) * self._rounds)
        self._blocks.pop((kind, number - 1), None)
        block = self._blocks[kind, number] = self._entity_draws.uniform(4 * rounds + kind)
        return block

    @cached_property
    def _entity_draws(self) -> EntityDraws:
        return self._draws.of_entities([f"blocks/{direction}" for direction in _DIRECTIONS], self._sensors)
