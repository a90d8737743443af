"""Turns a failed validation into lines a person can act on: key, value, what is allowed, did you mean."""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

_TYPES = {
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "is too large",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "string_type": "must be text",
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


def unknown(kind: str, value: str, known: Iterable[str]) -> str:
    """ "Unknown profile 'x'. Did you mean 'y'? Known: ..."."""
    choices = sorted(known)
    return f"unknown {kind} {_shown(value)}.{did_you_mean(value, choices)} Known: {', '.join(choices)}"


def did_you_mean(value: object, choices: Sequence[str]) -> str:
    close = get_close_matches(str(value), choices, n=1, cutoff=0.5)
    return f" Did you mean '{close[0]}'?" if close else ""


def problem_lines(error: ValidationError, model: type[BaseModel], raw: Any) -> list[tuple[str, str]]:
    """(dotted key, sentence) for each problem. The branches of a union that all failed make one problem."""
    sentences: dict[str, list[str]] = {}
    details = error.errors(include_url=False)
    for detail in details:
        if detail["type"] == "too_short" and any(_is_inside(other["loc"], detail["loc"]) for other in details):
            continue  # pydantic counts a list's items after dropping the faulty ones
        key = ".".join(str(part) for part in _user_path(detail, raw))
        sentences.setdefault(key, []).append(_sentence(detail, model))
    return [(key, _with_value(key, " or ".join(dict.fromkeys(parts)), raw)) for key, parts in sentences.items()]


def _is_inside(inner: Sequence[str | int], outer: Sequence[str | int]) -> bool:
    return len(inner) > len(outer) and tuple(inner[: len(outer)]) == tuple(outer)


def _user_path(detail: ErrorDetails, raw: Any) -> list[str | int]:
    """pydantic's location without what the user did not write: union branches and discriminator tags."""
    path: list[str | int] = []
    value = raw
    for depth, part in enumerate(detail["loc"]):
        last = depth == len(detail["loc"]) - 1
        in_mapping = isinstance(value, Mapping) and part in value
        in_list = isinstance(value, list) and isinstance(part, int) and part < len(value)
        if in_mapping or in_list:
            value = value[part]
        elif not (last and detail["type"] == "missing"):
            continue
        path.append(part)
    if detail["type"] == "union_tag_invalid":
        path.append("name")
    return path


def _sentence(detail: ErrorDetails, model: type[BaseModel]) -> str:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        known = _known_keys(detail["loc"][:-1], model)
        return f"unknown key.{did_you_mean(detail['loc'][-1], known)} Known: {', '.join(known)}"
    if kind == "missing":
        return "is missing"
    if kind in ("literal_error", "union_tag_invalid"):
        choices = re.findall(r"'([^']*)'", str(context.get("expected", context.get("expected_tags", ""))))
        value = context.get("tag", detail["input"])
        return f"must be {_either(choices)}" + (f".{hint}" if (hint := did_you_mean(value, choices)) else "")
    if kind in _BOUNDS:
        words, name = _BOUNDS[kind]
        return f"{words} {context[name]:g}" if isinstance(context[name], float) else f"{words} {context[name]}"
    if kind == "too_long" and detail["loc"][-1] == "faults":
        return "is reserved: faults are not built yet; allowed: []"
    if kind == "too_short":
        return f"needs at least {context['min_length']}"
    if kind == "value_error":
        return str(context["error"])
    if kind == "string_pattern_mismatch":
        return "may hold letters, digits, '.', '_' and '-', and starts with a letter or digit"
    return _TYPES.get(kind, detail["msg"][0].lower() + detail["msg"][1:])


def _with_value(key: str, sentence: str, raw: Any) -> str:
    """'key = value: sentence'; a mapping, or a key that is not there, is named without its value."""
    value = raw
    for part in key.split(".") if key else []:
        value = value.get(part, ...) if isinstance(value, Mapping) else value[int(part)]
    if not key:
        return sentence if isinstance(raw, Mapping) else f"{_shown(raw)}: {sentence}"
    if value is ... or (isinstance(value, Mapping | list) and value):
        return f"{key}: {sentence}"
    return f"{key} = {_shown(value)}: {sentence}"


def _shown(value: object) -> str:
    text = "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _either(choices: Sequence[str]) -> str:
    return choices[0] if len(choices) == 1 else f"{', '.join(choices[:-1])} or {choices[-1]}"


def _known_keys(location: Sequence[str | int], model: type[BaseModel]) -> list[str]:
    """The fields of the settings at `location`; a discriminator's tag picks one class of a union."""
    candidates: list[type[BaseModel]] = [model]
    for part in location:
        tagged = [c for c in candidates if "name" in c.model_fields and c.model_fields["name"].default == part]
        fields = [c.model_fields[part] for c in candidates if isinstance(part, str) and part in c.model_fields]
        if tagged:
            candidates = tagged
        elif fields:
            candidates = [found for field in fields for found in _models_in(field.annotation)]
    return list(dict.fromkeys(key for candidate in candidates for key in candidate.model_fields))


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for argument in get_args(annotation) for found in _models_in(argument)]
