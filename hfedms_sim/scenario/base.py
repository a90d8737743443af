"""What all settings have in common: frozen, strict about types, no unknown keys, no NaN."""

from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic.fields import FieldInfo

Item = TypeVar("Item")

# YAML has lists, frozen settings have tuples; everything else is taken strictly as written.
TupleOf = Annotated[tuple[Item, ...], Field(strict=False)]

Direction = Literal["up", "down"]

Fraction = Annotated[float, Field(gt=0, le=1)]
PositiveFloat = Annotated[float, Field(gt=0)]
NonNegativeFloat = Annotated[float, Field(ge=0)]
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


def keys_of(settings: type[Settings]) -> dict[str, FieldInfo]:
    """Return the fields by the keys that stand in a file: a key that is a word of Python has another name in code."""
    return {field.alias or name: field for name, field in settings.model_fields.items()}
