"""What every strategy, network and data set must keep to, as checks that its author can run: from a test, or by hand.

    from hfedms_sim.checks import check_dataset, check_model, check_strategy
    check_strategy(MySettings(momentum=0.5))
    check_model(MyNetwork)
    check_dataset(MyData(...))

A small factory is played and trained a few times, which takes seconds. Whatever is broken raises `CheckFailed` with a
line that says what was expected.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from hfedms_sim.data import Dataset, from_arrays
from hfedms_sim.data.checking import check_dataset as check_samples
from hfedms_sim.errors import InputError
from hfedms_sim.known_parts import path_of
from hfedms_sim.loading import scenario_of
from hfedms_sim.result import RunResult
from hfedms_sim.scenario import DataSettings, DataShape, LocalTraining, Scenario
from hfedms_sim.seeds import Draws
from hfedms_sim.simulation import run
from hfedms_sim.simulation.parts import AnyModel, model_object
from hfedms_sim.strategies import require_sound, strategy_of
from hfedms_sim.strategies.fedavg import FedAvgSettings
from hfedms_sim.strategies.hfedms import HFedMSDynamicSettings

_RADIO = {"name": "check", "uplink_bps": 1e6, "downlink_bps": 1e6}
_ON_THE_AIR = ("transfers", "work", "captures")
_SENSORS, _SAMPLES = 8, 20
_TRAINED_WITH: tuple[LocalTraining, ...] = (
    FedAvgSettings(sample_ratio=0.5, learning_rate=0.02),
    HFedMSDynamicSettings(sample_ratio=0.5, learning_rate=0.02, beta=2, interval=2),
)


class CheckFailed(AssertionError):  # noqa: N818  an assertion about somebody else's code
    """A part does not keep to the contract."""


def check_strategy(settings: LocalTraining, *, model: str = "tiny-mlp", sensors: int = 12, rounds: int = 6) -> None:
    """Check that a strategy with these settings plays, repeats itself, learns, and goes on from half of the rounds."""
    strategy = require_sound(strategy_of(settings))
    with _named(path_of(strategy)):
        _check_runs(_scenario(settings, model, sensors, rounds))


def check_model(model: AnyModel, *, data: DataShape | None = None, rounds: int = 4) -> None:
    """Check that a network trains with FedAvg and HFedMS-D on samples of a shape: alike twice, and when resumed.

    `data` is the shape of a sample and the number of classes; by default what the network is shown for.
    """
    network = model_object(model)
    with _named(path_of(type(network))):
        dataset = _separable(data or network.example)
        for settings in _TRAINED_WITH:
            _check_runs(_scenario(settings, network.name, _SENSORS, rounds), model=network, data=dataset)


def check_dataset(data: Dataset | DataSettings, *, sensors: int = 12) -> None:
    """Check a data set, or what settings open: shapes, ranges, sizes, and that whatever is asked twice is the same."""
    with _named(path_of(type(data))):
        try:
            check_samples(data, sensors=sensors)
        except ValueError as fault:
            raise CheckFailed(str(fault)) from None


def _check_runs(scenario: Scenario, **objects: Any) -> None:
    """Play and train a scenario a few times, with these objects in place of what it names."""
    shorter = scenario.model_copy(update={"rounds": scenario.rounds // 2})
    with TemporaryDirectory() as directory:
        one, two, half, rest = (Path(directory) / name for name in ("one", "two", "half", "rest"))
        timed = run(scenario, timing_only=True, **objects)
        _check_plan(timed)
        _check_same(timed, run(scenario, timing_only=True, **objects), "two runs of one scenario differ")
        learnt = run(scenario, out=one, **objects)
        _check_learning(learnt)
        _check_same(timed, learnt, "training changes what happens on the air", _ON_THE_AIR)
        again = run(scenario, out=two, **objects)
        _check_weights(learnt, again, "training twice gives other weights: is every draw keyed?")
        run(shorter, out=half, **objects)
        resumed = run(scenario, out=rest, learn_from=[half], **objects)
        _check_weights(learnt, resumed, "a resumed run ends with other weights: is all of the learner in its state?")


@contextmanager
def _named(who: str) -> Iterator[None]:
    """Name the part in whatever it raises."""
    try:
        yield
    except CheckFailed as failure:
        raise CheckFailed(f"{who}: {failure}") from None
    except InputError as error:
        raise CheckFailed(str(error)) from None
    except Exception as error:
        raise CheckFailed(f"{who}: raised {type(error).__name__}: {error}") from error


def _scenario(settings: LocalTraining, model: str, sensors: int, rounds: int) -> Scenario:
    raw: Mapping[str, Any] = {
        "name": "check",
        "rounds": rounds,
        "sensors": {"count": sensors, "types": 4},
        "stream": {"batch": 10},
        "compute": {"device": "mcu"},
        "cells": [{"name": "hall", "profile": _RADIO}],
        "strategy": settings.model_dump(mode="json"),
        "engine": "generic",
    }
    return scenario_of(raw).model_copy(update={"model": model})  # not by name: it may be an object


def _separable(shape: DataShape) -> Dataset:
    """Return samples around a centre for each class, as far apart as they scatter."""
    draws, count = Draws(1), _SENSORS * _SAMPLES
    size = int(np.prod(shape.input_shape))
    labels = np.arange(count) % shape.classes
    centres = draws.uniform("check/centres", np.arange(shape.classes)[:, None], np.arange(size))
    noise = draws.uniform("check/noise", np.arange(count)[:, None], np.arange(size))
    inputs = (centres[labels] + noise - 1).astype(np.float32).reshape(count, *shape.input_shape)
    device = np.arange(count) // _SAMPLES
    return from_arrays(inputs, labels, device=device, classes=shape.classes)


def _check_plan(played: RunResult) -> None:
    """Somebody takes part in every round; that what is sent has a size is seen to by the run."""
    _require(bool((played.rounds["participants"] > 0).all()), "a round without participants")
    _require(bool((played.rounds["end_s"] > played.rounds["start_s"]).all()), "a round that takes no time")


def _check_learning(learnt: RunResult) -> None:
    losses = learnt.rounds["loss"].dropna().tolist()
    _require(bool(np.isfinite(losses).all()), "a loss that is not finite")
    _require(learnt.summary["rounds"] == learnt.scenario.rounds, f"training stopped: {learnt.summary['stopped']}")
    _require(len(set(losses)) > 1, "training changes nothing")


def _check_same(
    one: RunResult, other: RunResult, fault: str, tables: tuple[str, ...] = (*_ON_THE_AIR, "rounds")
) -> None:
    for table in tables:
        _require(one.arrow(table).equals(other.arrow(table)), f"{fault} (table {table})")


def _check_weights(one: RunResult, other: RunResult, fault: str) -> None:
    weights, others = one.weights(), other.weights()
    same = weights.keys() == others.keys() and all(np.array_equal(weights[name], others[name]) for name in weights)
    _require(same, fault)


def _require(holds: bool, fault: str) -> None:
    if not holds:
        raise CheckFailed(fault)
