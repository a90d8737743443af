"""Trials as Ray tasks: the same tables, and a lost task is tried again. Skipped where Ray is not installed."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from hfedms_sim.campaign import Axes, trials_of
from hfedms_sim.campaign.csv_tables import write_tables
from hfedms_sim.recommendation import CampaignPlayer, Choice, Goal, Question, recommend
from tests.campaign.factory import POISSON, played, write_factory, write_radios
from tests.interrupted import outcome

if find_spec("ray") is None:
    pytest.skip("Ray is not installed", allow_module_level=True)  # not imported: how it is, is a part of the matter

from hfedms_sim.campaign.ray_workers import RayWorkers
from hfedms_sim.campaign.workers import LocalWorkers

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own


@pytest.fixture
def workers() -> Iterator[RayWorkers]:
    made = RayWorkers("local", threads=1)
    yield made
    made.close()


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


def test_a_recommendation_is_the_same_and_its_finalists_learn_nothing_anew(tmp_path: Path, workers: RayWorkers) -> None:
    """Teachers of a step are trials of another campaign: tasks are sent both."""
    overrides = ("model=tiny-mlp", "sensors.count=12", "sensors.types=3", "strategy.beta=3", "evaluate_every=1")
    question = Question("quickstart", Goal(0.06), 4, overrides)
    choice = Choice(("fedavg", "hfedms-plus"), ("lte-cat-m2", "nb-iot-nb2"), (1, 2))
    for name, those in (("ray", workers), ("local", LocalWorkers(1, 1))):
        recommend(CampaignPlayer(question, tmp_path / name, lambda options, those=those: those), choice)
    ray, local = (tmp_path / name / "recommendation.json" for name in ("ray", "local"))
    assert ray.read_bytes() == local.read_bytes()
    finalists = list((tmp_path / "ray" / "trials").iterdir())
    assert finalists
    for path in finalists:
        assert json.loads((path / "provenance.json").read_text())["rounds_trained"] == 0


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


def test_a_ray_that_is_started_here_listens_on_loopback_alone(workers: RayWorkers) -> None:
    import ray

    assert ray.get(ray.remote(lambda: os.getpid()).remote())  # a process of its own is up too
    ours = {int(each.name) for each in Path("/proc").glob("[0-9]*") if _is_descendant(int(each.name))}
    inodes = {inode for pid in ours for inode in _sockets(pid)}
    listening = {address for table in ("tcp", "tcp6") for address, inode in _listening(table) if inode in inodes}
    assert listening
    assert {address.rpartition(":")[0] for address in listening} <= LOOPBACK


def test_a_ray_that_would_listen_elsewhere_is_refused(tmp_path: Path) -> None:
    """One that was imported before anybody could tell it."""
    program = "import ray; from hfedms_sim.campaign.ray_workers import RayWorkers; RayWorkers('local', 1)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert "others could reach it; set RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0" in done.stderr


LOOPBACK = {"0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F"}
"""As /proc/net has 127.0.0.1, ::1 and ::ffff:127.0.0.1."""


def _listening(table: str) -> Iterator[tuple[str, str]]:
    """Yield address and inode of each socket that awaits connections."""
    for line in Path("/proc/net", table).read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A":
            yield fields[1], fields[9]


def _sockets(pid: int) -> Iterator[str]:
    """Yield the inodes of a process's sockets."""
    for descriptor in Path(f"/proc/{pid}/fd").glob("*"):
        try:
            target = str(descriptor.readlink())
        except OSError:
            continue
        if target.startswith("socket:["):
            yield target[8:-1]


def _is_descendant(pid: int) -> bool:
    """Return whether it is this process's: other campaigns on the machine are nobody's business."""
    try:
        while pid > 1:
            if pid == os.getpid():
                return True
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:  # it has ended
        pass
    return False
