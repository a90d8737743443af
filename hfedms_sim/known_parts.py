"""Parts of a run that scenarios name: those that ship, those a program has defined, those of installed packages.

Strategies, networks and data sets are looked up in the same way, and in this order; the last only when a name is not
among the others, or when all are listed:

1. what ships;
2. every other class of that kind that has been imported: a user's module (`--import MODULE`), a notebook;
3. entry points of installed packages, by the group of the kind.

A YAML file never makes the program import anything: it names what is known.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from hfedms_sim.errors import InputError

Part = TypeVar("Part")
Own = TypeVar("Own")


@dataclass(frozen=True)
class Kind(Generic[Part]):
    """A kind of part: what its classes derive from, how scenarios call one, and what is asked of it."""

    word: str
    """What people call it: strategy, model, data set."""
    group: str
    """The group of entry points."""
    base: type[Any]
    name_of: Callable[[type[Part]], str]
    is_whole: Callable[[type[Part]], bool]
    """Whether a class below `base` is a part of its own, not something to build on."""
    require_sound: Callable[[type[Part]], type[Part]]
    """Return the part if it has what a run asks of it, else raise an InputError that says what is wrong with it."""
    from_object: Callable[[str, Any], Any] = lambda name, found: found
    """Makes a part of what an entry point of this name stands for, where that need not be a class."""


class Known(Mapping[str, type[Part]], Generic[Part]):
    """Parts of one kind by the names that scenarios give them."""

    def __init__(self, kind: Kind[Part], shipped: Iterable[type[Part]]) -> None:
        self._kind = kind
        self.shipped: dict[str, type[Part]] = {kind.name_of(part): part for part in shipped}

    def __getitem__(self, name: str) -> type[Part]:
        imported = self._imported()  # first: it refuses names that are taken
        if name in self.shipped:
            return self.shipped[name]
        return self._kind.require_sound(imported[name] if name in imported else self._loaded(self._installed[name]))

    def __iter__(self) -> Iterator[str]:
        return iter({**self.shipped, **self._imported(), **self._installed})

    def __len__(self) -> int:
        return len(list(iter(self)))

    def _imported(self) -> dict[str, type[Part]]:
        """Return the parts that some other module has defined; one that was defined again, the last time."""
        found: dict[str, type[Part]] = {}
        for part in defined(self._kind):
            name = self._kind.name_of(part)
            if self.shipped.get(name) is part:
                continue
            other = self.shipped.get(name) or found.get(name)
            if other is not None and path_of(other) != path_of(part):
                paths = f"{path_of(other)} and as {path_of(part)}"
                raise InputError(f"{self._kind.word} '{name}': is defined twice, as {paths}")
            found[name] = part
        return found

    @cached_property
    def _installed(self) -> dict[str, EntryPoint]:
        return {entry.name: entry for entry in entry_points(group=self._kind.group)}

    def _loaded(self, entry: EntryPoint) -> type[Part]:
        kind = self._kind
        try:
            part = kind.from_object(entry.name, entry.load())
        except InputError:
            raise
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
            raise InputError(f"{kind.word} '{entry.name}': {entry.value} cannot be loaded ({said})") from None
        if not (isinstance(part, type) and issubclass(part, kind.base)):
            raise InputError(f"{kind.word} '{entry.name}': {entry.value} is no subclass of {kind.base.__name__}")
        if kind.name_of(part) != entry.name:
            raise InputError(f"{kind.word} '{entry.name}': {entry.value} calls itself '{kind.name_of(part)}'")
        return part


class KnownSettings(Mapping[str, type[Own]], Generic[Own]):
    """The settings of known parts, by the same names: what a scenario is validated with."""

    def __init__(self, parts: Mapping[str, Any]) -> None:
        self._parts = parts

    def __getitem__(self, name: str) -> type[Own]:
        settings: type[Own] = self._parts[name].Settings
        return settings

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


def defined(kind: Kind[Part]) -> Iterator[type[Part]]:
    """Yield the parts of a kind that are defined anywhere in this process."""
    return _below(kind.base, kind.is_whole)


def _below(base: type[Any], is_whole: Callable[[type[Part]], bool]) -> Iterator[type[Part]]:
    for each in base.__subclasses__():
        if is_whole(each) and not inspect.isabstract(each):
            yield each
        yield from _below(each, is_whole)


def path_of(part: Any) -> str:
    """Return where a class or function is, as MODULE:NAME."""
    return f"{part.__module__}:{part.__qualname__}"


def name_in_settings(part: type[Any], key: str, word: str) -> str:
    """Return the name of a part, which is the default of a key of its settings."""
    field = getattr(part.Settings, "model_fields", {}).get(key)
    if field is None or not isinstance(field.default, str):
        raise InputError(f"{path_of(part)}: Settings must have the {word}'s name as default of its field {key}")
    return field.default


def require_settings(part: type[Any], base: type[Any]) -> None:
    """Refuse a class whose settings are not of that kind."""
    settings = getattr(part, "Settings", None)
    if not (isinstance(settings, type) and issubclass(settings, base)):
        raise InputError(f"{path_of(part)}: Settings must be a subclass of {base.__name__}")


def require_callable(part: type[Any], methods: Mapping[str, int]) -> None:
    """Refuse a class whose methods cannot be called with this many arguments, `self` included."""
    for method, arguments in methods.items():
        try:
            inspect.signature(getattr(part, method)).bind(*range(arguments))
        except TypeError as error:
            raise InputError(f"{path_of(part)}: {method} cannot be called as a run calls it ({error})") from None
