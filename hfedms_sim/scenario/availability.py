"""Who is expected to be away: nobody, who has no shift on a roster, or who a file says. When: world/faults/."""

from typing import Annotated, Literal, get_args

from pydantic import Field, field_validator, model_validator

from hfedms_sim.scenario.base import LEAST, PositiveInt, Settings, TupleOf

Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
OClock = Annotated[float, Field(ge=0, lt=24)]
Day = Annotated[int, Field(ge=0, le=10**9)]

WEEKDAYS: tuple[Weekday, ...] = get_args(Weekday)


class Shift(Settings):
    """A group of sensors and when it is there."""

    sensors: PositiveInt
    """How many sensors the group has; groups follow one another in the order of the sensors' numbers."""
    from_h: OClock
    """The hour of the day at which its shift begins."""
    hours: Annotated[float, Field(ge=LEAST, le=168)]
    """How long a shift lasts, beyond midnight if need be, until the next one begins at the most."""
    days: Annotated[TupleOf[Weekday], Field(min_length=1)] = WEEKDAYS
    """The weekdays on which a shift begins."""

    @field_validator("days")
    @classmethod
    def _days_differ(cls, days: tuple[Weekday, ...]) -> tuple[Weekday, ...]:
        _refuse_repetitions(days)
        return days

    @model_validator(mode="after")
    def _shifts_do_not_overlap(self) -> "Shift":
        numbers = sorted(WEEKDAYS.index(day) for day in self.days)
        following = [*numbers[1:], numbers[0] + len(WEEKDAYS)]
        apart_h = 24 * min(later - earlier for earlier, later in zip(numbers, following, strict=True))
        if self.hours > apart_h:
            raise ValueError(
                f"hours = {self.hours:g}: a shift would overlap the next one of its group, which may begin "
                f"{apart_h} h after it; must be at most {apart_h}"
            )
        return self


class AlwaysThere(Settings):
    """Nobody is ever away."""

    kind: Literal["always"] = "always"
    """always: no sensor is ever expected to be away."""


class Roster(Settings):
    """Groups of sensors that work in shifts, week by week."""

    kind: Literal["roster"]
    """roster: a sensor is away when its group has no shift."""
    groups: Annotated[TupleOf[Shift], Field(min_length=1)]
    """The shift of each group; their sensors add up to all sensors."""
    starts_on: Weekday = "mon"
    """The weekday of day 0, on which the run begins."""
    starts_h: OClock = 0.0
    """The hour of day 0 at which the run begins."""
    holidays: TupleOf[Day] = ()
    """Days of the run, counted from 0, on which no shift begins."""
    announced: bool = True
    """Whether a round neither asks nor draws a sensor that is away when the round begins."""

    @field_validator("holidays")
    @classmethod
    def _holidays_differ(cls, holidays: tuple[int, ...]) -> tuple[int, ...]:
        _refuse_repetitions(holidays)
        return holidays

    @property
    def sensors(self) -> int:
        """How many sensors all groups have."""
        return sum(group.sensors for group in self.groups)


class PresenceCsv(Settings):
    """A file of when each sensor is there."""

    kind: Literal["csv"]
    """csv: a sensor is away when the file does not say that it is there."""
    path: Annotated[str, Field(min_length=1)]
    """CSV with the columns sensor, from_s, until_s: when a sensor is there; one that it does not name always is."""
    repeat_s: Annotated[float, Field(ge=1, le=1e9)] | None = None
    """After this many seconds the file's times begin anew; without it a sensor is gone for ever after its last row."""
    announced: bool = True
    """Whether a round neither asks nor draws a sensor that is away when the round begins."""


Availability = Annotated[AlwaysThere | Roster | PresenceCsv, Field(discriminator="kind")]


def _refuse_repetitions(values: tuple[str, ...] | tuple[int, ...]) -> None:
    seen: set[str | int] = set()
    for value in values:
        if value in seen:
            raise ValueError(f"{value} is given twice; allowed is once")
        seen.add(value)
