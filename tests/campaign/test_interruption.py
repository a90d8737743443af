"""One Ctrl-C, or a kill, ends a campaign and all of its processes, and what was done is not lost."""

import os
import signal
import subprocess
import sys
import time
from hashlib import pbkdf2_hmac
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest

from hfedms_sim.campaign.workers import LocalWorkers
from soak.processes import members, workers_of
from tests.campaign.factory import write_factory, write_radios

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


class Deaf:
    """A task inside one call of C that takes minutes: no handler of a signal runs before it is over."""

    def perform(self, on_round: Any) -> None:
        pbkdf2_hmac("sha256", b"", b"", 2_000_000_000)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_closing_does_not_wait_for_a_worker_inside_a_long_call() -> None:
    others, workers = active_children(), LocalWorkers(2, threads=1)
    workers.start("one", Deaf())  # type: ignore[arg-type]
    workers.start("two", Deaf())  # type: ignore[arg-type]
    pids = [process.pid for process in active_children() if process not in others]
    assert len(pids) == 2
    time.sleep(3.0)
    begun_s = time.monotonic()
    workers.close()
    assert time.monotonic() - begun_s < 5
    assert not any(is_alive(pid) for pid in pids if pid is not None)


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Rounds of seconds: every sensor trains on hundreds of samples."""
    monkeypatch.chdir(tmp_path)
    stream = {"arrival": "saturated", "batch": 600}
    source, radios = write_factory(tmp_path, rounds=4, stream=stream), write_radios(tmp_path)[3:]
    options = ["--profiles", ",".join(radios), "--seeds", "1,2", "--jobs", "2"]
    return [sys.executable, "-m", "hfedms_sim.cli", "compare", source, *options, "--set", "model=cnn", "--out"]


def started(command: list[str]) -> "subprocess.Popen[str]":
    """Return the campaign once both workers train."""
    process = subprocess.Popen([*command, "out"], stderr=subprocess.PIPE, text=True, start_new_session=True)
    while len(list(Path("out").glob("trials/*/learning/root.json"))) < 2:
        assert process.poll() is None
        time.sleep(0.05)
    time.sleep(2.0)
    return process


@pytest.mark.parametrize(
    "how", ["Ctrl-C", *(pytest.param(each, marks=pytest.mark.thorough) for each in ("SIGINT", "SIGTERM"))]
)
def test_one_interruption_ends_a_campaign_within_five_seconds_and_leaves_no_process(
    command: list[str], how: str
) -> None:
    """Workers are dead when the command returns; Python's resource tracker sees that and ends by itself."""
    process = started(command)
    workers = workers_of(process.pid)
    assert len(workers) == 2
    begun_s = time.monotonic()
    if how == "Ctrl-C":
        os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to all of its processes
    else:
        process.send_signal(getattr(signal, how))
    _, errors = process.communicate(timeout=30)
    assert time.monotonic() - begun_s < 5
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "interrupted; to go on: the same command with --out out --resume"
    assert "Traceback" not in errors
    assert not any(is_alive(pid) for pid in workers)
    while members(process.pid):
        assert time.monotonic() - begun_s < 5
        time.sleep(0.01)


@pytest.mark.thorough
def test_a_campaign_that_is_killed_leaves_no_process(command: list[str]) -> None:
    process = started(command)
    process.kill()
    process.communicate()
    deadline_s = time.monotonic() + 30
    while members(process.pid):
        assert time.monotonic() < deadline_s
        time.sleep(0.1)
    assert not list(Path("out/records").iterdir())
