"""The chains that have started, and that no round has taken in yet: under way, or just come to their end.

A round with a barrier ends with none of them. Without a barrier (window_play.py) they go on from window to window.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.rounds import Group, Participation


class RunningChain(NamedTuple):
    """A chain that has started. `number` counts all chains of a run."""

    number: int
    started: int
    """The round in which it did."""
    model: int
    """How many models the server had made by then."""
    group: Group
    handed_over: list[Participation]
    """What its sensors did, of those that have handed over; it grows while the chain runs."""


class EndedChain(NamedTuple):
    """A chain that is over. Chains that end at one instant are taken in in the order in which they started."""

    end_s: float
    chain: RunningChain
    has_arrived: bool


class UnderWay:
    """The books of these chains. `World` owns one for the whole run; `WindowPlay` notes in it what starts and ends."""

    def __init__(self) -> None:
        self._chains = 0  # under way, or over and not taken in yet
        self._chains_begun = 0
        self._started: Counter[int] = Counter()  # chains by the round in which they started
        self._busy: set[int] = set()
        self._ended: list[EndedChain] = []
        self.models = 0
        """How many the server has made: one in each window that was not void."""
        self.on_end: Callable[[], None] | None = None
        """What to call when a chain ends: set by the window that is being played."""

    def __len__(self) -> int:
        return self._chains

    @property
    def sensors(self) -> NDArray[np.int64]:
        """The sensors of all the chains, ascending."""
        return np.sort(np.fromiter(self._busy, np.int64, len(self._busy)))

    @property
    def rounds(self) -> tuple[int, ...]:
        """The rounds in which the chains started, each once, ascending."""
        return tuple(sorted(self._started))

    def begin(self, started: int, group: Group) -> RunningChain:
        """Note that a chain starts, in this round."""
        chain = RunningChain(self._chains_begun, started, self.models, group, [])
        self._busy.update(group.sensors)
        self._started[started] += 1
        self._chains += 1
        self._chains_begun += 1
        return chain

    def end(self, end_s: float, chain: RunningChain, *, has_arrived: bool) -> None:
        """Note that a chain is over; its sensors are busy until it is taken in."""
        self._ended.append(EndedChain(end_s, chain, has_arrived))
        if self.on_end is not None:
            self.on_end()

    def take(self, arrivals: int | None) -> list[EndedChain]:
        """Take in those that are over, in order, up to and including this many that have arrived; None: all."""
        ended = sorted(self._ended, key=lambda each: (each.end_s, each.chain.number))
        taken = ended if arrivals is None else _first(ended, arrivals)
        self._ended = ended[len(taken) :]
        for _, chain, _ in taken:
            self._busy.difference_update(chain.group.sensors)
            self._started[chain.started] -= 1
            if not self._started[chain.started]:
                del self._started[chain.started]
        self._chains -= len(taken)
        return taken

    def is_busy(self, sensor: int) -> bool:
        return sensor in self._busy


def _first(ended: list[EndedChain], arrivals: int) -> list[EndedChain]:
    """Return the first of those that are over, up to the one that makes `arrivals` of them arrived, or all."""
    counted = accumulate(each.has_arrived for each in ended)
    place = next((place for place, count in enumerate(counted) if count == arrivals), len(ended))
    return ended[: place + 1]


class Standby:
    """Groups that wait for their turn: the first of which no sensor is busy is next.

    A group is blocked by its first sensor that is busy, and is looked at again when that sensor is idle.
    """

    def __init__(self, groups: Iterable[Group], under_way: UnderWay) -> None:
        self._under_way = under_way
        self._unseen = enumerate(groups)
        self._blocked: dict[int, list[tuple[int, Group]]] = {}
        self._released: list[tuple[int, Group]] = []  # a heap; all come before those not looked at yet

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
        """Look again at the groups that wait for a sensor of this one, whose chain is over."""
        for sensor in group.sensors:
            for waiting in self._blocked.pop(sensor, ()):
                heappush(self._released, waiting)
