"""Outside numbers as data: what somebody measured or published, where, and how a run reproduces it.

rows.yaml has one row a value. A row is committed, with its tolerance, before any figure of a profile is corrected by
it. `kind` says what agreement is worth: a `calibration` row's source is named among the sources of the profile it
plays, so agreement shows only that figures were carried over rightly; an `independent` row's source set none there.
"""

from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, ValidationError, model_validator

from hfedms_sim.errors import InputError
from hfedms_sim.scenario import FIGURES
from hfedms_sim.scenario.base import Name, NonNegativeFloat, PositiveFloat, PositiveInt, Settings, TupleOf
from hfedms_sim.scenario.problems import problems_of
from hfedms_sim.scenario.yaml_io import read_yaml
from hfedms_sim.validation.quantities import UNITS, Quantity

ROWS_FILE = Path(__file__).parent / "rows.yaml"

Kind = Literal["independent", "calibration"]
Scalar: TypeAlias = bool | int | float | str | None
Text = Annotated[str, Field(min_length=1)]


class Play(Settings):
    """What a sensor does in the row's scenario: what the source states, and no figure of the radio."""

    message_bytes: PositiveInt = 1
    """Size of each message up, and of its answer down."""
    messages: Annotated[int, Field(ge=2, le=10_000)] = 20
    """How many; the first sets the stage and is not read."""
    period_s: PositiveFloat | None = None
    """From message to message; null: the next follows the answer at once."""
    coverage_class: Annotated[int, Field(ge=0, le=9)] | None = None
    """Index of the profile's class of `repetitions`; null: the profile's own rates."""
    release_assistance: Literal["message", "answer"] | None = None
    """After what the network releases the connection, if the source says that it is told to (RAI)."""
    idle: dict[str, Scalar] | None = None
    """The profile's `idle`, if the source says how the network runs a released radio."""
    battery_mah: PositiveFloat | None = None
    """Charge of the battery whose life is read."""
    multiply_adds: Annotated[int, Field(ge=0)] = 0
    """What a forward pass over one sample takes."""
    set: dict[str, Scalar] = Field(default_factory=dict)
    """Other keys of the scenario, dotted."""


class Row(Settings):
    id: Name
    """How reports call it."""
    what: Text
    """What was measured or published, in one sentence."""
    value: NonNegativeFloat | None = None
    """The number, in `unit`; or `low` and `high`."""
    low: NonNegativeFloat | None = None
    """Lower end of a range."""
    high: NonNegativeFloat | None = None
    """Upper end of a range."""
    unit: Text
    """Unit of the number."""
    source: Text
    """Where it was found."""
    cites: Text
    """The words by which a profile's `sources` would name that source."""
    kind: Kind
    """independent, or calibration: the source is named in the profile's `sources`."""
    profile: Text
    """The shipped profile that is played."""
    play: Play | None = None
    """The scenario; none if there is nothing to play yet."""
    reads: Quantity | None = None
    """The quantity that is read off the run."""
    tolerance: Annotated[float, Field(gt=1, le=2)] = 1.25
    """Factor within which ours agrees."""
    assumed: str = ""
    """What the scenario sets although the source does not state it."""
    reason: str = ""
    """Why ours is beyond a factor of 2, if it is."""
    needs: TupleOf[Text] = ()
    """Keys of a profile without which the row cannot be played; it is as soon as all exist."""
    not_testable: str = ""
    """What is missing, where no key would do."""

    @model_validator(mode="after")
    def _one_number_or_a_range(self) -> "Row":
        if (self.value is None) == (self.low is None) or (self.low is None) != (self.high is None):
            raise ValueError("needs value, or low and high")
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ValueError(f"low ({self.low:g}) must be below high ({self.high:g})")
        return self

    @model_validator(mode="after")
    def _says_how_it_is_tested(self) -> "Row":
        if not self.not_testable and (self.play is None or self.reads is None):
            raise ValueError("needs play and reads, or not_testable")
        if self.reads is not None and self.unit != UNITS[self.reads]:
            raise ValueError(f"{self.reads} is in {UNITS[self.reads]}, not {self.unit}")
        return self

    @property
    def missing(self) -> str:
        """What stands in the way of playing the row; empty if nothing does."""
        keys = [key for key in self.needs if key not in FIGURES]
        return self.not_testable or (f"profile keys {', '.join(keys)}" if keys else "")

    @property
    def ends(self) -> tuple[float, float]:
        """The range; a single number is both its ends."""
        low = self.value if self.low is None else self.low
        high = self.value if self.high is None else self.high
        assert low is not None
        assert high is not None
        return low, high


class Rows(Settings):
    base: dict[str, Any]
    """The scenario that every row changes."""
    rows: TupleOf[Row]
    """Every outside number."""

    @model_validator(mode="after")
    def _ids_differ(self) -> "Rows":
        seen: set[str] = set()
        for row in self.rows:
            if row.id in seen:
                raise ValueError(f"rows: the id '{row.id}' is used twice")
            seen.add(row.id)
        return self


def load_rows(path: Path = ROWS_FILE) -> Rows:
    """Return the rows of a file, by default those that are shipped."""
    raw = read_yaml(path)
    try:
        return Rows.model_validate(raw)
    except ValidationError as error:
        raise InputError(f"{path}: {problems_of(error, Rows, raw)[0].line}") from None


@cache
def shipped_rows() -> Rows:
    """Return the rows that come with the package; reading them takes longer than playing one."""
    return load_rows()
