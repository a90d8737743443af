"""When a released radio can be reached: at its next paging occasion, or when it wakes by itself.

Occasions of a sensor lie at phase + k cycle for whole k, its phase being u cycle with a keyed draw u in [0, 1): the
same u on every radio, under every strategy. A downlink that comes at a time that knows nothing of it waits for
cycle / 2 in the mean. In PSM a sensor has occasions for `active_s` after its release; then it sleeps until
phase + k wake_every_s, or, where it knows when it is wanted, until then.

Left out: pages that are missed, the paging window of an eDRX cycle (an occasion is a point in time), and that a sensor
which sends while its page is due could be reached there and then.
"""

from math import ceil

from hfedms_sim.scenario import Idle
from hfedms_sim.seeds import Draws

_PURPOSE = "paging"


class Paging:
    """How the radios of a cell are reached while they are released."""

    def __init__(self, idle: Idle, draws: Draws) -> None:
        self._draws = draws
        self._sleeps = idle.mode == "psm"
        self._cycle_s = idle.pages_every_s
        self.active_s = idle.active_s if self._sleeps else 0.0
        self.wake_s = idle.extra_setup_s
        self._wake_every_s = idle.wakes_every_s

    def is_asleep(self, released_s: float, now_s: float) -> bool:
        """Return whether a sensor that was released then is in PSM now."""
        return self._sleeps and released_s + self.active_s <= now_s

    def wait_s(self, sensor: int, released_s: float, now_s: float) -> float:
        """Return how long a downlink waits that is ready now, for a sensor that was released then."""
        if not self._sleeps:
            return self._until_next_s(sensor, self._cycle_s, now_s)
        if not self.is_asleep(released_s, now_s):
            paged_s = self._until_next_s(sensor, self._cycle_s, now_s)
            if not self.is_asleep(released_s, now_s + paged_s):
                return paged_s
        return self._until_next_s(sensor, self._wake_every_s, now_s)

    def _until_next_s(self, sensor: int, cycle_s: float | None, now_s: float) -> float:
        """Return the time to the sensor's next occasion; none where it is reachable at any time."""
        if cycle_s is None:
            return 0.0
        phase_s = cycle_s * self._draws.one_uniform(_PURPOSE, sensor)
        return max(0.0, phase_s + cycle_s * ceil((now_s - phase_s) / cycle_s) - now_s)
