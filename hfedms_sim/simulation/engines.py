"""Which engine and device training uses. Known without torch: the lineage of a timing-only run names them too."""

import platform

from hfedms_sim import compiled
from hfedms_sim.errors import InputError
from hfedms_sim.scenario import Scenario


def engine_of(scenario: Scenario, device: str = "cpu") -> str:
    """By name; `auto` is the fastest that knows the sensors' optimiser and runs here."""
    optimiser = scenario.strategy.local_optimiser
    if optimiser == "sgd":
        fastest = "native" if device == "cpu" and compiled.available() else "lowrank"
        return fastest if scenario.engine == "auto" else scenario.engine
    if scenario.engine in ("auto", "generic"):
        return "generic"
    raise InputError(
        f"engine = '{scenario.engine}': does not know strategy.local_optimiser: {optimiser}; allowed: auto, generic"
    )


def device_of(choice: str) -> str:
    """`cpu` or `cuda`; the choice `auto` is the accelerator if there is one."""
    if choice == "cpu":
        return choice
    from hfedms_sim.learning.device import device_of  # here: it loads torch

    return device_of(choice)


def require_runnable(engine: str, device: str) -> None:
    if engine != "native":
        return
    if device != "cpu":
        raise InputError(f"engine = 'native': runs on the CPU, not on {device}; allowed: auto, generic, lowrank")
    if not compiled.available():
        raise InputError("engine = 'native': there are no compiled kernels here; allowed: auto, generic, lowrank")


def instruction_set(engine: str) -> str:
    """What decides the last bits of what is learnt."""
    return f"{platform.machine()} {compiled.variant()}" if engine == "native" else platform.machine()
