"""KEY=VALUES of a sweep: values with commas between them, each YAML or a range of numbers; or a mapping of Python.

strategy.interval=1:9:2        1, 3, 5, 7, 9; both ends belong to it, the step is 1 if left out
strategy.beta=4,10:30:10       4, 10, 20, 30
cells=[{...}],[{...}]          commas within brackets, braces or quotes part nothing
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from hfedms_sim.errors import InputError
from hfedms_sim.scenario.overrides import plain
from hfedms_sim.scenario.yaml_io import parse_yaml

LARGEST_RANGE = 10_000
_LONGEST_SEED = 20  # digits
_LARGEST_EXPONENT = 300
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,9})?"
_RANGE = re.compile(rf"({_NUMBER}):({_NUMBER})(?::({_NUMBER}))?")
_OPENING, _CLOSING, _QUOTES = "[{(", "]})", "'\""


class Axis(NamedTuple):
    """One key and what it is set to, as text to be read as YAML."""

    key: str
    values: tuple[str, ...]


def parse_grid(text: str) -> Axis:
    key, equals, values = text.partition("=")
    given = f"--grid {text!a:.60}"
    if not equals or not key or not values:
        raise InputError(f"{given}: must be KEY=VALUE,..., such as strategy.interval=1:9:2")
    if key == "seed":
        raise InputError("--grid seed: seeds are repetitions, and have an option of their own, --seeds")
    axis = Axis(key, _values(values, given))
    _require_distinct(axis.values, given)
    return axis


def axes_of_mapping(grid: Mapping[str, Iterable[Any]]) -> list[Axis]:
    """Return the axes of a grid that is given as values of Python by dotted key."""
    if not grid:
        raise InputError("grid: needs at least one key with its values")
    return [_axis_of(key, values) for key, values in grid.items()]


def _axis_of(key: str, values: Iterable[Any]) -> Axis:
    if key == "seed":
        raise InputError("grid seed: seeds are repetitions, and have an argument of their own, seeds")
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise InputError(f"grid {key!a:.60}: must be a list of values, not {values!r:.60}")
    texts = tuple(_as_yaml(key, value) for value in values)
    if not texts:
        raise InputError(f"grid {key!a:.60}: has no values")
    _require_distinct(texts, f"grid {key!a:.60}")
    return Axis(key, texts)


def _as_yaml(key: str, value: Any) -> str:
    """Return the text that YAML reads as this value: a name by itself, all else as JSON."""
    try:
        if isinstance(value, str) and parse_yaml(value, key) == value:
            return value
    except InputError:
        pass  # it takes quotes
    try:
        return json.dumps(plain(value))
    except (TypeError, ValueError):
        raise InputError(f"grid {key!a:.60} = {value!r:.60}: is no value of a scenario") from None


def parse_seeds(text: str) -> list[int]:
    """Return the seeds that a text such as 1,2,3 or 1:5 stands for."""
    given = f"--seeds {text!a:.60}"
    values = _values(text, given)
    if not all(value.isascii() and value.isdigit() and len(value) < _LONGEST_SEED for value in values):
        raise InputError(f"{given}: must be whole numbers, such as 1,2,3 or 1:5")
    seeds = [int(value) for value in values]
    _require_distinct(seeds, given)
    return seeds


def _require_distinct(values: Sequence[str | int], given: str) -> None:
    """Refuse a value that is there twice; `given` is what the line says of where it stands."""
    if len(set(values)) < len(values):
        raise InputError(f"{given}: has a value twice")


def _values(text: str, given: str) -> tuple[str, ...]:
    return tuple(value for piece in _pieces(text) for value in _expanded(piece, given))


def _pieces(values: str) -> list[str]:
    """Parted at the commas that are in no bracket and no quotes."""
    pieces, depth, quote = [""], 0, ""
    for character in values:
        if quote:
            quote = "" if character == quote else quote
        elif character in _QUOTES:
            quote = character
        depth += (character in _OPENING) - (character in _CLOSING) if not quote else 0
        if character == "," and depth <= 0 and not quote:
            pieces.append("")
        else:
            pieces[-1] += character
    return [piece.strip() for piece in pieces]


def _expanded(piece: str, given: str) -> list[str]:
    if not piece:
        raise InputError(f"{given}: has an empty value")
    match = _RANGE.fullmatch(piece)
    if match is None:
        return [piece]
    start, stop, step = (Decimal(number) for number in (match[1], match[2], match[3] or "1"))
    if any(abs(number.adjusted()) > _LARGEST_EXPONENT for number in (start, stop, step)):
        raise InputError(f"{given}: the range {piece!a:.60} has numbers that are no figures of a scenario")
    if not step or (stop - start) / step < 0:
        raise InputError(f"{given}: the range {piece} has no values")
    count = int((stop - start) / step) + 1
    if count > LARGEST_RANGE:
        raise InputError(f"{given}: the range {piece} has more than {LARGEST_RANGE:,} values")
    return [f"{(start + number * step).normalize():f}" for number in range(count)]
