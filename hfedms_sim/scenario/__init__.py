"""Scenarios, network profiles, strategy settings and model sizes: what a user writes, validated. No torch, no simpy."""

from hfedms_sim.scenario.catalogue import (
    holds_profile,
    is_path,
    load_profile,
    load_scenario,
    problems_in,
    scenario_yaml,
    shipped,
)
from hfedms_sim.scenario.devices import DEVICES, ComputeDevice
from hfedms_sim.scenario.models import CLASSES, MODELS, TRAINING_PASSES, ModelSpec
from hfedms_sim.scenario.problems import unknown
from hfedms_sim.scenario.profile import FIGURES, Currents, NetworkProfile
from hfedms_sim.scenario.scenario import Cell, Scenario
from hfedms_sim.scenario.schema import scenario_schema
from hfedms_sim.scenario.strategy import (
    STRATEGY_SETTINGS,
    ChainSettings,
    FedAvgSettings,
    HFedMSDynamicSettings,
    HFedMSStaticSettings,
    LocalTraining,
)

__all__ = [
    "CLASSES",
    "DEVICES",
    "FIGURES",
    "MODELS",
    "STRATEGY_SETTINGS",
    "TRAINING_PASSES",
    "Cell",
    "ChainSettings",
    "ComputeDevice",
    "Currents",
    "FedAvgSettings",
    "HFedMSDynamicSettings",
    "HFedMSStaticSettings",
    "LocalTraining",
    "ModelSpec",
    "NetworkProfile",
    "Scenario",
    "holds_profile",
    "is_path",
    "load_profile",
    "load_scenario",
    "problems_in",
    "scenario_schema",
    "scenario_yaml",
    "shipped",
    "unknown",
]
