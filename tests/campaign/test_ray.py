"""Trials as Ray tasks: the same tables, and a lost task is tried again. Skipped where Ray is not installed."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hfedms_sim.campaign import Axes, trials_of
from hfedms_sim.campaign.csv_tables import write_tables
from tests.campaign.factory import POISSON, played, write_factory, write_radios
from tests.interrupted import outcome

ray = pytest.importorskip("ray")

from hfedms_sim.campaign.ray_workers import RayWorkers  # noqa: E402 only where there is Ray
from hfedms_sim.campaign.workers import LocalWorkers  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own


@pytest.fixture
def workers() -> Iterator[RayWorkers]:
    made = RayWorkers("local", threads=1)
    yield made
    ray.shutdown()


def csvs(directory: Path) -> tuple[bytes, bytes]:
    return (directory / "comparison.csv").read_bytes(), (directory / "trials.csv").read_bytes()


def test_ray_gives_the_same_tables_and_trials_as_local_processes(tmp_path: Path, workers: RayWorkers) -> None:
    source = write_factory(tmp_path, stream=POISSON, targets=[0.01, 0.02])
    axes = Axes(profiles=write_radios(tmp_path)[:4], seeds=[1, 2])
    for name, those in (("ray", workers), ("local", LocalWorkers(1, 1))):
        _, results = played(tmp_path / name, source, axes, those)
        write_tables(results, tmp_path / name)
    assert csvs(tmp_path / "ray") == csvs(tmp_path / "local")
    for trial in trials_of(source, axes):
        assert outcome(tmp_path / "ray" / "trials" / trial.name) == outcome(tmp_path / "local" / "trials" / trial.name)


def test_a_worker_that_is_killed_costs_a_retry_and_no_trial(tmp_path: Path, workers: RayWorkers) -> None:
    source = write_factory(tmp_path, rounds=150)
    axes = Axes(profiles=write_radios(tmp_path)[:2], seeds=[1, 2])
    killed: list[int] = []

    def kill_one() -> None:
        """A process that is at a trial, as its title says."""
        deadline = time.monotonic() + 120
        while not killed and time.monotonic() < deadline:
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    title = (process / "cmdline").read_bytes()
                    is_at_work = title.startswith(b"ray::") and b"_perform" in title
                    trains = is_at_work and b"torch" in (process / "maps").read_bytes()
                except OSError:
                    continue
                if trains and _is_descendant(int(process.name)):
                    os.kill(int(process.name), signal.SIGKILL)
                    killed.append(int(process.name))
                    break
            time.sleep(0.05)

    killer = threading.Thread(target=kill_one)
    killer.start()
    campaign, results = played(tmp_path / "out", source, axes, workers)
    killer.join()
    assert killed
    assert not campaign.failures
    assert len(results) == 4


def _is_descendant(pid: int) -> bool:
    """Of this process: other campaigns on the machine are nobody's business."""
    while pid > 1:
        if pid == os.getpid():
            return True
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return False
