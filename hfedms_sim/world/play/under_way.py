"""The chains that have started, and that no round has taken in yet: under way, or just come to their end.

A round with a barrier ends with none of them. Where there is none (window_play.py) they go on from window to window.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.rounds import Group, Participation


class Course(NamedTuple):
    """A chain that has started. `number` counts all of a run; `chain` grows as its sensors hand over."""

    number: int
    started: int
    """The round in which it did."""
    model: int
    """How many models the server had made by then."""
    group: Group
    chain: list[Participation]


class End(NamedTuple):
    """A chain that is over. The server hears of those of one instant in the order in which they started."""

    end_s: float
    course: Course
    has_arrived: bool


class UnderWay:
    def __init__(self) -> None:
        self._courses = self._begun = 0
        self._started: Counter[int] = Counter()  # chains by the round in which they started
        self._busy: set[int] = set()
        self._ended: list[End] = []
        self.models = 0
        """How many the server has made: one in each window that was not void."""
        self.on_end: Callable[[], None] | None = None
        """Who is told when a chain ends."""

    def __len__(self) -> int:
        return self._courses

    @property
    def sensors(self) -> NDArray[np.int64]:
        """The sensors of all the chains, ascending."""
        return np.sort(np.fromiter(self._busy, np.int64, len(self._busy)))

    @property
    def rounds(self) -> tuple[int, ...]:
        """The rounds in which the chains started, each once, ascending."""
        return tuple(sorted(self._started))

    def begin(self, started: int, group: Group) -> Course:
        """Note that a chain starts, in this round."""
        course = Course(self._begun, started, self.models, group, [])
        self._busy.update(group.sensors)
        self._started[started] += 1
        self._courses += 1
        self._begun += 1
        return course

    def end(self, end_s: float, course: Course, *, has_arrived: bool) -> None:
        """Note that a chain is over; its sensors are busy until it is taken in."""
        self._ended.append(End(end_s, course, has_arrived))
        if self.on_end is not None:
            self.on_end()

    def take(self, arrivals: int | None) -> list[End]:
        """Take in those that are over, in order, up to and including this many that have arrived; None: all."""
        ended = sorted(self._ended, key=lambda end: (end.end_s, end.course.number))
        taken = ended if arrivals is None else _first(ended, arrivals)
        self._ended = ended[len(taken) :]
        for _, course, _ in taken:
            self._busy.difference_update(course.group.sensors)
            self._started[course.started] -= 1
            if not self._started[course.started]:
                del self._started[course.started]
        self._courses -= len(taken)
        return taken

    def is_busy(self, sensor: int) -> bool:
        return sensor in self._busy


def _first(ended: list[End], arrivals: int) -> list[End]:
    """Return the first of those that are over, with so many that have arrived."""
    counted = accumulate(end.has_arrived for end in ended)
    place = next((place for place, count in enumerate(counted) if count == arrivals), len(ended))
    return ended[: place + 1]


class Standby:
    """Groups that wait for their turn: the first of which no sensor is busy is next.

    A group that is found busy is looked at again when the sensor is idle that it was found to wait for.
    """

    def __init__(self, groups: Iterable[Group], under_way: UnderWay) -> None:
        self._under_way = under_way
        self._unseen = enumerate(groups)
        self._blocked: dict[int, list[tuple[int, Group]]] = {}
        self._released: list[tuple[int, Group]] = []  # a heap; they all come before whoever was not looked at yet

    def next(self) -> Group | None:
        """Return the group that is next, which is then no longer waiting; None: there is none."""
        while (waiting := heappop(self._released) if self._released else next(self._unseen, None)) is not None:
            place, group = waiting
            busy = next((each for each in group.sensors if self._under_way.is_busy(each)), None)
            if busy is None:
                return group
            self._blocked.setdefault(busy, []).append((place, group))
        return None

    def release(self, group: Group) -> None:
        """Look again at whoever waits for a sensor of a chain that is over."""
        for sensor in group.sensors:
            for waiting in self._blocked.pop(sensor, ()):
                heappush(self._released, waiting)
