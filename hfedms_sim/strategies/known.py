"""Which strategies a scenario may name: those that ship, those a program has defined, those of installed packages.

Looked up in this order, and the last only when a name is not among the others, or when all are listed:

1. what ships (`SHIPPED`);
2. every other strategy that has been imported: a user's module (`--import MODULE`), a notebook;
3. entry points of the group `hfedms_sim.strategies` of installed packages.

A YAML file never makes the program import anything: it names what is known.
"""

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from hfedms_sim.errors import InputError
from hfedms_sim.scenario import LocalTraining
from hfedms_sim.strategies.base import Strategy

GROUP = "hfedms_sim.strategies"

AnyStrategy = type[Strategy[Any, Any]]

_METHODS = {"__init__": 3, "costs": 2, "start": 1, "report": 2, "plan": 3, "update": 4}
"""With how many arguments each is called; `costs` is a class method."""


class KnownStrategies(Mapping[str, AnyStrategy]):
    """Strategies by the names that scenarios give them."""

    def __init__(self, shipped: Mapping[str, AnyStrategy]) -> None:
        self._shipped = shipped

    def __getitem__(self, name: str) -> AnyStrategy:
        if name in self._shipped:
            return self._shipped[name]
        imported = self._imported()
        return require_sound(imported[name] if name in imported else self._loaded(self._installed[name]))

    def __iter__(self) -> Iterator[str]:
        return iter({**self._shipped, **self._imported(), **self._installed})

    def __len__(self) -> int:
        return len(list(iter(self)))

    def _imported(self) -> dict[str, AnyStrategy]:
        """Return the strategies that some other module has defined; one that was defined again, the last time."""
        found: dict[str, AnyStrategy] = {}
        for strategy in _defined(Strategy.__subclasses__()):
            name = name_of(strategy)
            if self._shipped.get(name) is strategy:
                continue
            other = self._shipped.get(name) or found.get(name)
            if other is not None and path_of(other) != path_of(strategy):
                raise InputError(f"strategy '{name}': is defined twice, as {path_of(other)} and as {path_of(strategy)}")
            found[name] = strategy
        return found

    @cached_property
    def _installed(self) -> dict[str, EntryPoint]:
        return {entry.name: entry for entry in entry_points(group=GROUP)}

    def _loaded(self, entry: EntryPoint) -> AnyStrategy:
        try:
            strategy = entry.load()
        except Exception as error:
            raise InputError(f"strategy '{entry.name}': {entry.value} cannot be loaded ({_words(error)})") from None
        if not (isinstance(strategy, type) and issubclass(strategy, Strategy)):
            raise InputError(f"strategy '{entry.name}': {entry.value} is no subclass of Strategy")
        if name_of(strategy) != entry.name:
            raise InputError(f"strategy '{entry.name}': {entry.value} calls itself '{name_of(strategy)}'")
        return strategy


class KnownSettings(Mapping[str, type[LocalTraining]]):
    """Their settings, by the same names: what a scenario is validated with."""

    def __init__(self, strategies: KnownStrategies) -> None:
        self._strategies = strategies

    def __getitem__(self, name: str) -> type[LocalTraining]:
        return self._strategies[name].Settings

    def __iter__(self) -> Iterator[str]:
        return iter(self._strategies)

    def __len__(self) -> int:
        return len(self._strategies)


def name_of(strategy: AnyStrategy) -> str:
    """Return how scenarios call it."""
    field = getattr(strategy.Settings, "model_fields", {}).get("name")
    if field is None or not isinstance(field.default, str):
        raise InputError(f"{path_of(strategy)}: Settings must have the strategy's name as default of its field name")
    return field.default


def require_sound(strategy: AnyStrategy) -> AnyStrategy:
    """Return the strategy if it has what a run asks of it, else say what is wrong with it."""
    settings = getattr(strategy, "Settings", None)
    if not (isinstance(settings, type) and issubclass(settings, LocalTraining)):
        raise InputError(f"{path_of(strategy)}: Settings must be a subclass of LocalTraining")
    for method, arguments in _METHODS.items():
        try:
            inspect.signature(getattr(strategy, method)).bind(*range(arguments))
        except TypeError as error:
            raise InputError(f"{path_of(strategy)}: {method} cannot be called as a run calls it ({error})") from None
    if not re.fullmatch(r"[\w.]+:\w+", strategy.learner):
        raise InputError(f"{path_of(strategy)}: learner = {strategy.learner!r:.60}: must be MODULE:CLASS")
    return strategy


def path_of(strategy: AnyStrategy) -> str:
    """Return where its class is, as MODULE:CLASS."""
    return f"{strategy.__module__}:{strategy.__qualname__}"


def strategy_of(settings: LocalTraining) -> AnyStrategy:
    """Return the strategy whose settings these are."""
    return next(each for each in _defined(Strategy.__subclasses__()) if each.Settings is type(settings))


def _defined(classes: Iterable[AnyStrategy]) -> Iterator[AnyStrategy]:
    """Yield the strategies among classes and all below them: those with settings of their own that can be made."""
    for each in classes:
        if "Settings" in each.__dict__ and not inspect.isabstract(each):
            yield each
        yield from _defined(each.__subclasses__())


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
