"""Local processes: each has its threads, and the death of one is the failure of one trial."""

import os
import signal
import time
from dataclasses import dataclass
from typing import Any

import pytest

from hfedms_sim.campaign.workers import Finished, LocalWorkers
from hfedms_sim.errors import InputError, RunError


@dataclass(frozen=True)
class Odd:
    """A task that does what it is told."""

    what: str

    def perform(self, on_round: Any) -> Any:
        if self.what == "sleep":
            time.sleep(60)
        if self.what == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.what == "refuse":
            raise InputError("no such radio")
        if self.what == "fail":
            raise RunError("the disk is full")
        if self.what == "surprise":
            raise KeyError("x")
        return os.environ["OMP_NUM_THREADS"]


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
    workers = LocalWorkers(1, threads=1)
    workers.start("long", Odd("sleep"))  # type: ignore[arg-type]
    (process,) = [worker.process for worker in workers._busy.values()]
    time.sleep(1.0)
    begun = time.monotonic()
    workers.close()
    assert not process.is_alive()
    assert time.monotonic() - begun < 15


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
