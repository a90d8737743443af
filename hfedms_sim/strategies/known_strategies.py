"""Which strategies a scenario may name, and what a class must have to be one."""

import re
from typing import Any

from hfedms_sim import foreign_code
from hfedms_sim.errors import InputError
from hfedms_sim.known_parts import Kind, Known, defined, name_in_settings, path_of, require_callable, require_settings
from hfedms_sim.scenario import LocalTraining
from hfedms_sim.strategies.base import Strategy

AnyStrategy = type[Strategy[Any, Any]]
KnownStrategies = Known[Strategy[Any, Any]]

_METHODS = {"__init__": 3, "costs": 2, "workload": 3, "start": 1, "report": 2, "plan": 3, "update": 4}
"""With how many arguments each is called; `costs` and `workload` are class methods."""


def name_of(strategy: AnyStrategy) -> str:
    """Return how scenarios call it."""
    return name_in_settings(strategy, "name", "strategy")


def require_sound(strategy: AnyStrategy) -> AnyStrategy:
    """Return the strategy if it has what a run asks of it, else say what is wrong with it."""
    require_settings(strategy, LocalTraining)
    require_callable(strategy, _METHODS)
    if not re.fullmatch(r"[\w.]+:\w+", strategy.learner):
        raise InputError(f"{path_of(strategy)}: learner = {strategy.learner!r:.60}: must be MODULE:CLASS")
    return strategy


KIND: Kind[Strategy[Any, Any]] = Kind(
    word="strategy",
    group="hfedms_sim.strategies",
    base=Strategy,
    name_of=name_of,
    is_whole=lambda strategy: "Settings" in strategy.__dict__,
    require_sound=require_sound,
)


def strategy_of(settings: LocalTraining) -> AnyStrategy:
    """Return the strategy whose settings these are."""
    found = next((each for each in defined(KIND) if each.Settings is type(settings)), None)
    if found is None:
        raise InputError(f"{path_of(type(settings))}: no strategy has these settings; was it defined again?")
    return found


def code_digest(strategy: AnyStrategy) -> str | None:
    """Return a hash of the source behind an outside strategy, its settings and its learner; None for one that ships."""
    modules = foreign_code.modules_of(strategy) | {strategy.Settings.__module__, strategy.learner.partition(":")[0]}
    return foreign_code.code_digest(strategy, modules)
