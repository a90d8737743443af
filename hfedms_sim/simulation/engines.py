"""Which engine a scenario's training uses."""

from hfedms_sim.errors import InputError
from hfedms_sim.scenario import Scenario

BUILT = ("generic",)


def engine_of(scenario: Scenario) -> str:
    """By name; `auto` is the fastest that is built and fits."""
    return "generic" if scenario.engine == "auto" else scenario.engine


def require_built(engine: str) -> None:
    if engine not in BUILT:
        raise InputError(f"engine = '{engine}': is not built yet; allowed: auto, {', '.join(BUILT)}")
