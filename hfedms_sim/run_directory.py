"""A run directory while it is written: who may make one, who may go on with it, and that nobody else does meanwhile."""

import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from hfedms_sim.errors import OUT, RESUME, TIMING_ONLY, InputError
from hfedms_sim.result import differences, read_json
from hfedms_sim.scenario import Choices, Scenario, load_scenario, scenario_yaml
from hfedms_sim.system.checksums import Checksums, remove_checksums
from hfedms_sim.system.files import is_blank, link_in, own_directory, remove_leftovers, try_lock, write_atomically


class RunDirectory:
    """A run directory being written, by this process alone: it holds a lock on it until it ends."""

    def __init__(self, path: Path, is_new: bool) -> None:
        self.path = path
        self._is_new = is_new
        self._lock = _locked(path)

    @classmethod
    def fresh(cls, parent: Path, name: str) -> "RunDirectory":
        """runs/NAME-001, or the next number that is free."""
        try:
            parent.mkdir(parents=True, exist_ok=True)
            for number in count(1):
                path = parent / f"{name}-{number:03d}"
                with suppress(FileExistsError):
                    path.mkdir()
                    return cls(path, is_new=True)
        except OSError as error:
            raise InputError(f"{parent}: cannot be created ({error.strerror})") from None
        raise AssertionError("there is always another number")

    @classmethod
    def at(cls, path: Path) -> "RunDirectory":
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            hint = (", or ", RESUME, " to go on with it") if path.is_dir() else ()
            raise InputError(f"{path}: exists already; choose another ", OUT, *hint) from None
        except (OSError, ValueError) as error:
            raise InputError(f"{str(path)!a}: cannot be created ({getattr(error, 'strerror', error)})") from None
        return cls(path, is_new=True)

    @classmethod
    def resumed(cls, path: Path, scenario: Scenario, choices: Choices) -> "RunDirectory":
        """An unfinished run of the very same scenario; also one that was killed before it could write anything."""
        require_no_links(path)
        if not (path / "scenario.yaml").is_file():
            if not path.is_dir() or not _is_untouched(path):
                raise InputError(f"{path}: no run to resume, scenario.yaml is missing")
            return cls(path, is_new=False)
        require_no_links(path, deep=True)
        try:
            _require_same(path, load_scenario(str(path / "scenario.yaml"), choices), scenario)
        except InputError:
            Checksums(path).require("scenario.yaml")  # damage is a better reason than what came of it
            raise
        return cls(path, is_new=False)

    def require_untrained(self) -> None:
        """Refuse to play the clock alone where a run was trained, or began to be: its accuracies would be lost."""
        try:
            trained = (self.path / "provenance.json").is_file() and not self._provenance()["timing_only"]
        except (InputError, KeyError):  # damaged: the store says whether there was anything to lose
            trained = self.learning.is_dir() and any(self.learning.iterdir())
        if trained:
            self.unlock()
            raise InputError(f"{self.path}: was trained; ", TIMING_ONLY, " would undo that, choose another ", OUT)

    def _provenance(self) -> dict[str, Any]:
        Checksums(self.path).require("provenance.json")
        return read_json(self.path / "provenance.json")

    @property
    def learning(self) -> Path:
        """Return where the lineage store and the model are."""
        return self.path / "learning"

    def abandon(self) -> None:
        """The run turned out not to be possible: nothing is left, unless something was there before."""
        if self._is_new:
            shutil.rmtree(self.path, ignore_errors=True)

    def unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def begin(self, scenario: Scenario, provenance: Mapping[str, Any]) -> None:
        remove_checksums(self.path)  # first: it never speaks of what is being changed
        remove_leftovers(self.path)
        own_directory(self.learning)
        write_atomically(self.path / "scenario.yaml", scenario_yaml(scenario))
        self.write_json("provenance.json", provenance)

    def write_json(self, name: str, content: Mapping[str, Any]) -> None:
        write_atomically(self.path / name, json.dumps(content, indent=2, allow_nan=False) + "\n")


def require_no_links(path: Path, *, deep: bool = False) -> None:
    """Refuse to go on in a directory that is a link, or has links in it: they lead to what is somebody else's."""
    link = link_in(path, deep=deep)
    if link is not None:
        raise InputError(f"{link}: is a link; only a directory that holds everything itself can be gone on with")


def require_marked(place: Path, marker: str, identity: Mapping[str, Any], *, resume: bool, no: str, was: str) -> None:
    """Refuse a directory that is not of this very identity, as its marker says it, before anything is written.

    `no` says what an unmarked one is not, `was` how a marked one came to be.
    """
    if not place.exists() and not place.is_symlink():
        return
    require_no_links(place)
    if resume and is_blank(place):
        return
    if not (place / marker).is_file():
        raise InputError(f"{place}: exists already, and {no} ({marker} is missing)")
    if not resume:
        raise InputError(f"{place}: exists already; choose another --out, or --resume to go on with it")
    for key, before, now in differences(read_json(place / marker), identity):
        raise InputError(f"{place}: {was} with another {key}: {before!r:.80}, now {now!r:.80}")


def _is_untouched(path: Path) -> bool:
    """Return whether there is nothing but what a run leaves that was killed before it could write anything."""
    left = {".scenario.yaml.part", "learning"}
    return all(each.name in left and not (each.is_dir() and any(each.iterdir())) for each in path.iterdir())


def learning_of(run: Path) -> Path:
    """The lineage store of another run, finished or not."""
    if not (run / "learning").is_dir():
        raise InputError(f"{run}: is no run to learn from, it has no learning directory")
    return run / "learning"


def _require_same(path: Path, before: Scenario, now: Scenario) -> None:
    for key, was, is_now in differences(before.model_dump(mode="json"), now.model_dump(mode="json")):
        raise InputError(f"{path}: was run with another {key}: {was!r:.80}, now {is_now!r:.80}")


def _locked(path: Path) -> int | None:
    """An open descriptor of the directory with an exclusive lock; the system drops it with the process."""
    if os.name != "posix":
        return None
    descriptor = os.open(path, os.O_RDONLY)
    if not try_lock(descriptor):
        os.close(descriptor)
        raise InputError(f"{path}: another process is writing this run")
    return descriptor
