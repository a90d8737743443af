"""What a sensor has when it is asked for samples.

A sample is known by its arrival index on the sensor's own path: a capture takes `captured` samples from
`first_arrival` on. `saturated`: round r always finds a full fresh batch, the arrivals (r - 1) n .. r n - 1,
whatever the clock says. `static`: the sensor's whole local set, the same each time. Both have nominal sizes: how
many samples a sensor really owns is the data set's business.
"""

from typing import NamedTuple

from hfedms_sim.scenario.scenario import Stream

NOMINAL_STATIC_SAMPLES = 200


class Capture(NamedTuple):
    first_arrival: int
    arrived: int
    overflowed: int
    captured: int


class Streams:
    def __init__(self, settings: Stream) -> None:
        self._settings = settings

    def capture(self, round_number: int) -> Capture:
        if self._settings.arrival == "static":
            return Capture(0, NOMINAL_STATIC_SAMPLES, 0, NOMINAL_STATIC_SAMPLES)
        batch = self._settings.batch
        return Capture((round_number - 1) * batch, batch, 0, batch)
