"""Which engine and device training uses. Known without torch: the lineage of a timing-only run names them too."""

import platform
from typing import NamedTuple

from hfedms_sim.errors import InputError
from hfedms_sim.scenario import ModelSpec, Scenario
from hfedms_sim.system import native_library


def engine_of(scenario: Scenario, model: ModelSpec, device: str = "cpu") -> str:
    """Return the engine's name; `auto` is the fastest here that knows the network and the sensors' optimiser."""
    unknown = _unknown_to_fast_engines(scenario, model)
    if unknown is None:
        fastest = "native" if device == "cpu" and native_library.available() else "lowrank"
        return fastest if scenario.engine == "auto" else scenario.engine
    if scenario.engine in ("auto", "generic"):
        return "generic"
    raise InputError(f"engine = '{scenario.engine}': does not know {unknown}; allowed: auto, generic")


def _unknown_to_fast_engines(scenario: Scenario, model: ModelSpec) -> str | None:
    if model.stack is None:
        return f"model: {model.name}, which is no plain stack of convolutions and dense layers"
    optimiser = scenario.strategy.local_optimiser
    return None if optimiser == "sgd" else f"strategy.local_optimiser: {optimiser}"


class Computing(NamedTuple):
    """How a run trains. All of it decides what is learnt to the last bit."""

    engine: str
    threads: int
    device: str

    @classmethod
    def of(cls, scenario: Scenario, model: ModelSpec, threads: int, device: str) -> "Computing":
        """Return how the scenario's network is trained with this many threads on that device."""
        return cls(engine_of(scenario, model, device), threads, device)


def device_of(choice: str) -> str:
    """Return `cpu` or `cuda`; the choice `auto` is the accelerator if there is one."""
    if choice == "cpu":
        return choice
    from hfedms_sim.learning.process import has_accelerator  # here: it loads torch

    if has_accelerator():
        return "cuda"
    if choice == "auto":
        return "cpu"
    raise InputError(f"device = '{choice}': torch finds no such device here; allowed: auto, cpu")


def require_runnable(computing: Computing) -> None:
    """Refuse an engine that does not run on the device, or not on this machine."""
    if computing.engine != "native":
        return
    if computing.device != "cpu":
        where = f"runs on the CPU, not on {computing.device}"
        raise InputError(f"engine = 'native': {where}; allowed: auto, generic, lowrank")
    if not native_library.available():
        raise InputError("engine = 'native': there are no compiled kernels here; allowed: auto, generic, lowrank")


def instruction_set(engine: str) -> str:
    """What decides the last bits of what is learnt."""
    return f"{platform.machine()} {native_library.variant()}" if engine == "native" else platform.machine()
