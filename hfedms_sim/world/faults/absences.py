"""Who is away, and until when: the absences that a roster or a file says, as paths of spells. Away is down.

Roster. Second 0 is s o'clock (`starts_h`) of day 0. A group's shift of day d is there in [b, b + l), where

    b = 24 h d + from_h - s,    l = hours,

if the weekday of d is one of the group's, and d is not a holiday. Days before day 0 have shifts too, and no holidays.
Shifts that touch are one. All sensors of a group stand alike, and nothing is kept for a single sensor. Hours are
rounded to whole milliseconds, so that whether two shifts touch does not depend on how numbers are rounded.

File. `sensor,from_s,until_s`: a sensor is there in [from_s, until_s). Its rows ascend and do not overlap; rows that
touch are one, and so are the last and the first if the file is repeated. A sensor without rows is always there.

Left out: time zones and summer time, for which every day has 24 h.
"""

from array import array
from bisect import bisect_right
from itertools import accumulate, count
from math import inf
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.scenario.availability import WEEKDAYS, AlwaysThere, PresenceCsv, Roster, Shift
from hfedms_sim.units import SECONDS_PER_DAY, SECONDS_PER_HOUR
from hfedms_sim.world.csv_rows import number_of, read_rows, sensor_of
from hfedms_sim.world.faults.spells import ALWAYS_UP, Spell, Spells

CSV_HEADER = ["sensor", "from_s", "until_s"]
_MS_PER_S = 1000
_MS_PER_DAY = round(SECONDS_PER_DAY * _MS_PER_S)
_DAYS_PER_WEEK = len(WEEKDAYS)


def absences_of(settings: AlwaysThere | Roster | PresenceCsv, sensors: int) -> Spells | None:
    """Return when sensors are away, or None if they never are; a file that is wrong is an InputError."""
    if isinstance(settings, Roster):
        return RosterAbsences(settings)
    if isinstance(settings, PresenceCsv):
        return RecordedAbsences(Path(settings.path), sensors, settings.repeat_s)
    return None


class RosterAbsences:
    """The absences of groups of sensors that work in shifts."""

    def __init__(self, roster: Roster) -> None:
        self._groups = tuple(_Group(roster, shift) for shift in roster.groups)
        self._ends = tuple(accumulate(shift.sensors for shift in roster.groups))

    def spell_at(self, entity: int, now_s: float) -> Spell:
        return self._groups[bisect_right(self._ends, entity)].spell_at(now_s)

    def prepare(self, entities: NDArray[np.int64], now_s: float) -> None:
        """Do nothing: a group's spell is looked up once for all its sensors."""


