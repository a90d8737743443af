"""The simulated clock: a SimPy environment that may be moved on by hand where nothing happens in between."""

from simpy import Environment


class Clock(Environment):
    def __init__(self) -> None:
        super().__init__(0.0)

    def skip_to(self, time_s: float) -> bool:
        """Moves on, unless something is scheduled before that time or at it.

        What would be the next event's callback can so go on by itself, without a detour through the event queue.
        """
        queue = self._queue
        if queue and queue[0][0] <= time_s:
            return False
        self._now = time_s
        return True
