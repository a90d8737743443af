"""What is shipped, for programs: a list of objects whose keys stay. The same for people is in catalogue.py."""

from collections.abc import Callable, Mapping
from typing import Any

from hfedms_sim.data import DATA_SOURCES
from hfedms_sim.loading import load_scenario
from hfedms_sim.models import MODELS
from hfedms_sim.scenario import load_profile, shipped
from hfedms_sim.strategies import STRATEGIES

Entries = list[dict[str, Any]]


def scenario_entries() -> Entries:
    """Return every shipped scenario with what it is made of."""
    scenarios = {name: load_scenario(name) for name in shipped("scenario")}
    return [
        {
            "name": name,
            "description": scenario.description,
            "sensors": scenario.sensors.count,
            "strategy": scenario.strategy.name,
            "profiles": list(dict.fromkeys(cell.profile.name for cell in scenario.cells)),
            "model": scenario.model,
            "data": scenario.data.set,
            "rounds": scenario.rounds,
        }
        for name, scenario in scenarios.items()
    ]


def profile_entries() -> Entries:
    """Return every shipped network profile with its rates."""
    profiles = {name: load_profile(name) for name in shipped("profile")}
    return [
        {
            "name": name,
            "description": profile.description,
            "uplink_bps": profile.uplink_bps,
            "downlink_bps": profile.downlink_bps,
            "duplex": profile.duplex,
        }
        for name, profile in profiles.items()
    ]


def strategy_entries() -> Entries:
    """Return every known strategy with its rule and its paper."""
    known = STRATEGIES.items()
    return [{"name": name, "rule": strategy.rule, "paper": strategy.paper} for name, strategy in known]


def model_entries() -> Entries:
    """Return every known network with what it costs, for the shape of samples that it is shown for."""
    return [_model_entry(name) for name in MODELS]


def _model_entry(name: str) -> dict[str, Any]:
    known = MODELS[name]
    spec = known().spec(known.example)
    return {
        "name": name,
        "description": known.about,
        "input_shape": list(known.example.input_shape),
        "classes": known.example.classes,
        "parameters": spec.parameters,
        "classifier_parameters": spec.classifier_parameters,
        "model_bytes": spec.model_bytes,
        "multiply_adds": spec.multiply_adds,
    }


def dataset_entries() -> Entries:
    """Return every known data set, or kind of files."""
    return [{"name": name, "description": source.about} for name, source in DATA_SOURCES.items()]


ENTRIES: Mapping[str, Callable[[], Entries]] = {
    "scenarios": scenario_entries,
    "profiles": profile_entries,
    "strategies": strategy_entries,
    "models": model_entries,
    "datasets": dataset_entries,
}
