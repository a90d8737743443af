"""How a process waits for a part that is down, and hears that a part it needs goes down.

    wait_until_up    waits until all parts are up again, and gives up after the timeout
    Watch            calls the subscribers of a part at the moment it goes down or comes back
    Interrupting     interrupts a process at that moment

All look at paths that are known ahead (spells.py), so nothing has to happen on the clock while no process needs a part.
"""

from collections.abc import Callable, Sequence
from functools import partial
from heapq import heappop, heappush
from math import inf
from typing import NamedTuple

from simpy import Environment, Event, Timeout
from simpy.events import Process, ProcessGenerator

from hfedms_sim.world.faults.spells import AnyDown, Spell, Spells


class GivenUp(Exception):  # noqa: N818  what happened, as simpy.Interrupt is to a process
    """A sensor or a chain has waited long enough, or was tried often enough. `part`: what it waited for, if it did."""

    def __init__(self, reason: str, part: "Part | None" = None) -> None:
        super().__init__(reason)
        self.part = part


class Crashed(Exception):  # noqa: N818
    """The sensor has lost what it held. The cause of an interrupt."""


class Disturbed(Exception):  # noqa: N818
    """A transfer that is under way cannot go on as it is. The cause of an interrupt."""


class RoundClosed(Exception):  # noqa: N818
    """The round is closed: a chain or a report that has not arrived is late. The cause of an interrupt."""


class Part(NamedTuple):
    """What a step needs and what can be down: `entity` is its number among those of the path `spells`."""

    spells: Spells
    entity: int
    name: str
    """As the table of faults calls it."""

    def spell_at(self, now_s: float) -> Spell:
        return self.spells.spell_at(self.entity, now_s)


def wait_until_up(env: Environment, parts: Sequence[Part], timeout_s: float) -> ProcessGenerator:
    """Wait until all the parts are up at once; raise `GivenUp` after the timeout."""
    gives_up_s = env.now + timeout_s
    while (down := _down(parts, env.now)) is not None:
        part, until_s = down
        if until_s > gives_up_s:
            yield from wait_until(env, gives_up_s)
            raise GivenUp(f"{part.name} is down", part)
        yield Timeout(env, until_s - env.now)


def wait_until(env: Environment, time_s: float) -> ProcessGenerator:
    """Wait until a time, again if the clock rounded it short."""
    while env.now < time_s:
        yield Timeout(env, time_s - env.now)


def _down(parts: Sequence[Part], now_s: float) -> tuple[Part, float] | None:
    """Return the first part that is down, and until when."""
    for part in parts:
        spell = part.spell_at(now_s)
        if spell.is_down:
            return part, spell.until_s
    return None


OnChange = Callable[[], object]


class Watch:
    """Calls the subscribers of an entity when its spell changes.

    There is one alarm, for the next change of all entities with subscribers: most have none any more when they change.
    """

    def __init__(self, env: Environment, spells: AnyDown | Spells) -> None:
        self.env = env
        self.spells = spells
        self.never_changes = isinstance(spells, AnyDown) and not spells.paths
        """Whether no spell ever changes while a round is played, so that there is nothing to subscribe to."""
        self._subscribers: dict[int, list[OnChange]] = {}
        self._changes: list[tuple[float, int]] = []  # heap: when, and of which entity
        self._awaited_s: dict[int, float] = {}  # by entity: which of its changes in the heap is valid
        self._alarm_s = inf

    @property
    def is_unwatched(self) -> bool:
        """Whether there are no subscribers now."""
        return not self._subscribers

    def subscribe(self, entity: int, on_change: OnChange) -> None:
        """Call `on_change` whenever the entity goes down or comes back, until `unsubscribe`."""
        self._subscribers.setdefault(entity, []).append(on_change)
        self._await(entity)

    def unsubscribe(self, entity: int, on_change: OnChange) -> None:
        subscribers = self._subscribers[entity]
        subscribers.remove(on_change)
        if not subscribers:
            del self._subscribers[entity]

    def _await(self, entity: int) -> None:
        changes_s = self.spells.spell_at(entity, self.env.now).until_s
        if changes_s < inf and self._awaited_s.get(entity) != changes_s:
            self._awaited_s[entity] = changes_s
            heappush(self._changes, (changes_s, entity))
            self._set_alarm()

    def _set_alarm(self) -> None:
        """Set the alarm for the next change, unless an earlier one is set: that one will look again."""
        if self._changes and self._changes[0][0] < self._alarm_s:
            self._alarm_s = self._changes[0][0]
            Timeout(self.env, self._alarm_s - self.env.now).callbacks.append(partial(self._ring, self._alarm_s))

    def _ring(self, alarm_s: float, alarm: Event) -> None:
        if alarm_s != self._alarm_s:
            return  # replaced by an earlier one
        self._alarm_s = inf
        while self._changes and self._changes[0][0] <= self.env.now:
            changes_s, entity = heappop(self._changes)
            if self._awaited_s.get(entity) == changes_s:
                del self._awaited_s[entity]
                for on_change in tuple(self._subscribers.get(entity, ())):
                    on_change()
                if entity in self._subscribers:
                    self._await(entity)
        self._set_alarm()


class Interrupting:
    """A context: a change of any of these entities within it interrupts the process with this cause."""

    __slots__ = ("_cause", "_process", "_watched")

    def __init__(self, process: Process, cause: Exception, watched: Sequence[tuple[Watch, int]]) -> None:
        self._process = process
        self._cause = cause
        self._watched = watched

    def __enter__(self) -> None:
        for watch, entity in self._watched:
            watch.subscribe(entity, self)

    def __exit__(self, *error: object) -> None:
        for watch, entity in self._watched:
            watch.unsubscribe(entity, self)

    def __call__(self) -> None:
        self._process.interrupt(self._cause)
