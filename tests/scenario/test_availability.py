"""Who is expected to be away: what the settings take, what they refuse, and in which words."""

import json
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from hfedms_sim.scenario.availability import WEEKDAYS, AlwaysThere, Availability, PresenceCsv, Roster, Shift
from hfedms_sim.scenario.base import Settings
from hfedms_sim.scenario.problems import problems_of

DAY = {"sensors": 3, "from_h": 6, "hours": 16}
FROM_MIDNIGHT_ON_MONDAY = datetime(2024, 1, 1)


class Factory(Settings):
    """Stands for a scenario, which has such a key."""

    availability: Availability = AlwaysThere()


def taken(**raw: Any) -> Any:
    return Factory.model_validate({"availability": raw}).availability


def complaints(raw: Any) -> list[str]:
    written = {"availability": raw}
    with pytest.raises(ValidationError) as refusal:
        Factory.model_validate(written)
    return [problem.line for problem in problems_of(refusal.value, Factory, written)]


def test_nobody_is_ever_away_unless_it_is_said() -> None:
    assert Factory().availability == taken(kind="always") == AlwaysThere()


def test_a_roster_has_every_day_from_monday_midnight_without_holidays_announced() -> None:
    roster = taken(kind="roster", groups=[DAY])
    assert isinstance(roster, Roster)
    assert roster.groups == (Shift(sensors=3, from_h=6.0, hours=16.0, days=WEEKDAYS),)
    assert (roster.starts_on, roster.starts_h, roster.holidays, roster.announced) == ("mon", 0.0, (), True)


def test_a_roster_takes_all_that_the_specification_names() -> None:
    groups = [DAY | {"days": ["fri", "mon"]}, {"sensors": 365, "from_h": 22.5, "hours": 8}]
    roster = taken(
        kind="roster", groups=groups, starts_on="wed", starts_h=5.5, holidays=[9, 0, 1_000_000_000], announced=False
    )
    assert roster.groups[0].days == ("fri", "mon")
    assert (roster.starts_on, roster.starts_h, roster.announced) == ("wed", 5.5, False)
    assert roster.holidays == (9, 0, 1_000_000_000)


def test_a_rosters_sensors_are_those_of_all_groups() -> None:
    assert taken(kind="roster", groups=[DAY, DAY | {"sensors": 365}]).sensors == 368


def test_a_file_is_read_once_and_announced_unless_it_is_said() -> None:
    plain = taken(kind="csv", path="there.csv")
    assert isinstance(plain, PresenceCsv)
    assert (plain.path, plain.repeat_s, plain.announced) == ("there.csv", None, True)
    assert taken(kind="csv", path="there.csv", repeat_s=604800, announced=False).repeat_s == 604800.0


@pytest.mark.parametrize(
    "raw",
    [
        {"kind": "always"},
        {"kind": "roster", "groups": [DAY], "holidays": [3]},
        {"kind": "csv", "path": "there.csv", "repeat_s": 60.0},
    ],
)
def test_settings_come_back_from_their_own_json(raw: dict[str, Any]) -> None:
    settings = taken(**raw)
    written = json.loads(json.dumps(settings.model_dump(mode="json")))
    assert taken(**written) == settings


def test_every_key_is_described_in_a_sentence_for_the_generated_pages() -> None:
    for settings in (Shift, *get_args(get_args(Availability)[0])):
        for name, field in settings.model_fields.items():
            assert (field.description or "").endswith("."), f"{settings.__name__}.{name}"


def test_the_schema_tells_the_kinds_apart() -> None:
    schema = TypeAdapter(Availability).json_schema()
    assert set(schema["discriminator"]["mapping"]) == {"always", "roster", "csv"}


@pytest.mark.parametrize(
    ("shift", "said"),
    [
        ({"sensors": 0}, "groups.0.sensors = 0: must be at least 1"),
        ({"sensors": 2.5}, "groups.0.sensors = 2.5: must be a whole number"),
        ({"from_h": -1}, "groups.0.from_h = -1: must be at least 0"),
        ({"from_h": 24}, "groups.0.from_h = 24: must be less than 24"),
        ({"hours": 0}, "groups.0.hours = 0: must be at least 1e-09"),
        ({"hours": 169}, "groups.0.hours = 169: must be at most 168"),
        ({"hours": float("nan")}, "groups.0.hours = nan: must be a finite number"),
        ({"days": []}, "groups.0.days = []: needs at least 1"),
        ({"days": ["mon", "moon"]}, "groups.0.days.1 = 'moon': must be mon, tue, wed, thu, fri, sat or sun"),
        ({"days": ["mon", "tue", "mon"]}, "groups.0.days: mon is given twice; allowed is once"),
        ({"to_h": 22}, "groups.0.to_h = 22: unknown key"),
    ],
)
def test_a_wrong_shift_is_refused_in_one_line(shift: dict[str, Any], said: str) -> None:
    (line,) = complaints({"kind": "roster", "groups": [DAY | shift]})
    assert line.startswith("availability." + said)
    assert "\n" not in line