class _Group:
    """The shifts of one group. A day is a number, and day 0 is the first of the run."""

    def __init__(self, roster: Roster, shift: Shift) -> None:
        first = WEEKDAYS.index(roster.starts_on)
        self._days = frozenset((WEEKDAYS.index(day) - first) % _DAYS_PER_WEEK for day in shift.days)
        self._free_days = frozenset(roster.holidays)
        self._missed_days = sorted(day for day in roster.holidays if day % _DAYS_PER_WEEK in self._days)
        self._offset_ms = _whole_ms(shift.from_h) - _whole_ms(roster.starts_h)
        self._length_ms = max(1, _whole_ms(shift.hours))
        self._never_ends = len(self._days) * self._length_ms == _DAYS_PER_WEEK * _MS_PER_DAY  # but on holidays
        self._asked_s = inf
        self._known = ALWAYS_UP

    def spell_at(self, now_s: float) -> Spell:
        """Return how all sensors of the group stand; it is only looked up when that may have changed."""
        if not self._asked_s <= now_s < self._known.until_s:
            self._asked_s, self._known = now_s, self._looked_up(now_s)
        return self._known

    def _looked_up(self, now_s: float) -> Spell:
        today = self._day_of(now_s)
        # No shift is longer than a week: an earlier one is over.
        begun = next((day for day in range(today, today - _DAYS_PER_WEEK, -1) if self._has_shift(day)), None)
        if begun is not None and (self._begin_ms(begun) + self._length_ms) / _MS_PER_S > now_s:
            return Spell(False, self._leaves_s(begun))
        back = next(day for day in count(today + 1) if self._has_shift(day))
        return Spell(True, self._begin_ms(back) / _MS_PER_S)

    def _day_of(self, now_s: float) -> int:
        """Return the last day on which a shift would have begun by now."""
        day = int((now_s * _MS_PER_S - self._offset_ms) // _MS_PER_DAY) + 1  # at least, however numbers are rounded
        while self._begin_ms(day) / _MS_PER_S > now_s:
            day -= 1
        return day

    def _leaves_s(self, day: int) -> float:
        """Return when the shift of this day ends, or the last of those that follow it without a break."""
        if self._never_ends:
            following = bisect_right(self._missed_days, day)
            if following == len(self._missed_days):
                return inf
            return self._begin_ms(self._missed_days[following]) / _MS_PER_S
        length_days, rest_ms = divmod(self._length_ms, _MS_PER_DAY)
        while rest_ms == 0 and self._has_shift(day + length_days):
            day += length_days
        return (self._begin_ms(day) + self._length_ms) / _MS_PER_S

    def _has_shift(self, day: int) -> bool:
        return day % _DAYS_PER_WEEK in self._days and day not in self._free_days

    def _begin_ms(self, day: int) -> int:
        return day * _MS_PER_DAY + self._offset_ms


def _whole_ms(hours: float) -> int:
    return round(hours * SECONDS_PER_HOUR * _MS_PER_S)


class RecordedAbsences:
    """The absences that a file says, with the header `sensor,from_s,until_s` of when sensors are there.

    What is kept is when each sensor comes or goes, by turns, one sensor after the other: the changes of sensor s are
    `starts[s]` to `starts[s + 1]`. Before its first change a sensor is away, unless it is `there_before`: over the
    seam of a file that is repeated.
    """

    def __init__(self, path: Path, sensors: int, repeat_s: float | None = None) -> None:
        named, times_s = _read(path, sensors, repeat_s)
        there_before = np.zeros(sensors, dtype=np.bool_)
        if repeat_s is not None:
            is_seam = times_s == repeat_s
            there_before[named[is_seam]] = True
            times_s = np.where(is_seam, 0.0, times_s)
        named, times_s = _without_touches(named, times_s)
        starts = np.concatenate(([0], np.cumsum(np.bincount(named, minlength=sensors), dtype=np.int64)))
        self._repeat_s = repeat_s
        self._changes_s = array("d", times_s.tobytes())
        self._starts = array("q", starts.tobytes())
        self._there_before = there_before.tobytes()

    def spell_at(self, entity: int, now_s: float) -> Spell:
        first, end = self._starts[entity], self._starts[entity + 1]
        if first == end:
            return ALWAYS_UP
        begin_s, next_s = self._repetition(now_s)
        # Times of the run, as they are told: whoever asks at one of them finds the change made.
        following = bisect_right(self._changes_s, now_s, first, end, key=begin_s.__add__)
        is_there = bool(self._there_before[entity]) != ((following - first) % 2 == 1)
        until_s = begin_s + self._changes_s[following] if following < end else next_s + self._changes_s[first]
        return Spell(not is_there, until_s)

    def prepare(self, entities: NDArray[np.int64], now_s: float) -> None:
        """Do nothing: all has been read."""

    def _repetition(self, now_s: float) -> tuple[float, float]:
        """Return when the file's times last began, and when they begin anew."""
        if self._repeat_s is None:
            return 0.0, inf
        number = now_s // self._repeat_s
        if (number + 1) * self._repeat_s <= now_s:  # a product that was rounded down
            number += 1
        return number * self._repeat_s, (number + 1) * self._repeat_s


def _read(path: Path, sensors: int, repeat_s: float | None) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the sensor of each row's two times, and the times."""
    named, times_s = array("q"), array("d")
    last_until_s: dict[int, float] = {}
    largest_s = inf if repeat_s is None else repeat_s
    allowed = "a finite number of seconds, at least 0"
    if repeat_s is not None:
        allowed = f"a number of seconds from 0 to repeat_s, which is {repeat_s:g}"

    def take(row: list[str]) -> None:
        sensor = sensor_of(row[0], sensors)
        from_s = number_of("from_s", row[1], largest_s, allowed)
        until_s = number_of("until_s", row[2], largest_s, allowed)
        earliest_s = last_until_s.get(sensor, 0.0)
        if until_s <= from_s:
            raise ValueError(f"until_s = {until_s}: must be greater than from_s, which is {from_s}")
        if from_s < earliest_s:
            raise ValueError(
                f"from_s = {from_s}: must be at least {earliest_s}, the until_s of the row before of sensor {sensor}"
            )
        last_until_s[sensor] = until_s
        named.extend((sensor, sensor))
        times_s.extend((from_s, until_s))

    read_rows(path, CSV_HEADER, take)
    return np.array(named, dtype=np.int64), np.array(times_s, dtype=np.float64)


def _without_touches(
    named: NDArray[np.int64], times_s: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return each sensor's times in order, without those at which it goes and comes at once."""
    order = np.lexsort((times_s, named))
    named, times_s = named[order], times_s[order]
    is_as_next = (named[1:] == named[:-1]) & (times_s[1:] == times_s[:-1])
    is_change = np.ones(len(named), dtype=np.bool_)
    is_change[:-1] &= ~is_as_next
    is_change[1:] &= ~is_as_next
    return named[is_change], times_s[is_change]
