"""Luck of transfers: one uniform draw each, for whoever loses blocks or frames.

A draw is keyed by direction, sensor, round and kind of payload: in a round a sensor sends, or receives, at most one
payload of each. So the same transfer has the same luck on every radio. The draws of all sensors that are about to
take part are made at once, which costs a tenth of making them one by one.
"""

from collections.abc import Sequence
from typing import get_args

from hfedms_sim.rounds import Direction, PayloadKind
from hfedms_sim.seeds import Draws

_NUMBERS: dict[PayloadKind, int] = {"model": 0, "classifier": 0, "report": 1, "scatter": 2}


class Luck:
    def __init__(self, draws: Draws) -> None:
        self._draws = draws
        self.of: dict[Direction, dict[int, float]] = {"up": {}, "down": {}}
        """By direction and sensor."""

    def draw(self, sensors: Sequence[int], kind: PayloadKind, round_number: int) -> None:
        """For the next transfers: payloads of this kind, to and from these sensors."""
        index = 4 * round_number + _NUMBERS[kind]
        for direction in get_args(Direction):
            uniforms = self._draws.uniform(f"blocks/{direction}", sensors, index)
            self.of[direction] = dict(zip(sensors, uniforms.tolist(), strict=True))
