"""RunResult and the run directory: what a run leaves behind, and how it is read again.

    scenario.yaml  provenance.json  summary.json  learning/
    rounds|transfers|work|captures|faults|sensors.parquet

Every file is written under a temporary name and renamed. Tables hold nothing that differs between two equal runs;
wall-clock times are in provenance and summary only.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from hfedms_sim.errors import InputError
from hfedms_sim.files import remove_leftovers, write_atomically
from hfedms_sim.rounds import Direction
from hfedms_sim.scenario import NetworkProfile, Scenario, StrategySettings, load_scenario, scenario_yaml
from hfedms_sim.trace import ADDED_TABLES, TABLES, read_trace_table

try:
    import fcntl
except ImportError:  # no such locks on Windows
    fcntl = None  # type: ignore[assignment]


@dataclass(frozen=True)
class RunResult:
    """A finished run. Tables are DataFrames, read when first asked for."""

    scenario: Scenario
    summary: Mapping[str, Any]
    provenance: Mapping[str, Any]
    tables: Mapping[str, pa.Table] | None = None
    """In memory; None if they are in `directory`."""
    directory: Path | None = None

    def arrow(self, name: str) -> pa.Table:
        if self.tables is not None:
            return self.tables[name]
        assert self.directory is not None
        return read_trace_table(self.directory, name)

    def _frame(self, name: str) -> pd.DataFrame:
        frame: pd.DataFrame = self.arrow(name).to_pandas()
        return frame

    @cached_property
    def rounds(self) -> pd.DataFrame:
        return self._frame("rounds")

    @cached_property
    def transfers(self) -> pd.DataFrame:
        return self._frame("transfers")

    @cached_property
    def work(self) -> pd.DataFrame:
        return self._frame("work")

    @cached_property
    def captures(self) -> pd.DataFrame:
        return self._frame("captures")

    @cached_property
    def faults(self) -> pd.DataFrame:
        return self._frame("faults")

    @cached_property
    def sensors(self) -> pd.DataFrame:
        """One row a sensor; none of a directory that an earlier version wrote."""
        return self._frame("sensors")

    def time_to_accuracy(self, accuracy: float) -> float | None:
        """Simulated seconds until the first round whose model was at least that good; None if none was."""
        reached = self.rounds.loc[self.rounds["accuracy"] >= accuracy, "end_s"]
        return float(reached.iloc[0]) if len(reached) else None

    @property
    def utilisation(self) -> "pd.Series[float]":
        """Share of each cell's airtime that was used, in its busier direction; half-duplex cells have one for both.

        A cell with dedicated channels has one for each sensor that uses it, chosen to take part or not.
        """
        transfers = self.arrow("transfers").select(["cell", "direction", "airtime_s"])
        used_s = transfers.group_by(["cell", "direction"]).aggregate([("airtime_s", "sum")]).to_pandas()
        by_cell = used_s.pivot(index="cell", columns="direction", values="airtime_s_sum").fillna(0.0)
        elapsed_s = self.summary["simulated_s"]
        sensors = {cell["name"]: cell["sensors"] for cell in self.summary["cells"]}
        shares = {}
        for cell in self.scenario.cells:
            airtime_s = {str(direction): float(by_cell[direction].get(cell.name, 0.0)) for direction in by_cell.columns}
            busy_s = _busy_s(cell.profile, airtime_s, sensors[cell.name])
            shares[cell.name] = busy_s / elapsed_s if elapsed_s else 0.0
        return pd.Series(shares, dtype=float)


def _busy_s(profile: NetworkProfile, airtime_s: Mapping[str, float], sensors: int) -> float:
    """Return how long a cell was busy if its channels had always been full; the busier direction, or both in one."""

    def full_s(direction: Direction) -> float:
        channels = sensors if profile.channels == "dedicated" else profile.channels_in(direction)
        return airtime_s.get(direction, 0.0) / channels if channels else 0.0

    up_s, down_s = full_s("up"), full_s("down")
    return up_s + down_s if profile.duplex == "cell-half" else max(up_s, down_s)


def open_run(directory: Path | str, strategies: StrategySettings) -> RunResult:
    """Return a run as it was left in its directory. `strategies` are those that its scenario may name."""
    directory = Path(directory)
    if not directory.is_dir():
        raise InputError(f"{directory}: no such run directory")
    missing = _missing(directory)
    if missing:
        raise InputError(f"{directory}: not a finished run, {missing[0]} is missing")
    return RunResult(
        scenario=load_scenario(str(directory / "scenario.yaml"), strategies),
        summary=read_json(directory / "summary.json"),
        provenance=read_json(directory / "provenance.json"),
        directory=directory,
    )


def is_finished(directory: Path) -> bool:
    return not _missing(directory)


def _missing(directory: Path) -> list[str]:
    tables = [f"{name}.parquet" for name in TABLES if name not in ADDED_TABLES]
    expected = ["scenario.yaml", "summary.json", "provenance.json", *tables]
    return [name for name in expected if not (directory / name).is_file()]


class RunDirectory:
    """A run directory being written, by this process alone: it holds a lock on it until it ends.

    `pins` are lineages whose checkpoints are kept for other runs; `on_notice` is told what was found damaged, and which
    cells have no sensor.
    """

    def __init__(self, path: Path, is_new: bool) -> None:
        self.path = path
        self.pins: frozenset[str] = frozenset()
        self.on_notice: Callable[[str], None] = lambda line: None
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
            str(path).encode()  # Parquet files need a name that is text
            path.mkdir(parents=True)
        except FileExistsError:
            hint = ", or --resume to go on with it" if path.is_dir() else ""
            raise InputError(f"{path}: exists already; choose another --out{hint}") from None
        except (OSError, ValueError) as error:
            raise InputError(f"{str(path)!a}: cannot be created ({getattr(error, 'strerror', error)})") from None
        return cls(path, is_new=True)

    @classmethod
    def resumed(cls, path: Path, scenario: Scenario, strategies: StrategySettings) -> "RunDirectory":
        """An unfinished run of the very same scenario; also one that was killed before it could write anything."""
        if not (path / "scenario.yaml").is_file():
            if not path.is_dir() or any(not each.name.startswith(".") for each in path.iterdir() if each.is_file()):
                raise InputError(f"{path}: no run to resume, scenario.yaml is missing")
            return cls(path, is_new=False)
        before = load_scenario(str(path / "scenario.yaml"), strategies).model_dump(mode="json")
        for key, was, now in differences(before, scenario.model_dump(mode="json")):
            raise InputError(f"{path}: was run with another {key}: {was!r:.80}, now {now!r:.80}")
        return cls(path, is_new=False)

    def require_untrained(self) -> None:
        """Refuse to play the clock alone where a run was trained, or began to be: its accuracies would be lost."""
        try:
            trained = (self.path / "provenance.json").is_file() and not self._provenance()["timing_only"]
        except (InputError, KeyError):  # damaged: the store says whether there was anything to lose
            trained = self.learning.is_dir() and any(self.learning.iterdir())
        if trained:
            self.unlock()
            raise InputError(f"{self.path}: was trained; --timing-only would undo that, choose another --out")

    def _provenance(self) -> dict[str, Any]:
        return read_json(self.path / "provenance.json")

    @property
    def learning(self) -> Path:
        """Where the lineage store and the model are."""
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
        remove_leftovers(self.path)
        self.learning.mkdir(exist_ok=True)
        write_atomically(self.path / "scenario.yaml", scenario_yaml(scenario))
        self.write_json("provenance.json", provenance)

    def write_json(self, name: str, content: Mapping[str, Any]) -> None:
        write_atomically(self.path / name, json.dumps(content, indent=2, allow_nan=False) + "\n")


def learning_of(run: Path) -> Path:
    """The lineage store of another run, finished or not."""
    if not (run / "learning").is_dir():
        raise InputError(f"{run}: is no run to learn from, it has no learning directory")
    return run / "learning"


def differences(before: Any, now: Any, key: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Dotted key and both values, wherever two resolved scenarios differ."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name in {**now, **before}:
            yield from differences(before.get(name), now.get(name), f"{key}.{name}" if key else str(name))
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for index, (one, other) in enumerate(zip(before, now, strict=True)):
            yield from differences(one, other, f"{key}.{index}")
    elif before != now:
        yield key, before, now


def _locked(path: Path) -> int | None:
    """An open descriptor of the directory with an exclusive lock; the system drops it with the process."""
    if fcntl is None:
        return None
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise InputError(f"{path}: another process is writing this run") from None
    return descriptor


def read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        raise InputError(f"{path}: damaged ({error})") from None
    if not isinstance(content, dict):
        raise InputError(f"{path}: damaged (not a JSON object)")
    return content