@pytest.mark.parametrize("key", ["sensors", "from_h", "hours"])
def test_a_shift_needs_its_figures(key: str) -> None:
    shift = {name: value for name, value in DAY.items() if name != key}
    assert complaints({"kind": "roster", "groups": [shift]}) == [f"availability.groups.0.{key}: is missing"]


@pytest.mark.parametrize(
    ("roster", "said"),
    [
        ({"groups": []}, "groups = []: needs at least 1"),
        ({"starts_on": "monday"}, "starts_on = 'monday': must be mon, tue, wed, thu, fri, sat or sun"),
        ({"starts_h": 24.0}, "starts_h = 24.0: must be less than 24"),
        ({"starts_h": -0.5}, "starts_h = -0.5: must be at least 0"),
        ({"holidays": [-1]}, "holidays.0 = -1: must be at least 0"),
        ({"holidays": [1.5]}, "holidays.0 = 1.5: must be a whole number"),
        ({"holidays": [10**9 + 1]}, "holidays.0 = 1000000001: must be at most 1000000000"),
        ({"holidays": [4, 2, 4]}, "holidays: 4 is given twice; allowed is once"),
        ({"announced": 1}, "announced = 1: must be true or false"),
        ({"path": "there.csv"}, "path = 'there.csv': unknown key"),
    ],
)
def test_a_wrong_roster_is_refused_in_one_line(roster: dict[str, Any], said: str) -> None:
    (line,) = complaints({"kind": "roster", "groups": [DAY]} | roster)
    assert line.startswith("availability." + said)
    assert "\n" not in line


def test_a_roster_needs_groups() -> None:
    assert complaints({"kind": "roster"}) == ["availability.groups: is missing"]


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        ({}, "path: is missing"),
        ({"path": ""}, "path = ''"),
        ({"path": "a.csv", "repeat_s": 0.5}, "repeat_s = 0.5: must be at least 1"),
        ({"path": "a.csv", "repeat_s": 2e9}, "repeat_s = 2000000000.0: must be at most 1e+09"),
        ({"path": "a.csv", "announced": "no"}, "announced = 'no': must be true or false"),
        ({"path": "a.csv", "groups": [DAY]}, "groups: unknown key"),
    ],
)
def test_a_wrong_file_setting_is_refused_in_one_line(raw: dict[str, Any], said: str) -> None:
    (line,) = complaints({"kind": "csv"} | raw)
    assert line.startswith("availability." + said)


@pytest.mark.parametrize("raw", [{}, {"kind": "rota"}, {"kind": None}, {"kind": "always", "repeat_s": 5.0}, "always"])
def test_what_is_no_kind_is_refused_in_one_line(raw: Any) -> None:
    (line,) = complaints(raw)
    assert line.startswith("availability")
    assert "\n" not in line


@pytest.mark.parametrize(
    ("days", "hours", "most"),
    [
        (WEEKDAYS, 24.5, 24),
        (("mon", "tue"), 25, 24),
        (("mon", "wed"), 49, 48),
        (("sun", "mon"), 24.001, 24),
        (("mon", "sat"), 60, 48),
        (("fri", "tue"), 73, 72),
    ],
)
def test_a_shift_that_overlaps_the_next_of_its_group_is_refused_in_one_line(
    days: tuple[str, ...], hours: float, most: int
) -> None:
    (line,) = complaints({"kind": "roster", "groups": [DAY | {"days": list(days), "hours": hours}]})
    assert line == (
        f"availability.groups.0: hours = {hours:g}: a shift would overlap the next one of its group, "
        f"which may begin {most} h after it; must be at most {most}"
    )
    assert taken(kind="roster", groups=[DAY | {"days": list(days), "hours": most}]).groups[0].hours == most


def test_a_shift_of_one_day_may_last_the_whole_week() -> None:
    assert taken(kind="roster", groups=[DAY | {"days": ["thu"], "hours": 168}]).groups[0].hours == 168.0


def test_shifts_of_different_groups_may_overlap() -> None:
    assert taken(kind="roster", groups=[DAY, DAY]).sensors == 6


@given(st.lists(st.sampled_from(WEEKDAYS), min_size=1, unique=True), st.integers(1, 7 * 24))
def test_exactly_the_shifts_that_overlap_in_a_calendar_are_refused(days: list[str], hours: int) -> None:
    dates = [FROM_MIDNIGHT_ON_MONDAY + timedelta(days=number) for number in range(21)]
    begins = [date for date in dates if WEEKDAYS[date.weekday()] in days]
    overlaps = any(earlier + timedelta(hours=hours) > later for earlier, later in pairwise(begins))
    shift = DAY | {"days": days, "hours": hours}
    if overlaps:
        assert "must be at most" in complaints({"kind": "roster", "groups": [shift]})[0]
    else:
        assert taken(kind="roster", groups=[shift]).groups[0].hours == hours
