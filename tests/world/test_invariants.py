"""Each thing that always holds is noticed when it does not, and a run that breaks it ends in one line."""

from collections.abc import Callable
from typing import Any
from unittest import mock

import pytest
from click.testing import CliRunner
from simpy import Environment

from hfedms_sim import load_scenario, run
from hfedms_sim.cli import main
from hfedms_sim.world.invariants import InvariantError, Invariants
from hfedms_sim.world.radio.airtime import FairPool
from hfedms_sim.world.transfer_log import TransferLog


def watching() -> Invariants:
    """Return invariants in round 2, after one transfer of 5 bytes that ended at 10 s."""
    invariants = Invariants(seed=9)
    invariants.begin_round(1, 0.0)
    invariants.accept(5)
    invariants.end("ok", 5, 1.0, 2.0, 3.0, 1.0)
    invariants.end_round(10.0, 5)
    invariants.begin_round(2, 10.0)
    return invariants


@pytest.mark.parametrize(
    ("breach", "said"),
    [
        (lambda each: each.begin_round(3, 9.0), "the round begins at 9.0 s, before the last one ended at 10.0 s"),
        (lambda each: each.end_round(9.0, 5), "the round ends at 9.0 s, before the last one, at 10.0 s"),
        (lambda each: each.end("ok", 5, 3.0, 2.0, 4.0, 1.0), "times run back"),
        (lambda each: each.end("ok", 5, 1.0, 5.0, 4.0, 1.0), "times run back"),
        (lambda each: each.end("ok", 5, 1.0, 2.0, 4.0, -1e-9), "airtime is negative"),
        (lambda each: each.end("ok", 5, 1.0, 2.0, 4.0, float("nan")), "airtime is negative"),
        (
            lambda each: each.check_airtime("hall", "up", 21.0, 2.0, 10.0),
            "cell hall has given 21.0 s of airtime in 10.0",
        ),
        (lambda each: each.check_energy([1.0, -0.1]), "a state has cost -0.1 J"),
        (lambda each: each.check_idle("the air", False), "the air is still in use"),
    ],
)
def test_a_breach_is_an_error(breach: Callable[[Invariants], None], said: str) -> None:
    with pytest.raises(InvariantError) as caught:
        breach(watching())
    assert said in str(caught.value)
    assert str(caught.value).startswith("round ")
    assert "hfedms-sim run scenario.yaml --timing-only --seed 9 --rounds" in str(caught.value)


def test_bytes_accepted_are_bytes_that_ended() -> None:
    open_one = watching()
    open_one.accept(7)
    with pytest.raises(InvariantError, match="1 transfers are under way after the round's end: 12 bytes accepted, 5"):
        open_one.end_round(11.0, 5)
    wrong_size = watching()
    wrong_size.accept(7)
    wrong_size.end("lost", 6, 10.0, 10.0, 11.0, 1.0)
    with pytest.raises(InvariantError, match="12 bytes accepted, 11 delivered"):
        wrong_size.end_round(11.0, 5)


def test_what_holds_is_not_complained_about() -> None:
    sound = watching()
    sound.accept(3)
    sound.end("aborted", 3, 10.0, 10.0, 10.0, 0.0)
    sound.check_airtime("hall", "down", 20.0, 2.0, 10.0)
    sound.check_airtime("hall", "down", 1e9, float("inf"), 10.0)
    sound.check_energy([0.0, 0.0])
    sound.check_idle("the air", True)
    sound.end_round(10.0, 5)


def test_a_pool_that_gives_more_airtime_than_there_is_stops_the_run() -> None:
    scenario = load_scenario("quickstart", strategy="fedavg", rounds=1)
    make = FairPool.__init__

    def broken(pool: FairPool, env: Environment, channels: float, *arguments: Any, **keys: Any) -> None:
        make(pool, env, 2 * channels, *arguments, **keys)

    with mock.patch.object(FairPool, "__init__", broken), pytest.raises(InvariantError, match="has given"):
        run(scenario, timing_only=True)


def test_a_transfer_that_is_forgotten_stops_the_run_with_one_line_and_exit_code_1(tmp_path: object) -> None:
    with mock.patch.object(TransferLog, "note", return_value=None):
        run_it = ["run", "quickstart", "--timing-only", "--rounds", "1", "--out", f"{tmp_path}/run", "--quiet"]
        result = CliRunner().invoke(main, run_it)
    assert result.exit_code == 1
    assert result.output.startswith("error: round 1: ")
    assert len(result.output.strip().splitlines()) == 1
    assert "transfers are under way after the round's end" in result.output


def test_a_round_that_cannot_end_says_so() -> None:
    with mock.patch.object(FairPool, "_set_alarm", return_value=None):
        scenario = load_scenario("quickstart", strategy="fedavg", rounds=1)
        with pytest.raises(InvariantError, match="the round cannot end"):
            run(scenario, timing_only=True)
