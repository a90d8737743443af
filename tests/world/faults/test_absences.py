"""Who is away: rosters against a calendar that is walked through, files against their rows, and every wrong file."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice, pairwise
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hfedms_sim.errors import InputError
from hfedms_sim.scenario.availability import WEEKDAYS, AlwaysThere, PresenceCsv, Roster
from hfedms_sim.world.faults.absences import absences_of
from hfedms_sim.world.faults.spells import AnyDown, Once, Spell, Spells

H = 3600.0
D = 24 * H
WEEK = 7 * D
WORKDAYS = ["mon", "tue", "wed", "thu", "fri"]
FOR_EVER = Spell(False, inf)
MONDAY = datetime(2024, 1, 1)
MINUTES_PER_DAY = 24 * 60


def roster(*groups: dict[str, Any], **settings: Any) -> Spells:
    shifts = [{"sensors": 1, "from_h": 0} | group for group in groups]
    made = Roster.model_validate({"kind": "roster", "groups": shifts} | settings)
    found = absences_of(made, made.sensors)
    assert found is not None
    return found


def recorded(directory: Path, rows: str | bytes, sensors: int = 3, repeat_s: float | None = None) -> Spells:
    path = directory / "there.csv"
    path.write_bytes(rows if isinstance(rows, bytes) else f"sensor,from_s,until_s\n{rows}".encode())
    found = absences_of(PresenceCsv(kind="csv", path=str(path), repeat_s=repeat_s), sensors)
    assert found is not None
    return found


def walk(path: Spells, sensor: int = 0, now_s: float = 0.0) -> Iterator[Spell]:
    """Ask at the start, and then whenever something changes."""
    while now_s < inf:
        standing = path.spell_at(sensor, now_s)
        assert standing.until_s > now_s
        yield standing
        now_s = standing.until_s


def changes_h(path: Spells, count: int, sensor: int = 0) -> list[float]:
    """The first hours at which a sensor comes or goes; they are negative where it goes."""
    standings = list(islice(walk(path, sensor), count))
    assert all(earlier.is_down != later.is_down for earlier, later in pairwise(standings))
    return [each.until_s / H * (1 if each.is_down else -1) for each in standings]


def test_nobody_is_away_if_all_are_always_there() -> None:
    assert absences_of(AlwaysThere(), 10) is None


# Rosters: single cases


def test_a_day_shift_comes_and_goes_every_day() -> None:
    path = roster({"from_h": 6, "hours": 16})
    assert changes_h(path, 6) == [6, -22, 30, -46, 54, -70]


def test_a_shift_is_there_from_its_first_moment_and_gone_at_its_last() -> None:
    path = roster({"from_h": 6, "hours": 16})
    assert path.spell_at(0, np.nextafter(6 * H, 0)) == (True, 6 * H)
    assert path.spell_at(0, 6 * H) == (False, 22 * H)
    assert path.spell_at(0, np.nextafter(22 * H, 0)) == (False, 22 * H)
    assert path.spell_at(0, 22 * H) == (True, 30 * H)


def test_second_zero_is_the_hour_at_which_the_run_begins() -> None:
    assert changes_h(roster({"from_h": 6, "hours": 16}, starts_h=5.5), 3) == [0.5, -16.5, 24.5]
    assert changes_h(roster({"from_h": 6, "hours": 16}, starts_h=6), 3) == [-16, 24, -40]
    assert changes_h(roster({"from_h": 6, "hours": 16}, starts_h=23), 3) == [7, -23, 31]


def test_a_shift_of_day_zero_that_began_before_the_run_is_on() -> None:
    assert changes_h(roster({"from_h": 6, "hours": 16}, starts_h=8), 2) == [-14, 22]


def test_a_night_shift_of_the_day_before_the_run_is_still_on() -> None:
    assert changes_h(roster({"from_h": 22, "hours": 8}), 3) == [-6, 22, -30]


def test_a_night_shift_belongs_to_the_day_on_which_it_begins() -> None:
    nights = {"from_h": 22, "hours": 8, "days": ["mon"]}
    assert changes_h(roster(nights), 2) == [22, -30]
    assert changes_h(roster(nights, starts_on="tue"), 2) == [-6, 6 * 24 + 22]
    assert changes_h(roster(nights, starts_on="wed"), 1) == [5 * 24 + 22]


def test_a_shift_goes_over_from_sunday_to_monday() -> None:
    path = roster({"from_h": 20, "hours": 12, "days": ["sun"]}, starts_on="sat")
    assert changes_h(path, 4) == [44, -56, 44 + 168, -56 - 168]
    assert changes_h(roster({"from_h": 20, "hours": 12, "days": ["sun"]}), 2) == [-8, 6 * 24 + 20]


def test_a_long_shift_may_have_begun_days_before_the_run() -> None:
    long = {"from_h": 12, "hours": 100, "days": ["thu"]}
    assert changes_h(roster(long), 2) == [-16, 3 * 24 + 12]  # Thursday noon to Monday, 4 pm
    assert changes_h(roster(long, starts_h=16), 1) == [2 * 24 + 20]


def test_the_week_begins_on_the_day_that_is_said() -> None:
    week = {"from_h": 6, "hours": 16, "days": WORKDAYS}
    assert changes_h(roster(week, starts_on="fri"), 4) == [6, -22, 78, -94]
    assert changes_h(roster(week, starts_on="sun"), 2) == [30, -46]


def test_days_that_touch_are_one_presence() -> None:
    week = {"from_h": 6, "hours": 24, "days": WORKDAYS}
    assert changes_h(roster(week), 4) == [6, -(5 * 24 + 6), 174, -(12 * 24 + 6)]
    assert changes_h(roster(week | {"days": ["sat", "sun", "mon"]}, starts_on="sat"), 2) == [6, -78]
    assert changes_h(roster(week | {"days": ["sat", "sun", "mon"]}), 2) == [-30, 5 * 24 + 6]


def test_shifts_of_several_days_that_touch_are_one_presence() -> None:
    assert changes_h(roster({"from_h": 6, "hours": 48, "days": ["mon", "wed"]}), 3) == [6, -(4 * 24 + 6), 174]


@pytest.mark.parametrize("starts_on", ["mon", "thu"])
@pytest.mark.parametrize("starts_h", [0, 5.9, 7.1])
@pytest.mark.parametrize("shift", [{"hours": 24}, {"hours": 168, "days": ["wed"]}])
def test_shifts_round_the_clock_are_never_away(shift: dict[str, Any], starts_h: float, starts_on: str) -> None:
    path = roster(shift | {"from_h": 5.9}, starts_on=starts_on, starts_h=starts_h)
    assert [path.spell_at(0, now_s) for now_s in (0.0, 1.0, 5.9 * H, D, 1e6, 1e9)] == [FOR_EVER] * 6


def test_no_shift_begins_on_a_holiday() -> None:
    path = roster({"from_h": 6, "hours": 16}, holidays=[1, 0])
    assert changes_h(path, 4) == [54, -70, 78, -94]


def test_a_night_shift_into_a_holiday_is_worked_and_one_out_of_it_is_not() -> None:
    assert changes_h(roster({"from_h": 22, "hours": 8}, holidays=[1]), 5) == [-6, 22, -30, 70, -78]


def test_the_day_before_the_run_is_no_holiday_and_day_zero_may_be() -> None:
    assert changes_h(roster({"from_h": 22, "hours": 8}, holidays=[0]), 2) == [-6, 46]
    assert changes_h(roster({"from_h": 6, "hours": 16}, starts_h=8, holidays=[0]), 2) == [22, -38]


def test_a_holiday_takes_its_shift_out_of_a_presence_round_the_clock() -> None:
    path = roster({"from_h": 6, "hours": 24}, holidays=[3, 4, 9])
    assert changes_h(path, 5) == [-78, 126, -222, 246, -inf]
    weekly = roster({"from_h": 6, "hours": 168, "days": ["tue"]}, holidays=[2, 8, 9])
    assert changes_h(weekly, 3) == [-(8 * 24 + 6), 15 * 24 + 6, -inf]


def test_a_holiday_on_which_nobody_works_anyway_changes_nothing() -> None:
    path = roster({"from_h": 0, "hours": 24, "days": WORKDAYS}, holidays=[5, 6, 12])
    assert changes_h(path, 3) == [-120, 168, -288]


def test_a_year_of_holidays_is_one_absence() -> None:
    path = roster({"from_h": 6, "hours": 16, "days": ["mon"]}, holidays=list(range(365)))
    assert path.spell_at(0, 0.0) == (True, 371 * D + 6 * H)


def test_a_holiday_in_a_million_years_is_no_trouble() -> None:
    assert roster({"hours": 24}, holidays=[10**9]).spell_at(0, 0.0) == (False, 1e9 * D)


def test_groups_follow_one_another_in_the_order_of_sensors() -> None:
    early, late = {"sensors": 3, "from_h": 6, "hours": 8}, {"sensors": 2, "from_h": 14, "hours": 8}
    path = roster(early, late, {"sensors": 1, "hours": 24})
    assert [path.spell_at(sensor, 7 * H).is_down for sensor in range(6)] == [False] * 3 + [True] * 2 + [False]
    assert [path.spell_at(sensor, 15 * H).is_down for sensor in range(6)] == [True] * 3 + [False] * 3
    assert path.spell_at(4, 15 * H).until_s == 22 * H


def test_a_sensor_may_be_asked_about_an_earlier_time_than_another_of_its_group() -> None:
    path = roster({"sensors": 2, "from_h": 6, "hours": 16})
    assert path.spell_at(0, 100 * D) == (True, 100 * D + 6 * H)
    assert path.spell_at(1, 7 * H) == (False, 22 * H)
    assert path.spell_at(0, 100 * D + 7 * H) == (False, 100 * D + 22 * H)


def test_years_later_a_shift_still_begins_to_the_second() -> None:
    path = roster({"from_h": 6.1, "hours": 7.3, "days": WORKDAYS})
    weeks = 52 * 1000
    assert path.spell_at(0, weeks * WEEK) == (True, weeks * WEEK + 6.1 * H)
    assert path.spell_at(0, weeks * WEEK + 6.1 * H) == (False, weeks * WEEK + 13.4 * H)


def test_a_shift_or_a_gap_of_less_than_a_millisecond_makes_no_empty_spell() -> None:
    assert changes_h(roster({"hours": 1e-9}), 3) == [-0.001 / H, 24, -86400.001 / H]
    assert roster({"hours": 24 - 1e-9}).spell_at(0, 0.0) == FOR_EVER


def test_looking_ahead_changes_nothing(tmp_path: Path) -> None:
    for path in (roster({"hours": 8}), recorded(tmp_path, "0,0,28800\n")):
        path.prepare(np.arange(1), 3 * D)
        assert path.spell_at(0, 0.0) == (False, 8 * H)


# Rosters: all cases, against a calendar


class Plan(NamedTuple):
    """A roster of one group in whole minutes."""

    from_min: int
    length_min: int
    days: list[str]
    starts_on: str
    starts_min: int
    holidays: list[int]

    @property
    def spells(self) -> Spells:
        return roster(
            {"from_h": self.from_min / 60, "hours": self.length_min / 60, "days": self.days},
            starts_on=self.starts_on,
            starts_h=self.starts_min / 60,
            holidays=self.holidays,
        )

    def shifts_s(self, weeks: int) -> list[tuple[float, float]]:
        """Go through a calendar date by date, and write down when each shift begins and ends."""
        first_date = MONDAY + timedelta(days=WEEKDAYS.index(self.starts_on))
        run_begins = first_date + timedelta(minutes=self.starts_min)
        found = []
        for number in range(-8, 7 * weeks):
            date = first_date + timedelta(days=number)
            if WEEKDAYS[date.weekday()] in self.days and number not in self.holidays:
                begin_s = (date + timedelta(minutes=self.from_min) - run_begins).total_seconds()
                found.append((begin_s, begin_s + 60 * self.length_min))
        return found


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    days = draw(st.lists(st.sampled_from(WEEKDAYS), min_size=1, unique=True))
    numbers = sorted(WEEKDAYS.index(day) for day in days)
    apart_days = min(later - earlier for earlier, later in pairwise([*numbers, numbers[0] + 7]))
    whole = st.integers(1, apart_days).map(lambda number: number * MINUTES_PER_DAY)
    return Plan(
        from_min=draw(st.integers(0, MINUTES_PER_DAY - 1)),
        length_min=draw(st.integers(1, apart_days * MINUTES_PER_DAY) | whole),
        days=list(days),
        starts_on=draw(st.sampled_from(WEEKDAYS)),
        starts_min=draw(st.integers(0, MINUTES_PER_DAY - 1)),
        holidays=draw(st.lists(st.integers(0, 30), unique=True, max_size=6)),
    )


ROUND_THE_CLOCK = Plan(354, MINUTES_PER_DAY, list(WEEKDAYS), "thu", 426, [0, 5, 6])
WHOLE_WEEK = Plan(1200, 7 * MINUTES_PER_DAY, ["sun"], "mon", 0, [13])


@given(plans())
@example(ROUND_THE_CLOCK)
@example(WHOLE_WEEK)
def test_a_roster_says_through_six_weeks_of_minutes_what_a_calendar_says(plan: Plan) -> None:
    minutes = 6 * 7 * MINUTES_PER_DAY
    is_there = np.zeros(minutes, dtype=bool)
    for begin_s, end_s in plan.shifts_s(weeks=8):
        is_there[max(0, round(begin_s / 60)) : max(0, round(end_s / 60))] = True
    path = plan.spells
    for minute in range(0, minutes, 13):
        assert path.spell_at(0, 60.0 * minute).is_down != is_there[minute]


@given(plans())
@example(ROUND_THE_CLOCK)
@example(WHOLE_WEEK)
def test_the_spells_of_a_roster_are_the_merged_shifts_and_what_lies_between(plan: Plan) -> None:
    merged: list[list[float]] = []
    for begin_s, end_s in plan.shifts_s(weeks=9):
        if merged and begin_s <= merged[-1][1]:
            merged[-1][1] = end_s
        else:
            merged.append([begin_s, end_s])
    expected = [time_s for presence in merged for time_s in presence if 0 < time_s < 7 * WEEK]
    told = [standing.until_s for standing in walk_until(plan.spells, 7 * WEEK)]
    assert [time_s for time_s in told if time_s < 7 * WEEK] == expected


def walk_until(path: Spells, end_s: float) -> Iterator[Spell]:
    was_down: bool | None = None
    for standing in walk(path):
        assert standing.is_down != was_down
        was_down = standing.is_down
        yield standing
        if standing.until_s >= end_s:
            return


@given(plans(), st.lists(st.floats(0, 7 * WEEK), min_size=1, max_size=20))
def test_asked_at_any_time_in_order_a_roster_is_the_list_of_its_shifts(plan: Plan, times_s: list[float]) -> None:
    shifts_s = plan.shifts_s(weeks=10)
    begins_s, ends_s = {begin_s for begin_s, _ in shifts_s}, {end_s for _, end_s in shifts_s}
    path, last_until_s = plan.spells, 0.0
    for now_s in sorted(times_s):
        standing = path.spell_at(0, now_s)
        assert standing.is_down != any(begin_s <= now_s < end_s for begin_s, end_s in shifts_s)
        comes_or_goes_s = (begins_s - ends_s) if standing.is_down else (ends_s - begins_s)
        following_s = min((time_s for time_s in comes_or_goes_s if time_s > now_s), default=inf)
        assert standing.until_s == following_s or min(standing.until_s, following_s) > 9 * WEEK
        assert standing.until_s >= last_until_s
        last_until_s = standing.until_s


@given(plans(), st.lists(st.floats(0, 7 * WEEK), min_size=1, max_size=20))
def test_what_a_roster_says_does_not_depend_on_what_was_asked_before(plan: Plan, times_s: list[float]) -> None:
    path = plan.spells
    assert [path.spell_at(0, now_s) for now_s in times_s] == [plan.spells.spell_at(0, now_s) for now_s in times_s]


@given(
    st.floats(0, 24, exclude_max=True),
    st.floats(1e-9, 24),
    st.floats(0, 24, exclude_max=True),
    st.floats(0, 1e9),
)
def test_no_spell_is_empty_whatever_the_hours(from_h: float, hours: float, starts_h: float, now_s: float) -> None:
    path = roster({"from_h": from_h, "hours": hours}, starts_h=starts_h, holidays=[2])
    spells = list(islice(walk(path, now_s=now_s), 50))
    assert all(earlier.is_down != later.is_down for earlier, later in pairwise(spells))


def test_absences_and_failures_make_one_path() -> None:
    path = AnyDown([roster({"from_h": 6, "hours": 16}), Once(21 * H, 10 * H)])
    assert changes_h(path, 4) == [6, -21, 31, -46]


# Files: single cases


def test_a_sensor_is_there_in_its_rows_and_gone_for_ever_after_the_last(tmp_path: Path) -> None:
    path = recorded(tmp_path, "1,5,10\n1,20,30.5\n")
    assert [path.spell_at(1, now_s) for now_s in (0.0, 4.9, 5.0, 10.0, 20.0, 30.5, 1e9)] == [
        (True, 5.0),
        (True, 5.0),
        (False, 10.0),
        (True, 20.0),
        (False, 30.5),
        (True, inf),
        (True, inf),
    ]


def test_a_sensor_that_the_file_does_not_name_is_always_there(tmp_path: Path) -> None:
    path = recorded(tmp_path, "1,5,10\n")
    assert path.spell_at(0, 0.0) == path.spell_at(2, 1e9) == FOR_EVER
    assert recorded(tmp_path, "").spell_at(1, 3.0) == FOR_EVER
    assert recorded(tmp_path, "", repeat_s=60.0).spell_at(1, 3.0) == FOR_EVER


def test_a_sensor_may_be_there_from_the_start(tmp_path: Path) -> None:
    assert recorded(tmp_path, "0,0,10\n").spell_at(0, 0.0) == (False, 10.0)


def test_rows_of_different_sensors_may_be_mixed(tmp_path: Path) -> None:
    path = recorded(tmp_path, "2,5,10\n0,1,2\n2,20,30\n\n0,3,4\n")
    assert [each.until_s for each in walk(path, 0)] == [1, 2, 3, 4, inf]
    assert [each.until_s for each in walk(path, 2)] == [5, 10, 20, 30, inf]


def test_rows_that_touch_are_one_presence(tmp_path: Path) -> None:
    path = recorded(tmp_path, "0,5,10\n1,10,12\n0,10,20\n0,20,21\n0,22,23\n")
    assert list(walk(path, 0)) == [(True, 5), (False, 21), (True, 22), (False, 23), (True, inf)]
    assert list(walk(path, 1)) == [(True, 10), (False, 12), (True, inf)]


def test_a_repeated_file_begins_anew(tmp_path: Path) -> None:
    path = recorded(tmp_path, "0,10,20\n0,30,90\n", repeat_s=100.0)
    told = [each.until_s for each in islice(walk(path), 9)]
    assert told == [10, 20, 30, 90, 110, 120, 130, 190, 210]
    assert path.spell_at(0, 1e6 + 15) == (False, 1e6 + 20)
    assert path.spell_at(1, 1e6) == FOR_EVER


def test_a_presence_over_the_seam_of_a_repeated_file_is_one(tmp_path: Path) -> None:
    path = recorded(tmp_path, "0,0,20\n0,60,100\n", repeat_s=100.0)
    assert list(islice(walk(path), 5)) == [(False, 20), (True, 60), (False, 120), (True, 160), (False, 220)]
    assert path.spell_at(0, 100.0) == (False, 120.0)


def test_a_presence_that_ends_or_begins_at_the_seam_alone_changes_there(tmp_path: Path) -> None:
    path = recorded(tmp_path, "0,60,100\n1,0,20\n", repeat_s=100.0)
    assert list(islice(walk(path, 0), 4)) == [(True, 60), (False, 100), (True, 160), (False, 200)]
    assert list(islice(walk(path, 1), 4)) == [(False, 20), (True, 100), (False, 120), (True, 200)]


@pytest.mark.parametrize("rows", ["0,0,100\n", "0,0,50\n0,50,100\n"])
def test_a_presence_from_seam_to_seam_never_ends(rows: str, tmp_path: Path) -> None:
    path = recorded(tmp_path, rows, repeat_s=100.0)
    assert [path.spell_at(0, now_s) for now_s in (0.0, 50.0, 100.0, 1e9)] == [FOR_EVER] * 4


@pytest.mark.parametrize("repeat_s", [1.1, 86400.1, 604800 / 7.3])
def test_a_period_that_no_number_holds_exactly_makes_no_empty_spell(repeat_s: float, tmp_path: Path) -> None:
    path = recorded(tmp_path, f"0,0.3,0.6\n0,0.7,{repeat_s!r}\n1,0,0.1\n", repeat_s=repeat_s)
    for sensor in (0, 1):
        spells = list(islice(walk(path, sensor), 4000))
        assert all(earlier.is_down != later.is_down for earlier, later in pairwise(spells))
    assert spells[3999].until_s == pytest.approx(2000 * repeat_s, rel=1e-12)


def test_a_spreadsheets_file_is_read(tmp_path: Path) -> None:
    path = recorded(tmp_path, b'\xef\xbb\xbf"sensor", "from_s", "until_s"\r\n"0", 1.5, 2e1\r\n')
    assert list(walk(path)) == [(True, 1.5), (False, 20.0), (True, inf)]


# Files: all cases, second by second


@st.composite
def presences(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    """A length in seconds, and rows of one sensor in it; some of them touch."""
    length_s = draw(st.integers(2, 40))
    bounds = sorted(draw(st.lists(st.integers(0, length_s), min_size=2, max_size=12)))
    rows = [(begin, end) for begin, end in zip(bounds[::2], bounds[1::2], strict=False) if begin < end]
    return length_s, rows or [(0, 1)]


@given(st.lists(presences(), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_a_file_says_second_by_second_what_its_rows_say(
    tmp_path_factory: pytest.TempPathFactory, files: list[tuple[int, list[tuple[int, int]]]], order: Any
) -> None:
    waiting = {sensor: list(rows) for sensor, (_, rows) in enumerate(files)}
    lines = []
    while any(waiting.values()):  # sensors mixed, the rows of each in order
        sensor = order.choice([sensor for sensor, rows in waiting.items() if rows])
        lines.append(f"{sensor},{waiting[sensor][0][0]},{waiting[sensor].pop(0)[1]}\n")
    path = recorded(tmp_path_factory.getbasetemp(), "".join(lines), sensors=len(files) + 1)
    for sensor, (_, rows) in enumerate(files):
        is_there = [any(begin <= second < end for begin, end in rows) for second in range(50)]
        check_walk(path, sensor, is_there)
        assert path.spell_at(sensor, 40.0) == (True, inf)
    assert path.spell_at(len(files), 7.0) == FOR_EVER


@given(presences())
@example((10, [(0, 10)]))
@example((10, [(0, 3), (3, 10)]))
@example((10, [(0, 3), (4, 10)]))
@example((10, [(5, 10)]))
def test_a_repeated_file_says_second_by_second_what_its_rows_say_again_and_again(
    tmp_path_factory: pytest.TempPathFactory, file: tuple[int, list[tuple[int, int]]]
) -> None:
    length_s, rows = file
    lines = "".join(f"0,{begin},{end}\n" for begin, end in rows)
    path = recorded(tmp_path_factory.getbasetemp(), lines, sensors=1, repeat_s=float(length_s))
    once = [any(begin <= second < end for begin, end in rows) for second in range(length_s)]
    check_walk(path, 0, once * 5)


def check_walk(path: Spells, sensor: int, is_there: list[bool]) -> None:
    """Compare every second, and what is said of the next change, with the seconds in which a sensor is there."""
    for second, expected in enumerate(is_there):
        for now_s in (float(second), second + 0.5):
            standing = path.spell_at(sensor, now_s)
            following = next((later for later in range(second, len(is_there)) if is_there[later] != expected), None)
            assert standing.is_down != expected
            assert standing.until_s == following if following is not None else standing.until_s >= len(is_there)


@given(
    st.floats(1, 1e6),
    st.lists(st.floats(0, 1), min_size=2, max_size=8, unique=True),
    st.lists(st.floats(0, 1e9), max_size=8),
)
def test_a_repeated_file_never_names_a_time_that_is_not_ahead(
    tmp_path_factory: pytest.TempPathFactory, repeat_s: float, shares: list[float], times_s: list[float]
) -> None:
    bounds = sorted({share * repeat_s for share in shares})
    lines = "".join(f"0,{begin!r},{end!r}\n" for begin, end in zip(bounds[::2], bounds[1::2], strict=False))
    path = recorded(tmp_path_factory.getbasetemp(), lines, sensors=1, repeat_s=repeat_s)
    for now_s in (*times_s, *(number * repeat_s for number in range(20))):
        assert len(list(islice(walk(path, 0, now_s), 10))) > 0  # walk looks that each time is later


def test_many_sensors_are_read_as_they_are(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    bounds_s = np.sort(rng.uniform(0, 1e6, (2000, 6)), axis=1).tolist()
    rows = [(sensor, each[number], each[number + 1]) for number in (0, 2, 4) for sensor, each in enumerate(bounds_s)]
    lines = "".join(f"{sensor},{begin_s!r},{end_s!r}\n" for sensor, begin_s, end_s in rows)
    path = recorded(tmp_path, lines, sensors=2000)
    for sensor in (0, 1234, 1999):
        assert [each.until_s for each in walk(path, sensor)] == [*bounds_s[sensor], inf]


# Wrong files

HEAD = b"sensor,from_s,until_s\n"
BAD = {
    "empty": (b"", "line 1: header = '': must be sensor,from_s,until_s"),
    "wrong header": (
        b"sensor,from,until\n0,1,2\n",
        "line 1: header = 'sensor,from,until': must be sensor,from_s,until_s",
    ),
    "no header": (b"0,1,2\n", "line 1: header = '0,1,2'"),
    "short row": (HEAD + b"0,1,2\n1,3\n", "line 3: row = '1,3': must have 3 values, sensor,from_s,until_s"),
    "long row": (HEAD + b"0,1,2,3\n", "line 2: row = '0,1,2,3': must have 3 values"),
    "from is a word": (HEAD + b"0,dawn,5\n", "line 2: from_s = 'dawn': must be a finite number of seconds, at least 0"),
    "until is a word": (
        HEAD + b"0,1,dusk\n",
        "line 2: until_s = 'dusk': must be a finite number of seconds, at least 0",
    ),
    "until is empty": (HEAD + b"0,1,\n", "line 2: until_s = ''"),
    "NaN": (HEAD + b"0,nan,1\n", "line 2: from_s = 'nan': must be a finite number"),
    "for ever": (HEAD + b"0,1,inf\n", "line 2: until_s = 'inf': must be a finite number"),
    "negative": (HEAD + b"0,-1,1\n", "line 2: from_s = '-1': must be a finite number of seconds, at least 0"),
    "until is from": (HEAD + b"0,5,5\n", "line 2: until_s = 5.0: must be greater than from_s, which is 5.0"),
    "until before from": (HEAD + b"0,5,4\n", "line 2: until_s = 4.0: must be greater than from_s, which is 5.0"),
    "unsorted": (
        HEAD + b"0,5,6\n1,1,2\n0,3,4\n",
        "line 4: from_s = 3.0: must be at least 6.0, the until_s of the row before of sensor 0",
    ),
    "overlap": (
        HEAD + b"2,5,9\n2,8.5,10\n",
        "line 3: from_s = 8.5: must be at least 9.0, the until_s of the row before",
    ),
    "twice": (HEAD + b"2,5,9\n2,5,9\n", "line 3: from_s = 5.0: must be at least 9.0"),
    "unknown sensor": (HEAD + b"3,1,2\n", "line 2: sensor = '3': must be a whole number from 0 to 2"),
    "negative sensor": (HEAD + b"-1,1,2\n", "line 2: sensor = '-1': must be a whole number from 0 to 2"),
    "Latin-1": (HEAD + b"0,1,2\xe9\n", "line 2: byte 0xe9 is not UTF-8 text"),
}


@pytest.mark.parametrize(("content", "said"), BAD.values(), ids=BAD)
def test_a_wrong_file_is_refused_in_one_line_with_its_name_and_line(content: bytes, said: str, tmp_path: Path) -> None:
    message = refusal(tmp_path, content)
    assert message.startswith(f"{tmp_path / 'there.csv'}, {said}")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (b"0,10,100.5\n", "line 2: until_s = '100.5': must be a number of seconds from 0 to repeat_s, which is 100"),
        (b"0,120,130\n", "line 2: from_s = '120': must be a number of seconds from 0 to repeat_s, which is 100"),
        (b"0,100,100\n", "line 2: until_s = 100.0: must be greater than from_s"),
    ],
)
def test_times_beyond_the_period_of_a_repeated_file_are_refused(row: bytes, said: str, tmp_path: Path) -> None:
    message = refusal(tmp_path, HEAD + row, repeat_s=100.0)
    assert message.startswith(f"{tmp_path / 'there.csv'}, {said}")


def refusal(directory: Path, content: bytes, repeat_s: float | None = None) -> str:
    with pytest.raises(InputError) as refused:
        recorded(directory, content, repeat_s=repeat_s)
    assert len(str(refused.value).splitlines()) == 1
    return str(refused.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.csv: no such file"):
        absences_of(PresenceCsv(kind="csv", path=str(tmp_path / "nothing.csv")), 3)
