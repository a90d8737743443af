"""Local processes: each has its threads, and the death of one is the failure of one trial."""

import gc
import os
import signal
import time
from dataclasses import dataclass
from multiprocessing import active_children, get_context
from typing import Any

import pytest
from simpy import Environment

from hfedms_sim.campaign.workers import Finished, LocalWorkers, WorkerProcess, collector
from hfedms_sim.errors import InputError, RunError
from hfedms_sim.simulation import Progress, run
from tests.conftest import tiny_scenario


@dataclass(frozen=True)
class Odd:
    """A task that does what it is told."""

    what: str

    def perform(self, on_round: Any) -> Any:
        if self.what == "sleep":
            time.sleep(60)
        if self.what == "destroy":
            _SlowToGo()
        if self.what == "report":
            time.sleep(0.3)
            on_round(Progress(1, 2, 1.0, None))
        if self.what == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.what == "refuse":
            raise InputError("no such radio")
        if self.what == "fail":
            raise RunError("the disk is full")
        if self.what == "surprise":
            raise KeyError("x")
        return os.environ["OMP_NUM_THREADS"]


class _SlowToGo:
    """Python prints a traceback of what is raised while it is destroyed, and goes on."""

    def __del__(self) -> None:
        time.sleep(60)


def ended(workers: LocalWorkers, count: int) -> dict[str, Finished]:
    found: dict[str, Finished] = {}
    while len(found) < count:
        found |= {each.key: each for each in workers.finished(0.5)}
    return found


def test_each_task_comes_to_its_own_end() -> None:
    workers = LocalWorkers(2, threads=3)
    try:
        found: dict[str, Finished] = {}
        for pair in (("value", "die"), ("refuse", "fail"), ("surprise", "again")):
            for what in pair:
                workers.start(what, Odd(what))  # type: ignore[arg-type]
            found |= ended(workers, 2)
        assert found["value"] == Finished("value", "3")
        assert found["again"] == Finished("again", "3")
        errors = {key: (type(each.error), str(each.error), each.is_final) for key, each in found.items() if each.error}
        assert errors == {
            "die": (RunError, "its process ended with exit code -9", False),
            "refuse": (InputError, "no such radio", True),
            "fail": (RunError, "the disk is full", False),
            "surprise": (RunError, "KeyError: 'x'", False),
        }
    finally:
        workers.close()


def test_closing_ends_what_is_under_way() -> None:
    others, workers = active_children(), LocalWorkers(1, threads=1)
    workers.start("long", Odd("sleep"))  # type: ignore[arg-type]
    [process] = [each for each in active_children() if each not in others]
    time.sleep(1.0)
    begun = time.monotonic()
    workers.close()
    assert not process.is_alive()
    assert time.monotonic() - begun < 15


def test_a_worker_that_is_told_to_end_while_something_is_destroyed_ends_without_a_traceback(
    capfd: pytest.CaptureFixture[str],
) -> None:
    workers = LocalWorkers(1, threads=1)
    workers.start("first", Odd("value"))  # type: ignore[arg-type]
    ended(workers, 1)
    workers.start("long", Odd("destroy"))  # type: ignore[arg-type]
    time.sleep(0.5)
    workers.close()
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("what", ["value", "report"])
def test_a_worker_whose_campaign_is_gone_ends_without_a_traceback(what: str, capfd: pytest.CaptureFixture[str]) -> None:
    worker = WorkerProcess(get_context("spawn"))
    try:
        worker.connection.send(Odd(what))
        worker.connection.close()
        worker.process.join(60)
        assert worker.process.exitcode == 0
    finally:
        worker.process.kill()
    assert capfd.readouterr().err == ""


def test_what_many_runs_leave_is_collected_now_and_then() -> None:
    gc.collect()
    times_s = iter([0.0, 9.0, 10.0, 10.0])
    collect = collector(10.0, lambda: next(times_s))
    before = worlds()
    for seed in (1, 2, 3):
        run(tiny_scenario(rounds=2, seed=seed, strategy={"name": "fedavg"}), timing_only=True)
    left = [worlds() - before]
    for _ in range(2):
        collect()
        left.append(worlds() - before)
    assert left == [3, 3, 0]


def worlds() -> int:
    return sum(type(each) is Environment for each in gc.get_objects())


@pytest.mark.parametrize("threads", [1, 2])
def test_the_campaigns_own_environment_stays_as_it_was(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    workers = LocalWorkers(1, threads)
    workers.start("value", Odd("value"))  # type: ignore[arg-type]
    assert ended(workers, 1)["value"].value == str(threads)
    workers.close()
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ
