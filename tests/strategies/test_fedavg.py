"""FedAvg's plan."""

from hfedms_sim.models import spec_of
from hfedms_sim.rounds import Payload
from hfedms_sim.strategies.fedavg import FedAvg, FedAvgSettings
from tests.strategies.factories import context, factory

CNN = spec_of("cnn")


def make(seed: int = 1, sensors: int = 368) -> FedAvg:
    return FedAvg(FedAvgSettings(), factory(sensors, seed))


def test_110_of_368_sensors_pull_and_push_the_full_model() -> None:
    plan = make().plan(1, context())
    assert len(plan.groups) == plan.participants == 110
    assert plan.payload == Payload("model", 4 * 6_687_834)
    assert plan.scatter is None


def test_nobody_reports() -> None:
    assert make().report(1) is None


def test_the_sensors_are_drawn_anew_each_round_and_fixed_by_the_seed() -> None:
    assert make().plan(1, context()).groups == make().plan(1, context()).groups
    assert make().plan(1, context()).groups != make().plan(2, context()).groups
    assert make(seed=1).plan(1, context()).groups != make(seed=2).plan(1, context()).groups


def test_training_is_three_passes_of_the_whole_model() -> None:
    (step,) = make().plan(1, context()).work
    assert (step.kind, step.multiply_adds_per_sample) == ("train", 3 * 17_295_928)
