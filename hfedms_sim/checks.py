"""What every strategy must keep to, as checks that its author can run: from a test, or by hand.

    from hfedms_sim.checks import check_strategy
    check_strategy(MySettings(momentum=0.5))

A small factory is played and trained a few times, which takes seconds. Whatever is broken raises `CheckFailed` with a
line that says what was expected.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from safetensors.numpy import load_file

from hfedms_sim.errors import InputError
from hfedms_sim.loading import scenario_of
from hfedms_sim.result import RunResult
from hfedms_sim.scenario import LocalTraining, Scenario
from hfedms_sim.simulation import run
from hfedms_sim.strategies import path_of, require_sound, strategy_of

_RADIO = {"name": "check", "uplink_bps": 1e6, "downlink_bps": 1e6}
_ON_THE_AIR = ("transfers", "work", "captures")
_ALL = (*_ON_THE_AIR, "rounds")


class CheckFailed(AssertionError):  # noqa: N818  an assertion about somebody else's code
    """A strategy does not keep to the contract."""


def check_strategy(settings: LocalTraining, *, model: str = "tiny-mlp", sensors: int = 12, rounds: int = 6) -> None:
    """Check that a strategy with these settings plays, repeats itself, learns, and goes on from half of the rounds."""
    strategy = require_sound(strategy_of(settings))
    with _named(path_of(strategy)), TemporaryDirectory() as directory:
        scenario = _scenario(settings, model, sensors, rounds)
        timed = run(scenario, timing_only=True)
        _check_plan(timed)
        _check_same(timed, run(scenario, timing_only=True), "two runs of one scenario differ")
        learnt = run(scenario, out=Path(directory) / "one")
        _check_learning(learnt)
        _check_same(timed, learnt, "training changes what happens on the air", _ON_THE_AIR)
        again = run(scenario, out=Path(directory) / "two")
        _check_weights(learnt, again, "training twice gives other weights: is every draw keyed?")
        run(_scenario(settings, model, sensors, rounds // 2), out=Path(directory) / "half")
        resumed = run(scenario, out=Path(directory) / "rest", learn_from=[Path(directory) / "half"])
        _check_weights(learnt, resumed, "a resumed run ends with other weights: is all of the learner in its state?")


@contextmanager
def _named(who: str) -> Iterator[None]:
    """Name the strategy in whatever it raises."""
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
        "model": model,
        "sensors": {"count": sensors, "types": 4},
        "stream": {"batch": 10},
        "compute": {"device": "mcu"},
        "cells": [{"name": "hall", "profile": _RADIO}],
        "strategy": settings.model_dump(mode="json"),
        "engine": "generic",
    }
    return scenario_of(raw)


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
    weights, others = (_weights(each) for each in (one, other))
    same = weights.keys() == others.keys() and all(np.array_equal(weights[name], others[name]) for name in weights)
    _require(same, fault)


def _weights(result: RunResult) -> dict[str, Any]:
    assert result.directory is not None
    weights: dict[str, Any] = load_file(result.directory / "learning" / "model.safetensors")
    return weights


def _require(holds: bool, fault: str) -> None:
    if not holds:
        raise CheckFailed(fault)
