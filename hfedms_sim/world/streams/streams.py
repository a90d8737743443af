"""What a sensor has when it is asked for samples.

A sample is known by its arrival index on the sensor's own path. `saturated`: round r always finds a full fresh
batch, the arrivals (r - 1) n .. r n - 1, whatever the clock says; drawn anew only every p rounds (`redraw`), it finds
that of the first round of its period, r - (r - 1) mod p. `static`: the sensor's whole local set, the same each time. A
sensor that owns fewer samples than a batch has no more than these. All others fill a
bounded buffer over an arrival path that the seed alone decides (arrivals.py, bursts.py, shifts.py, arrival_csv.py,
buffers.py).
"""

from functools import lru_cache
from math import inf
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.errors import InputError
from hfedms_sim.scenario.data import Stream
from hfedms_sim.seeds import Draws
from hfedms_sim.world.streams.arrival_csv import Recorded
from hfedms_sim.world.streams.arrivals import ArrivalPath, Arriving, Periodic, Poisson
from hfedms_sim.world.streams.buffers import Buffers, Capture
from hfedms_sim.world.streams.bursts import Bursty
from hfedms_sim.world.streams.shifts import Shifts

Sizes = NDArray[np.int64]
"""How many samples each sensor owns."""


class SaturatedStream(Stream):
    arrival: Literal["saturated"] = "saturated"
    """saturated: always a full fresh batch."""


class StaticStream(Stream):
    arrival: Literal["static"]
    """static: the same local set every time."""


STREAMS: dict[str, type[Stream]] = {
    "saturated": SaturatedStream,
    "static": StaticStream,
    "periodic": Periodic,
    "poisson": Poisson,
    "bursty": Bursty,
    "shifts": Shifts,
    "trace": Recorded,
}
"""The settings of all streams, by the `stream.arrival` that scenarios name."""


class Streams(Protocol):
    def wait_s(self, sensor: int, now_s: float) -> float:
        """How long a capture has to wait for a full batch."""

    def capture(self, sensor: int, round_number: int, now_s: float) -> Capture:
        """Takes what is there, at most a batch."""


class Saturated:
    """A full batch in every round, drawn anew every `redraw_rounds`, or never (None).

    `sizes` is None where every sensor owns more than a batch.
    """

    def __init__(self, batch: int, sizes: Sizes | None, redraw_rounds: int | None = 1) -> None:
        self._batch = batch
        self._sizes = sizes
        self._redraw_rounds = redraw_rounds
        self._of_round = lru_cache(maxsize=64)(self._capture)  # one object for all sensors of a round and size

    def wait_s(self, sensor: int, now_s: float) -> float:
        return 0.0

    def capture(self, sensor: int, round_number: int, now_s: float) -> Capture:
        owned = self._batch if self._sizes is None else int(self._sizes[sensor])
        return self._of_round(self._drawn_in(round_number), min(self._batch, owned))

    def _drawn_in(self, round_number: int) -> int:
        """Return the round that the batch of a round was drawn in."""
        return 1 if self._redraw_rounds is None else round_number - (round_number - 1) % self._redraw_rounds

    def _capture(self, round_number: int, captured: int) -> Capture:
        first = (round_number - 1) * self._batch
        return Capture(first, captured, 0, captured, ((first, captured),))


class Static:
    """The sensor's whole local set, every time."""

    def __init__(self, sizes: Sizes) -> None:
        self._sizes = sizes

    def wait_s(self, sensor: int, now_s: float) -> float:
        return 0.0

    def capture(self, sensor: int, round_number: int, now_s: float) -> Capture:
        owned = int(self._sizes[sensor])
        return Capture(0, owned, 0, owned, ((0, owned),))


class Buffered:
    """Streams that fill and overflow."""

    def __init__(self, settings: Stream, path: ArrivalPath) -> None:
        self._settings = settings
        self._buffers = Buffers(path, settings.batch, settings.buffer)

    def wait_s(self, sensor: int, now_s: float) -> float:
        if self._settings.short == "take":
            return 0.0
        ready_s = self._buffers.ready_s(sensor, now_s, self._settings.batch)
        if ready_s == inf:
            batch = self._settings.batch
            raise InputError(
                f"stream: sensor {sensor} never delivers {batch} more samples; stream.short: take goes on without"
            )
        return ready_s - now_s

    def capture(self, sensor: int, round_number: int, now_s: float) -> Capture:
        return self._buffers.capture(sensor, now_s)


def make_streams(
    settings: Stream, sensors: int, draws: Draws, sizes: Sizes | None = None, redraw_rounds: int | None = 1
) -> Streams:
    """Return the sensors' streams.

    `sizes` may be None where no sensor owns fewer samples than a capture takes; a static stream needs them.
    `redraw_rounds` is for how many rounds a saturated stream's batch lasts; None: for ever.
    """
    if isinstance(settings, Arriving):
        return Buffered(settings, settings.arrivals(sensors, draws))
    if isinstance(settings, StaticStream):
        assert sizes is not None
        return Static(sizes)
    return Saturated(settings.batch, sizes, redraw_rounds)
