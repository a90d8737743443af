"""hfedms_sim: a discrete-event network co-simulator for federated learning over low-power radio.

    from hfedms_sim import load_scenario, run

    result = run(load_scenario("quickstart", rounds=20))
    result.rounds                    # a pandas DataFrame; so are transfers, work, captures, faults, sensors
    result.time_to_accuracy(0.5)     # simulated seconds, or None

`open_run` reads a run directory again.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hfedms_sim.loading import load_scenario, open_run
    from hfedms_sim.result import RunResult
    from hfedms_sim.scenario import Scenario, load_profile
    from hfedms_sim.simulation.run import run

_HOMES = {
    "RunResult": "hfedms_sim.result",
    "Scenario": "hfedms_sim.scenario",
    "load_profile": "hfedms_sim.scenario",
    "load_scenario": "hfedms_sim.loading",
    "open_run": "hfedms_sim.loading",
    "run": "hfedms_sim.simulation",
}

__all__ = ["RunResult", "Scenario", "load_profile", "load_scenario", "open_run", "run"]


def __getattr__(name: str) -> Any:
    """Loaded when first asked for: the command line answers --help without pandas and SimPy."""
    if name not in _HOMES:
        raise AttributeError(f"module 'hfedms_sim' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
