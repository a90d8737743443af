"""What a caller changes in a scenario before it is validated: plain values in the raw mapping of the file.

Changes come as KEY=VALUE with YAML values, the command line's form, or as a mapping of keys to Python values. Keys are
dotted. A mapping within a mapping changes the keys that it names and leaves the others as they are; settings that are
objects (a network profile, a strategy's settings) replace what was there as a whole.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from numbers import Integral, Real
from os import PathLike, fspath
from typing import Any, NamedTuple

from hfedms_sim.errors import Argument, InputError
from hfedms_sim.scenario.base import Settings, keys_of
from hfedms_sim.scenario.choices import Choices, NamedPart
from hfedms_sim.scenario.problems import unknown
from hfedms_sim.scenario.yaml_io import parse_yaml

OVERRIDES, STRATEGY = Argument("overrides"), Argument("strategy")

_EXCHANGED = ("strategy", "stream")  # parts of which another one keeps the keys that both have

Overrides = Iterable[str] | Mapping[str, Any]
"""KEY=VALUE each, or a mapping with dotted keys, nested mappings, or both."""


class Override(NamedTuple):
    """A dotted key and what it is set to: 'strategy.interval=3', 'cells.0.profile.channels=2'."""

    path: tuple[str, ...]
    value: Any
    label: tuple[str | Argument, ...]
    """How errors name it."""

    @classmethod
    def parse(cls, text: str) -> "Override":
        shown = ascii(text)[1:-1][:60]
        label = (OVERRIDES, f" {shown}")
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise InputError(*label, ": must be KEY=VALUE, such as strategy.interval=3")
        try:
            return cls(tuple(key.split(".")), parse_yaml(value, shown), label)
        except InputError as error:
            raise InputError(OVERRIDES, " ", *error.args) from None

    def decides(self, choices: Choices) -> tuple[str, ...]:
        """Return the key whose value it decides: the whole part where it names another one, with other keys."""
        return self.path if self._exchanged(choices) is None else self.path[:1]

    def _exchanged(self, choices: Choices) -> NamedPart | None:
        """Return the part in whose place it puts another one; None if it does not."""
        part = self.path[0]
        named = choices.parts[part] if part in _EXCHANGED else None
        return named if named is not None and self.path == (part, named.key) else None

    def apply(self, raw: dict[str, Any], choices: Choices) -> None:
        named = self._exchanged(choices)
        if named is not None and isinstance(self.value, str) and self.value in named.known:
            _exchange(raw, self.path[0], named, self.value)
            return
        *parents, last = self.path
        container: Any = raw
        for part in parents:
            is_mapping = isinstance(container, dict)
            container = container.setdefault(part, {}) if is_mapping else container[self._index(container, part)]
        container[last if isinstance(container, dict) else self._index(container, last)] = self.value

    def _index(self, container: Any, part: str) -> int:
        if not isinstance(container, list):
            raise InputError(*self.label, f": there is no '{part}' in a single value")
        if not re.fullmatch(r"[0-9]{1,9}", part) or int(part) >= len(container):
            raise InputError(*self.label, f": '{part}' must be a list index from 0 to {len(container) - 1}")
        return int(part)


def overrides_of(given: Overrides) -> list[Override]:
    """Return the changes in the order in which they are given."""
    if isinstance(given, Mapping):
        return list(_leaves(given, ()))
    return [Override.parse(text) for text in given]


def _leaves(mapping: Mapping[Any, Any], parents: tuple[str, ...]) -> Iterator[Override]:
    for key, value in mapping.items():
        path = (*parents, *str(key).split("."))
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, path)
        else:
            yield Override(path, plain(value), (ascii(".".join(path))[1:-1][:60],))


def plain(value: Any) -> Any:
    """Return a value as YAML would have given it: settings as mappings, sequences as lists, NumPy's numbers as ours."""
    if isinstance(value, Settings):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, PathLike):
        return fspath(value)
    if isinstance(value, Real) and not isinstance(value, bool):
        return int(value) if isinstance(value, Integral) else float(value)
    return value


def replace_strategy(raw: dict[str, Any], name: str, choices: Choices) -> None:
    """Another algorithm, with those of the current settings that it also has."""
    if name not in choices.strategies:
        raise InputError(unknown("strategy", name, choices.strategies), given_by=STRATEGY)
    _exchange(raw, "strategy", choices.parts["strategy"], name)


def _exchange(raw: dict[str, Any], part: str, named: NamedPart, name: str) -> None:
    """Put what is called `name` in the place of a part, with those of the current settings that it also has."""
    current, fields = raw.get(part), keys_of(named.known[name])
    kept = {key: value for key, value in current.items() if key in fields} if isinstance(current, dict) else {}
    raw[part] = kept | {named.key: name}
