"""hfedms_sim: a discrete-event network co-simulator for federated learning over low-power radio.

    from hfedms_sim import load_scenario, run

    result = run(load_scenario("quickstart", rounds=20))
    result.rounds                    # a pandas DataFrame; so are transfers, work, captures, faults, sensors
    result.time_to_accuracy(0.5)     # simulated seconds, or None

`load_scenario` makes a scenario and `Scenario.replacing` another one of it. `run` plays and trains it, `play` gives its
rounds one by one, `resume` goes on with an unfinished run and `open_run` reads a finished one. `explain` says what
limited a run and what would help. `compare` and `sweep` play a scenario many times over, and `open_campaign` reads what
they left. `verify` says whether a run or a campaign still holds what it held. `from_arrays`, `Dataset` and `Model` are
for data and networks of your own. What cannot be used is an `InputError` of one line. docs/python.md is the reference.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hfedms_sim.campaign.calls import compare, sweep
    from hfedms_sim.campaign.result import CampaignResult, open_campaign
    from hfedms_sim.campaign.standing import Standing
    from hfedms_sim.data import Dataset, Partition, from_arrays
    from hfedms_sim.errors import InputError, RunError
    from hfedms_sim.explanation import Explanation, explain
    from hfedms_sim.integrity import Verification, verify
    from hfedms_sim.loading import load_scenario
    from hfedms_sim.models import Model
    from hfedms_sim.result import RunResult
    from hfedms_sim.scenario import NetworkProfile, Scenario, load_profile
    from hfedms_sim.simulation.opening import open_run, resume
    from hfedms_sim.simulation.play import play
    from hfedms_sim.simulation.progress import Progress
    from hfedms_sim.simulation.run import run
    from hfedms_sim.simulation.session import PlayedRound

_HOMES = {
    "CampaignResult": "hfedms_sim.campaign",
    "Dataset": "hfedms_sim.data",
    "Explanation": "hfedms_sim.explanation",
    "InputError": "hfedms_sim.errors",
    "Model": "hfedms_sim.models",
    "NetworkProfile": "hfedms_sim.scenario",
    "Partition": "hfedms_sim.data",
    "PlayedRound": "hfedms_sim.simulation",
    "Progress": "hfedms_sim.simulation",
    "RunError": "hfedms_sim.errors",
    "RunResult": "hfedms_sim.result",
    "Scenario": "hfedms_sim.scenario",
    "Standing": "hfedms_sim.campaign",
    "Verification": "hfedms_sim.integrity",
    "compare": "hfedms_sim.campaign",
    "explain": "hfedms_sim.explanation",
    "from_arrays": "hfedms_sim.data",
    "load_profile": "hfedms_sim.scenario",
    "load_scenario": "hfedms_sim.loading",
    "open_campaign": "hfedms_sim.campaign",
    "open_run": "hfedms_sim.simulation",
    "play": "hfedms_sim.simulation",
    "resume": "hfedms_sim.simulation",
    "run": "hfedms_sim.simulation",
    "sweep": "hfedms_sim.campaign",
    "verify": "hfedms_sim.integrity",
}

__all__ = [
    "CampaignResult",
    "Dataset",
    "Explanation",
    "InputError",
    "Model",
    "NetworkProfile",
    "Partition",
    "PlayedRound",
    "Progress",
    "RunError",
    "RunResult",
    "Scenario",
    "Standing",
    "Verification",
    "compare",
    "explain",
    "from_arrays",
    "load_profile",
    "load_scenario",
    "open_campaign",
    "open_run",
    "play",
    "resume",
    "run",
    "sweep",
    "verify",
]


def __getattr__(name: str) -> Any:
    """Load what is asked for the first time: the command line answers --help without pandas and SimPy."""
    if name not in _HOMES:
        raise AttributeError(f"module 'hfedms_sim' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """Return what the package offers, loaded or not, for `help` and for completion."""
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
