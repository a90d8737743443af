"""The simulated clock: a SimPy environment that may be moved on by hand where nothing happens in between."""

from simpy import Environment


class Clock(Environment):
    def __init__(self) -> None:
        super().__init__(0.0)
        self.agenda = self._queue
        """What is scheduled, the soonest first; an entry begins with its time.

        What would be the callback of the next event may set `_now` to any time before the first entry and go on by
        itself, without a detour through the event queue.
        """
