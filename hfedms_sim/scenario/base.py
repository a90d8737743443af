"""What all settings have in common: frozen, strict about types, no unknown keys, no NaN."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic.fields import FieldInfo

from hfedms_sim.system.foreign_text import is_printable

Item = TypeVar("Item")

# YAML has lists, frozen settings have tuples; everything else is taken strictly as written.
TupleOf = Annotated[tuple[Item, ...], Field(strict=False)]

Direction = Literal["up", "down"]

# Bounds that keep what is computed of a few figures a finite number, and its inverse too.
LEAST, MOST = 1e-9, 1e12

Fraction = Annotated[float, Field(ge=LEAST, le=1)]
PositiveFloat = Annotated[float, Field(ge=LEAST, le=MOST)]
NonNegativeFloat = Annotated[float, Field(ge=0, le=MOST)]
Bps = Annotated[float, Field(ge=1e-3, le=1e15)]  # bounds that keep every airtime a finite number
Seconds = Annotated[float, Field(ge=0, le=1e9)]
PositiveInt = Annotated[int, Field(ge=1, le=10**9)]
Name = Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]


class Settings(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
        serialize_by_alias=True,
    )

    @field_validator("*")
    @classmethod
    def _can_be_shown(cls, value: Any) -> Any:
        """Refuse text with signs that a terminal would obey: names and descriptions are printed."""
        if not all(map(is_printable, _texts(value))):
            raise ValueError("must have no control characters")
        return value


def _texts(value: Any) -> Iterator[str]:
    """Yield a text, or those of a mapping or a list; settings within settings look after their own."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for pair in value.items():
            yield from _texts(pair)
    elif isinstance(value, tuple):
        for each in value:
            yield from _texts(each)


def keys_of(settings: type[Settings]) -> dict[str, FieldInfo]:
    """Return the fields by the keys that stand in a file: a key that is a word of Python has another name in code."""
    return {field.alias or name: field for name, field in settings.model_fields.items()}


def without_nulls(raw: Any) -> Any:
    """Return a mapping without keys that say nothing.

    Sections whose keys hang on a kind once had the keys of all kinds, null where they did not belong to the one at
    hand; the scenario.yaml of older runs has them still.
    """
    return {key: value for key, value in raw.items() if value is not None} if isinstance(raw, dict) else raw
