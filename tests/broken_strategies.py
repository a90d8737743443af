"""Strategies that break the contract, each in one way. As a program it checks them all and prints what each was told.

A program of its own, because a strategy that has been imported is known by name in the whole process.
"""

import json
import sys
from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np
import torch

from hfedms_sim.checks import CheckFailed, check_strategy
from hfedms_sim.learning import ChainLearner, LocalSet, Weights
from hfedms_sim.rounds import Payload, Plan, Singles
from hfedms_sim.strategies import LocalTraining, PlanContext
from hfedms_sim.strategies.fedavg import Averaging, AveragingSettings
from hfedms_sim.strategies.fedbuff import FedBuff, FedBuffSettings

_HERE = "tests.broken_strategies"


class ForgetfulSettings(AveragingSettings):
    name: Literal["forgetful"] = "forgetful"


class ForgetfulLearner(ChainLearner):
    """Counts its rounds, and leaves the count out of its state."""

    _rounds = 0

    def _merged(self, chains: list[list[LocalSet]], shares: list[float]) -> Weights:
        self._rounds += 1
        merged = super()._merged(chains, shares)
        return {name: value * (1 - 0.01 * self._rounds) for name, value in merged.items()}


class Forgetful(Averaging[ForgetfulSettings]):
    paper = rule = "none"
    Settings: ClassVar = ForgetfulSettings
    learner = f"{_HERE}:ForgetfulLearner"


class RestlessSettings(AveragingSettings):
    name: Literal["restless"] = "restless"


class RestlessLearner(ChainLearner):
    """Draws without a key."""

    def _merged(self, chains: list[list[LocalSet]], shares: list[float]) -> Weights:
        merged = super()._merged(chains, shares)
        return {name: value + 1e-3 * torch.randn_like(value) for name, value in merged.items()}


class Restless(Averaging[RestlessSettings]):
    paper = rule = "none"
    Settings: ClassVar = RestlessSettings
    learner = f"{_HERE}:RestlessLearner"


class ExplodingSettings(AveragingSettings):
    name: Literal["exploding"] = "exploding"


class ExplodingLearner(ChainLearner):
    def _merged(self, chains: list[list[LocalSet]], shares: list[float]) -> Weights:
        return {name: value / 0 for name, value in super()._merged(chains, shares).items()}


class Exploding(Averaging[ExplodingSettings]):
    paper = rule = "none"
    Settings: ClassVar = ExplodingSettings
    learner = f"{_HERE}:ExplodingLearner"


class WeightlessSettings(AveragingSettings):
    name: Literal["weightless"] = "weightless"


class Weightless(Averaging[WeightlessSettings]):
    """Its model has fewer bytes than none."""

    paper = rule = "none"
    Settings: ClassVar = WeightlessSettings

    def plan(self, state: int, context: PlanContext) -> Plan:
        return replace(super().plan(state, context), payload=Payload("model", -4))


class RaisingSettings(AveragingSettings):
    name: Literal["raising"] = "raising"


class Raising(Averaging[RaisingSettings]):
    paper = rule = "none"
    Settings: ClassVar = RaisingSettings

    def plan(self, state: int, context: PlanContext) -> Plan:
        raise ValueError("no idea")


class HastySettings(FedBuffSettings):
    name: Literal["hasty"] = "hasty"


class Hasty(FedBuff):
    """Starts everybody in each window, also who is under way."""

    Settings: ClassVar = HastySettings

    def plan(self, state: int, context: PlanContext) -> Plan:
        everybody = np.union1d(context.sensors, context.under_way)
        return replace(super().plan(state, context), groups=tuple(Singles(everybody)))


class ImpatientSettings(FedBuffSettings):
    name: Literal["impatient"] = "impatient"


class Impatient(FedBuff):
    """Has rounds that await everybody follow a window."""

    Settings: ClassVar = ImpatientSettings

    def plan(self, state: int, context: PlanContext) -> Plan:
        return replace(super().plan(state, context), carries_over=state == 1)


def told(settings: LocalTraining) -> str:
    try:
        check_strategy(settings)
    except CheckFailed as failure:
        return str(failure)
    return "nothing"


def main() -> None:
    """Check what this module defines, as whoever imports it would."""
    broken = (
        ForgetfulSettings(learning_rate=0.05),
        RestlessSettings(learning_rate=0.05),
        ExplodingSettings(),
        WeightlessSettings(),
        RaisingSettings(),
        HastySettings(buffer=2),
        ImpatientSettings(buffer=2),
    )
    json.dump({settings.name: told(settings) for settings in broken}, sys.stdout)
