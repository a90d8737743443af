"""Which engine and device training uses. Known without torch: the lineage of a timing-only run names them too."""

from hfedms_sim.errors import InputError
from hfedms_sim.scenario import Scenario

BUILT = ("generic", "lowrank")


def engine_of(scenario: Scenario) -> str:
    """By name; `auto` is the fastest that is built and fits."""
    if not scenario.strategy.has_own_loss:
        return "lowrank" if scenario.engine == "auto" else scenario.engine
    if scenario.engine in ("auto", "generic"):
        return "generic"
    name = scenario.strategy.name
    raise InputError(f"engine = '{scenario.engine}': does not know the loss of {name}; allowed: auto, generic")


def device_of(choice: str) -> str:
    """`cpu` or `cuda`; the choice `auto` is the accelerator if there is one."""
    if choice == "cpu":
        return choice
    from hfedms_sim.learning.device import device_of  # here: it loads torch

    return device_of(choice)


def require_built(engine: str) -> None:
    if engine not in BUILT:
        raise InputError(f"engine = '{engine}': is not built yet; allowed: auto, {', '.join(BUILT)}")
