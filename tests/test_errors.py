"""Messages name arguments as whoever says them spells them: Python by their names, the command line by its options."""

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from hfedms_sim.commands.terminal import option_of
from hfedms_sim.errors import Argument, InputError
from hfedms_sim.loading import load_scenario
from hfedms_sim.simulation import play, run
from tests.conftest import tiny_scenario


def error_of(call: Callable[[], object]) -> InputError:
    with pytest.raises(InputError) as caught:
        call()
    return caught.value


def existing(path: Path) -> Path:
    path.mkdir()
    return path


SLOW = [{"name": "hall", "profile": {"name": "slow", "uplink_bps": 0.1, "downlink_bps": 0.1}}]

FAULTS: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "a number of rounds": (
        lambda path: load_scenario("quickstart", rounds=0),
        "rounds = 0: must be at least 1",
        "--rounds: rounds = 0: must be at least 1",
    ),
    "an override of a mapping": (
        lambda path: load_scenario("quickstart", overrides={"strategy.interval": 0}),
        "strategy.interval = 0: must be at least 1",
        "--set: strategy.interval = 0: must be at least 1",
    ),
    "an override that is no pair": (
        lambda path: load_scenario("quickstart", overrides=["rounds"]),
        "overrides rounds: must be KEY=VALUE, such as strategy.interval=3",
        "--set rounds: must be KEY=VALUE, such as strategy.interval=3",
    ),
    "an override inside a value": (
        lambda path: load_scenario("quickstart", overrides=["rounds.x=1"]),
        "overrides rounds.x=1: there is no 'x' in a single value",
        "--set rounds.x=1: there is no 'x' in a single value",
    ),
    "a directory that is there": (
        lambda path: run(tiny_scenario(), timing_only=True, out=existing(path / "out")),
        "out: exists already; choose another out, or resume to go on with it",
        "out: exists already; choose another --out, or --resume to go on with it",
    ),
    "a first round of months": (
        lambda path: run(tiny_scenario(cells=SLOW), timing_only=True),
        "of simulated time; allow_infeasible=True goes on all the same",
        "of simulated time; --allow-infeasible goes on all the same",
    ),
    "a first round of months, played": (
        lambda path: next(play(tiny_scenario(cells=SLOW))),
        "of simulated time; allow_infeasible=True goes on all the same",
        "of simulated time; --allow-infeasible goes on all the same",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_an_error_names_the_argument_in_python_and_the_option_on_the_command_line(fault: str, tmp_path: Path) -> None:
    call, in_python, on_the_command_line = FAULTS[fault]
    error = error_of(lambda: call(tmp_path))
    assert str(error).endswith(in_python)
    assert error.said(option_of).endswith(on_the_command_line)


def test_an_unknown_strategy_is_the_same_line_with_the_option_before_it() -> None:
    error = error_of(lambda: load_scenario("quickstart", strategy="fedavgg"))
    assert str(error).startswith("unknown strategy 'fedavgg'. Did you mean 'fedavg'? Known: ")
    assert error.said(option_of) == f"--strategy: {error}"


def test_an_error_that_another_process_raised_is_said_in_the_same_way() -> None:
    error = InputError("choose another ", Argument("out"), given_by=Argument("overrides"))
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.said(option_of)) == ("choose another out", "--set: choose another --out")
    assert repr(again) == "InputError('choose another out')"
