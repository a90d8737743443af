"""Up or down by turns: the spells of things that fail and come back, each a path on the simulated clock.

The path of an entity (a cell, a sensor) is a function of the seed and the entity alone. It is asked in the order of
time: what it was before the last question is forgotten.

`Renewal`: up for an exponential time with mean u, down for one with mean d, and so on. The state at time zero is
drawn from the stationary law (up with probability u / (u + d)), so the availability is u / (u + d) at any time.
`Once`: one spell, the same for all that it hits. `AnyDown`: down while any of several paths is.
"""

from collections.abc import Collection, Sequence
from math import inf
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.seeds import Draws

_MOST_AT_ONCE = 4096  # sojourns drawn in one go
_WORTH_AN_ARRAY = 32
_MANY = 1024  # entities that are worth a pass over all at once


class Spell(NamedTuple):
    """How an entity stands at some time, and until when it stays so; infinity: for ever."""

    is_down: bool
    until_s: float


ALWAYS_UP = Spell(False, inf)


class Spells(Protocol):
    def spell_at(self, entity: int, now_s: float) -> Spell:
        """Return how an entity stands at a time that is not before that of the last question about it."""

    def prepare(self, entities: NDArray[np.int64], now_s: float) -> None:
        """Look ahead to this time for all these at once, because most of them will be asked about."""


class Once:
    """One spell of those that it hits; None: of all."""

    def __init__(self, at_s: float, for_s: float, hit: Collection[int] | None = None) -> None:
        self._at_s = at_s
        self._until_s = at_s + for_s
        self._hit = None if hit is None else frozenset(hit)

    def spell_at(self, entity: int, now_s: float) -> Spell:
        if now_s >= self._until_s or (self._hit is not None and entity not in self._hit):
            return ALWAYS_UP
        return Spell(True, self._until_s) if now_s >= self._at_s else Spell(False, self._at_s)

    def prepare(self, entities: NDArray[np.int64], now_s: float) -> None:
        """Do nothing: there is nothing to draw."""


class Renewal:
    """Exponential times up and down by turns, of each of the first `entities` entities that it hits."""

    def __init__(
        self,
        draws: Draws,
        purpose: str,
        entities: int,
        mean_up_s: float,
        mean_down_s: float,
        hit: Collection[int] | None = None,
    ) -> None:
        self._draws = draws
        self._purpose = purpose
        self._mean_s = np.array([mean_up_s, mean_down_s])
        self._mean_sojourn_s = (mean_up_s + mean_down_s) / 2
        self._hit = None if hit is None else frozenset(hit)
        everyone = np.arange(entities)
        up_share = mean_up_s / (mean_up_s + mean_down_s)
        self._starts_down = draws.uniform(f"{purpose}/start", everyone) >= up_share
        self._sojourn = np.zeros(entities, dtype=np.int64)  # how many have been begun
        self._until_s = np.zeros(entities)  # when the last one begun ends

    def spell_at(self, entity: int, now_s: float) -> Spell:
        if self._hit is not None and entity not in self._hit:
            return ALWAYS_UP
        until_s = self._until_s.item(entity)
        while until_s <= now_s:
            until_s = self._go_on(entity, now_s)
        is_opposite_of_start = self._sojourn.item(entity) % 2 == 0  # the second one begun, the fourth, ...
        return Spell(is_opposite_of_start != self._starts_down.item(entity), until_s)

    def prepare(self, entities: NDArray[np.int64], now_s: float) -> None:
        if len(entities) < _MANY:
            return
        behind = entities[self._until_s[entities] <= now_s]
        while len(behind):
            self._until_s[behind] += self._lengths_s(behind, self._sojourn[behind])
            self._sojourn[behind] += 1
            behind = behind[self._until_s[behind] <= now_s]

    def down_s(self, until_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how long each entity is down until a time of its own, whatever was asked before."""
        everyone = range(len(self._until_s)) if self._hit is None else sorted(self._hit)
        entities, sojourn = np.array(everyone, dtype=np.int64), 0
        down_s, ends_s = np.zeros(len(self._until_s)), np.zeros(len(self._until_s))
        while len(entities):
            begin_s = ends_s[entities]
            ends_s[entities] += self._lengths_s(entities, np.full(len(entities), sojourn))
            is_down = (sojourn % 2 == 1) != self._starts_down[entities]
            down_s[entities] += np.where(is_down, np.minimum(ends_s[entities], until_s[entities]) - begin_s, 0.0)
            entities, sojourn = entities[ends_s[entities] < until_s[entities]], sojourn + 1
        return down_s

    def _go_on(self, entity: int, now_s: float) -> float:
        """Begin as many sojourns as will bring the path about to this time, and return when the last of them ends."""
        begun, until_s = self._sojourn.item(entity), self._until_s.item(entity)
        missing = int((now_s - until_s) / self._mean_sojourn_s)
        if missing < _WORTH_AN_ARRAY:
            until_s += self._length_s(entity, begun)
            self._sojourn[entity], self._until_s[entity] = begun + 1, until_s
            return until_s
        sojourns = begun + np.arange(min(missing, _MOST_AT_ONCE))
        lengths_s = self._lengths_s(np.int64(entity), sojourns)
        ends_s = np.cumsum(np.append(until_s, lengths_s))[1:]  # one after the other: rounded as if drawn one by one
        taken = min(int(np.searchsorted(ends_s, now_s, side="right")), len(sojourns) - 1)
        self._sojourn[entity] = begun + taken + 1
        self._until_s[entity] = ends_s[taken]
        return float(ends_s[taken])

    def _length_s(self, entity: int, sojourn: int) -> float:
        """Return what `_lengths_s` does, to the last bit, for one."""
        is_down = (sojourn % 2 == 1) != self._starts_down.item(entity)
        uniform = self._draws.one_uniform(self._purpose, entity, sojourn)
        return float(-np.log1p(-uniform) * self._mean_s[int(is_down)])

    def _lengths_s(self, entities: NDArray[np.int64] | np.int64, sojourns: NDArray[np.int64]) -> NDArray[np.float64]:
        is_down = (sojourns % 2 == 1) != self._starts_down[entities]
        uniform = self._draws.uniform(self._purpose, entities, sojourns)
        return np.asarray(-np.log1p(-uniform) * self._mean_s[is_down.astype(np.int64)])


class AnyDown:
    """Down while any of the paths is."""

    def __init__(self, paths: Sequence[Spells]) -> None:
        self.paths = tuple(paths)
        self._known: dict[int, Spell] = {}

    def spell_at(self, entity: int, now_s: float) -> Spell:
        known = self._known.get(entity)
        if known is None or known.until_s <= now_s:
            known = self._known[entity] = self._joint(entity, now_s)
        return known

    def prepare(self, entities: NDArray[np.int64], now_s: float) -> None:
        for path in self.paths:
            path.prepare(entities, now_s)

    def _joint(self, entity: int, now_s: float) -> Spell:
        """Return when the first of the paths goes down, or when for the first time none of them is."""
        down_until_s = now_s
        while down_until_s < inf:
            spells_now = [path.spell_at(entity, down_until_s) for path in self.paths]
            ends_s = [each.until_s for each in spells_now if each.is_down]
            if not ends_s:
                break
            down_until_s = max(ends_s)
        if down_until_s > now_s:
            return Spell(True, down_until_s)
        return Spell(False, min((each.until_s for each in spells_now), default=inf))

    def end(self, entity: int) -> None:
        """Let an entity be down for ever, from now on."""
        self._known[entity] = Spell(True, inf)
