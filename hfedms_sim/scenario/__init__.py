"""Scenarios, network profiles, strategy settings and model sizes: what a user writes, validated. No torch, no simpy."""

from hfedms_sim.scenario.base import NonNegativeFloat, PositiveFloat, PositiveInt, keys_of
from hfedms_sim.scenario.catalogue import (
    holds_profile,
    is_path,
    is_profile,
    load_profile,
    load_scenario,
    problems_in,
    scenario_yaml,
    shipped,
)
from hfedms_sim.scenario.devices import DEVICES, ComputeDevice
from hfedms_sim.scenario.models import CLASSES, MODELS, TRAINING_PASSES, ModelSpec
from hfedms_sim.scenario.power import Currents, Idle
from hfedms_sim.scenario.problems import unknown
from hfedms_sim.scenario.profile import FIGURES, NetworkProfile
from hfedms_sim.scenario.scenario import Cell, Data, Scenario, StrategySettings
from hfedms_sim.scenario.schema import scenario_schema
from hfedms_sim.scenario.strategy import LocalTraining, ServerWeights

__all__ = [
    "CLASSES",
    "DEVICES",
    "FIGURES",
    "MODELS",
    "TRAINING_PASSES",
    "Cell",
    "ComputeDevice",
    "Currents",
    "Data",
    "Idle",
    "LocalTraining",
    "ModelSpec",
    "NetworkProfile",
    "NonNegativeFloat",
    "PositiveFloat",
    "PositiveInt",
    "Scenario",
    "ServerWeights",
    "StrategySettings",
    "holds_profile",
    "is_path",
    "is_profile",
    "keys_of",
    "load_profile",
    "load_scenario",
    "problems_in",
    "scenario_schema",
    "scenario_yaml",
    "shipped",
    "unknown",
]
