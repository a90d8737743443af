"""Scenarios, network profiles, strategy settings and model sizes: what a user writes, validated. No torch, no simpy."""

from hfedms_sim.scenario.base import Fraction, NonNegativeFloat, PositiveFloat, PositiveInt, keys_of
from hfedms_sim.scenario.catalogue import (
    Changes,
    Source,
    holds_profile,
    is_path,
    is_profile,
    load_profile,
    load_scenario,
    problems_in,
    scenario_yaml,
    shipped,
)
from hfedms_sim.scenario.choices import ANY_NAME, Choices
from hfedms_sim.scenario.compression import NO_MATRICES, Compression, Contents, LegBytes, Matrices
from hfedms_sim.scenario.compute import DEVICES, Compute, ComputeDevice
from hfedms_sim.scenario.data import DEFAULT_DATA_SET, DataSettings
from hfedms_sim.scenario.models import (
    CHARACTER_IMAGES,
    TRAINING_PASSES,
    DataShape,
    Layer,
    LayerStack,
    ModelSpec,
    shape_text,
)
from hfedms_sim.scenario.overrides import Overrides
from hfedms_sim.scenario.power import Currents, Idle
from hfedms_sim.scenario.problems import unknown
from hfedms_sim.scenario.profile import FIGURES, NetworkProfile
from hfedms_sim.scenario.scenario import Cell, Scenario
from hfedms_sim.scenario.schema import scenario_schema
from hfedms_sim.scenario.strategy import DEFAULT_STRATEGY, LocalTraining, ServerWeights

__all__ = [
    "ANY_NAME",
    "CHARACTER_IMAGES",
    "DEFAULT_DATA_SET",
    "DEFAULT_STRATEGY",
    "DEVICES",
    "FIGURES",
    "NO_MATRICES",
    "TRAINING_PASSES",
    "Cell",
    "Changes",
    "Choices",
    "Compression",
    "Compute",
    "ComputeDevice",
    "Contents",
    "Currents",
    "DataSettings",
    "DataShape",
    "Fraction",
    "Idle",
    "Layer",
    "LayerStack",
    "LegBytes",
    "LocalTraining",
    "Matrices",
    "ModelSpec",
    "NetworkProfile",
    "NonNegativeFloat",
    "Overrides",
    "PositiveFloat",
    "PositiveInt",
    "Scenario",
    "ServerWeights",
    "Source",
    "holds_profile",
    "is_path",
    "is_profile",
    "keys_of",
    "load_profile",
    "load_scenario",
    "problems_in",
    "scenario_schema",
    "scenario_yaml",
    "shape_text",
    "shipped",
    "unknown",
]
