"""Turns a failed validation into lines a person can act on: key, value, what is allowed, did you mean."""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from hfedms_sim.scenario.base import Settings, keys_of

Path = tuple[str | int, ...]

_ABSENT = object()
_TYPES = {
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "is too large",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "string_type": "must be text",
    "string_unicode": "must be text",
    "finite_number": "must be a finite number",
    "tuple_type": "must be a list",
    "dict_type": "must be a mapping of keys to values",
    "model_type": "must be a mapping of keys to values",
    "model_attributes_type": "must be a mapping of keys to values",
}
_BOUNDS = {
    "greater_than": ("must be greater than", "gt"),
    "greater_than_equal": ("must be at least", "ge"),
    "less_than": ("must be less than", "lt"),
    "less_than_equal": ("must be at most", "le"),
}


class Problem(NamedTuple):
    path: Path
    line: str


def unknown(kind: str, value: str, known: Iterable[str]) -> str:
    """ "Unknown profile 'x'. Did you mean 'y'? Known: ..."."""
    choices = sorted(known)
    return f"unknown {kind} {_shown(value)}.{did_you_mean(value, choices)} Known: {', '.join(choices)}"


def did_you_mean(value: object, choices: Sequence[str]) -> str:
    close = get_close_matches(str(value)[:100], choices, n=1)
    return f" Did you mean '{close[0]}'?" if close else ""


def problems_of(
    error: ValidationError, model: type[BaseModel], raw: Any, settings: Mapping[str, type[Settings]] | None = None
) -> list[Problem]:
    """Return what is wrong, a line each; the branches of a union that all failed make one.

    `settings` are what the scenario's parts were validated as, by the part's key.
    """
    found: dict[Path, tuple[object, list[str]]] = {}
    details = error.errors(include_url=False)
    for detail in details:
        if detail["type"] == "too_short" and any(_is_inside(other["loc"], detail["loc"]) for other in details):
            continue  # pydantic counts a list's items after dropping the faulty ones
        path, value = _as_written(detail, _without_tags(detail["loc"], model)[0], raw)
        found.setdefault(path, (value, []))[1].append(_sentence(detail, model, settings or {}))
    return [
        Problem(path, _line(path, value, " or ".join(dict.fromkeys(said)))) for path, (value, said) in found.items()
    ]


def _is_inside(inner: Sequence[str | int], outer: Sequence[str | int]) -> bool:
    return len(inner) > len(outer) and tuple(inner[: len(outer)]) == tuple(outer)


def _without_tags(location: Sequence[str | int], model: type[BaseModel]) -> tuple[Path, list[type[BaseModel]]]:
    """Return pydantic's location without the kinds of settings in it, and which settings stand there.

    A kind may have the name of one of its keys, so that only the settings can tell the two apart.
    """
    path: list[str | int] = []
    candidates = [model]
    for part in location:
        of_kind = [each for each in candidates if part == _kind(each)]
        if of_kind and len(candidates) > 1:
            candidates = of_kind
            continue
        path.append(part)
        fields = [each.model_fields[part] for each in candidates if isinstance(part, str) and part in each.model_fields]
        if fields:
            candidates = [found for field in fields for found in _models_in(field.annotation)]
    return tuple(path), candidates


def _kind(model: type[BaseModel]) -> object:
    """Return what tells settings from others in their place; None if nothing does."""
    field = model.model_fields.get("kind")
    values = () if field is None else get_args(field.annotation)
    return values[0] if len(values) == 1 else None


def _as_written(detail: ErrorDetails, location: Path, raw: Any) -> tuple[Path, object]:
    """Return the location without branches of unions, which the user did not write, and the value there."""
    path: list[str | int] = []
    value = raw
    for depth, part in enumerate(location):
        in_mapping = isinstance(value, Mapping) and part in value
        in_list = isinstance(value, list) and isinstance(part, int) and part < len(value)
        if in_mapping or in_list:
            value = value[part]
        elif depth == len(location) - 1 and detail["type"] == "missing":
            value = _ABSENT
        else:
            continue
        path.append(part)
    return tuple(path), value


def _sentence(detail: ErrorDetails, model: type[BaseModel], settings: Mapping[str, type[Settings]]) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        part, inner = str(detail["loc"][0]), detail["loc"][1:-1]
        if part not in settings:
            known = _known_keys(detail["loc"][:-1], model)
        else:
            known = _known_keys(inner, settings[part]) if inner else list(keys_of(settings[part]))
        return f"unknown key.{did_you_mean(detail['loc'][-1], known)} Known: {', '.join(known)}"
    if kind == "missing":
        return "is missing"
    if kind == "literal_error":
        return _must_be(detail["input"], context["expected"])
    if kind in _BOUNDS:
        words, name = _BOUNDS[kind]
        return f"{words} {context[name]:g}" if isinstance(context[name], float) else f"{words} {context[name]}"
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        key, tag = context["discriminator"].strip("'"), context.get("tag")
        return f"needs {key}" if tag is None else f"{key} = {_shown(tag)}: {_must_be(tag, context['expected_tags'])}"
    if kind == "too_long":
        return f"may have at most {context['max_length']}"
    if kind == "too_short":
        return f"needs at least {context['min_length']}"
    if kind == "value_error":
        return str(context["error"])
    if kind == "string_pattern_mismatch":
        return "may hold letters, digits, '.', '_' and '-', and starts with a letter or digit"
    return _TYPES.get(kind, detail["msg"][0].lower() + detail["msg"][1:])


def _must_be(value: object, expected: object) -> str:
    """Return which of the quoted names are allowed, and which one may have been meant."""
    choices = re.findall(r"'([^']*)'", str(expected))
    hint = did_you_mean(value, choices)
    return f"must be {_either(choices)}" + (f".{hint}" if hint else "")


def _line(path: Path, value: object, sentence: str) -> str:
    """'key = value: sentence'; a mapping, or a key that is not there, is named without its value."""
    key = ".".join(str(part) if re.fullmatch(r"[\w.-]+", str(part)) else _shown(part) for part in path)
    if value is _ABSENT or (isinstance(value, Mapping | list) and value):
        return f"{key}: {sentence}" if key else sentence
    return f"{key} = {_shown(value)}: {sentence}" if key else f"{_shown(value)}: {sentence}"


def _shown(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**60:
        return "a number of more than 60 digits"
    text = "null" if value is None else str(value).lower() if isinstance(value, bool) else ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _either(choices: Sequence[str]) -> str:
    return choices[0] if len(choices) == 1 else f"{', '.join(choices[:-1])} or {choices[-1]}"


def _known_keys(location: Sequence[str | int], model: type[BaseModel]) -> list[str]:
    """Return the fields of the settings at `location`."""
    _, candidates = _without_tags(location, model)
    return list(dict.fromkeys(key for candidate in candidates for key in candidate.model_fields))


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for argument in get_args(annotation) for found in _models_in(argument)]
