"""The public checks of strategies: shipped ones pass, and each kind of broken one is told what is wrong with it."""

from typing import Any, ClassVar, Literal

import pytest
import torch

from hfedms_sim.checks import CheckFailed, check_strategy
from hfedms_sim.learning import ChainLearner, LocalSet, Weights
from hfedms_sim.rounds import Payload, Plan
from hfedms_sim.scenario import LocalTraining
from hfedms_sim.strategies import SHIPPED, PlanContext
from hfedms_sim.strategies.fedavg import Averaging, AveragingSettings


@pytest.mark.parametrize("name", ["fedavg", "fedadam", "hfedms-d"])
def test_shipped_strategies_keep_to_the_contract(name: str) -> None:
    changes: dict[str, Any] = {"beta": 3, "interval": 3} if name == "hfedms-d" else {}
    check_strategy(SHIPPED[name].Settings(name=name, learning_rate=0.05, **changes))


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
    learner = f"{__name__}:ForgetfulLearner"


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
    learner = f"{__name__}:RestlessLearner"


class ExplodingSettings(AveragingSettings):
    name: Literal["exploding"] = "exploding"


class ExplodingLearner(ChainLearner):
    def _merged(self, chains: list[list[LocalSet]], shares: list[float]) -> Weights:
        return {name: value / 0 for name, value in super()._merged(chains, shares).items()}


class Exploding(Averaging[ExplodingSettings]):
    paper = rule = "none"
    Settings: ClassVar = ExplodingSettings
    learner = f"{__name__}:ExplodingLearner"


class WeightlessSettings(AveragingSettings):
    name: Literal["weightless"] = "weightless"


class Weightless(Averaging[WeightlessSettings]):
    """Its model has fewer bytes than none."""

    paper = rule = "none"
    Settings: ClassVar = WeightlessSettings

    def plan(self, state: int, context: PlanContext) -> Plan:
        return super().plan(state, context)._replace(payload=Payload("model", -4))


class RaisingSettings(AveragingSettings):
    name: Literal["raising"] = "raising"


class Raising(Averaging[RaisingSettings]):
    paper = rule = "none"
    Settings: ClassVar = RaisingSettings

    def plan(self, state: int, context: PlanContext) -> Plan:
        raise ValueError("no idea")


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        (ForgetfulSettings(learning_rate=0.05), "Forgetful: a resumed run ends with other weights"),
        (RestlessSettings(learning_rate=0.05), "Restless: training twice gives other weights"),
        (ExplodingSettings(), "Exploding: .*not finite"),
        (WeightlessSettings(), "Weightless: "),
        (RaisingSettings(), "Raising: raised ValueError: no idea"),
    ],
    ids=lambda each: each.name if isinstance(each, LocalTraining) else "",
)
def test_a_broken_strategy_is_told_what_is_wrong(settings: LocalTraining, fault: str) -> None:
    with pytest.raises(CheckFailed, match=fault):
        check_strategy(settings)
