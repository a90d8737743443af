"""Trials as Ray tasks, on one machine or a cluster. Ray is optional: pip install 'hfedms_sim[ray]'.

A worker's machine need not see the campaign's directory. A trial is played in a temporary directory there, with what it
learns from sent along, and its files come back as the task's result. Data sets that are files must be at the same
path on every machine. What a task had done when it was lost is lost: a trial is tried again from its start.

Whoever reaches a Ray can run code in it. So one that is started here listens on this machine's loopback alone.
"""

import shutil
import tempfile
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from hfedms_sim.campaign.tasks import Task, TrialTask
from hfedms_sim.campaign.workers import At, Finished, attempt, environment, thread_environment
from hfedms_sim.errors import Argument, InputError, OneLineError, RunError

_RAY = Argument("ray")
_LOCAL = "local"
_NO_CLUSTER = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""Makes Ray listen on loopback only, on every system; an address given to `ray.init` it would replace by a public one.
It is read when ray is imported."""

Files = dict[str, bytes]
"""The contents of files, by their paths within a directory."""


class RayWorkers:
    """`address`: `local` starts Ray on this machine; anything else is where a cluster's head listens."""

    def __init__(self, address: str, threads: int) -> None:
        with environment(_NO_CLUSTER if address == _LOCAL else {}):
            self._ray = _imported_ray()
            self._connect(address, threads)
        if address == _LOCAL:
            self._require_loopback()
        self.capacity = max(1, int(self._ray.cluster_resources().get("CPU", 1)) // threads)
        self._perform = self._ray.remote(num_cpus=threads, max_retries=0)(_perform)
        self._running: dict[Any, tuple[str, Task]] = {}

    def _connect(self, address: str, threads: int) -> None:
        """Start Ray here, or join the cluster at an address."""
        try:
            self._ray.init(
                address=address,
                runtime_env={"env_vars": thread_environment(threads)},
                log_to_driver=False,
                logging_level="ERROR",
                **({"include_dashboard": False} if address == _LOCAL else {}),
            )
        except (ConnectionError, ValueError, RuntimeError, OSError) as error:
            reason = " ".join(str(error).split())[:200]
            raise InputError(_RAY, f" {address}: cannot be reached ({reason})") from None

    def _require_loopback(self) -> None:
        """End a Ray that others could reach: one that a program had imported before is told nothing any more."""
        if not ip_address(self._ray.util.get_node_ip_address()).is_loopback:
            self._ray.shutdown()
            name, value = next(iter(_NO_CLUSTER.items()))
            raise InputError(_RAY, f" {_LOCAL}: others could reach it; set {name}={value} before ray is imported")

    def start(self, key: str, task: Task) -> None:
        sent = (_needed(task.parent, task.fork), _needed(task.teacher)) if isinstance(task, TrialTask) else ()
        self._running[self._perform.remote(task, *sent)] = (key, task)

    def finished(self, wait_s: float) -> list[Finished]:
        ready, _ = self._ray.wait(list(self._running), num_returns=1, timeout=wait_s) if self._running else ([], [])
        return [self._outcome(reference) for reference in ready]

    def at(self) -> dict[str, At]:
        """Return nothing: a task of Ray tells only that it has ended."""
        return {}

    def close(self) -> None:
        for reference in self._running:
            self._ray.cancel(reference, force=True)
        self._ray.shutdown()

    def _outcome(self, reference: Any) -> Finished:
        key, task = self._running.pop(reference)
        try:
            (value, error, is_final), files = self._ray.get(reference)
        except self._ray.exceptions.RayError as lost:
            return Finished(key, error=RunError(f"its Ray task was lost ({type(lost).__name__})"))
        if error is None and isinstance(task, TrialTask):
            put_in_place(files, task.directory)
        return Finished(key, value, error, is_final)


def _imported_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise InputError(_RAY, ": Ray is not installed; pip install 'hfedms_sim[ray]'") from None
    return ray


def _perform(task: Task, *sent: Files) -> tuple[tuple[Any, OneLineError | None, bool], Files]:
    """Perform a task, on the worker. A trial is sent what it needs of its parent, and of its teacher."""
    if not isinstance(task, TrialTask):
        return attempt(task), {}
    with tempfile.TemporaryDirectory() as place:
        here, learnt_from = Path(place) / "trial", [Path(place) / name for name in ("parent", "teacher")]
        for directory, files in zip(learnt_from, sent, strict=True):
            _write(files, directory)
        parent, teacher = (each if files else None for each, files in zip(learnt_from, sent, strict=True))
        outcome = attempt(replace(task, directory=here, parent=parent, teacher=teacher))
        return outcome, _read(here) if here.is_dir() else {}


def _needed(parent: Path | None, fork: str | None = None) -> Files:
    """Return of the run that a trial learns from its log, and the state at the fork, or its newest if there is none."""
    if parent is None or not (parent / "learning" / "metrics.log").is_file():
        return {}
    checkpoints = sorted((parent / "learning").glob("*/*.safetensors"), key=lambda path: path.name)
    at_fork = [path for path in checkpoints if fork is not None and path.stem.endswith(fork)]
    chosen = [parent / "learning" / "metrics.log", *(at_fork or checkpoints)[-1:]]
    return {str(path.relative_to(parent)): path.read_bytes() for path in chosen}


def _read(directory: Path) -> Files:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def _write(files: Files, directory: Path) -> None:
    """Make the directory, and the files in it; a name that would lead out of it is refused."""
    directory.mkdir()
    for name, content in files.items():
        path = directory / name
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise RunError(f"{name!a}: a file that came back from Ray is not within its trial's directory")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def put_in_place(files: Files, directory: Path) -> None:
    """Replace a trial's directory, whole or not at all."""
    temporary = directory.with_name(f".{directory.name}.part")
    if temporary.is_symlink():
        temporary.unlink()
    shutil.rmtree(temporary, ignore_errors=True)
    _write(files, temporary)
    (temporary / "learning").mkdir(exist_ok=True)
    if directory.is_symlink():
        raise RunError(f"{directory}: is a link, and what it leads to is not touched")
    shutil.rmtree(directory, ignore_errors=True)
    temporary.replace(directory)
