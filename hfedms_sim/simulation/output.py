"""Where a run goes: into its directory, or nowhere but into memory. Both have one form, so that a run need not ask.

As a context an output ends with the run. A disk that cannot be written is a RunError, and so is memory that is not
enough; of a run that was refused nothing is left, unless something was there before.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa

from hfedms_sim.errors import InputError, RunError
from hfedms_sim.lineage import State, save_weights, stored_files
from hfedms_sim.result import MODEL_FILE, RunResult
from hfedms_sim.run_directory import RunDirectory
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation.finite_figures import overflow
from hfedms_sim.system.checksums import write_checksums
from hfedms_sim.system.machine import not_enough_memory
from hfedms_sim.trace import TABLES, Thinning, Trace


class Output(ABC):
    """What a run fills while it is played."""

    def __init__(self, name: str, directory: Path | None, learning: Path | None) -> None:
        self.directory = directory
        """Where it is written; None: nowhere."""
        self.learning = learning
        """Where the lineage store is; None: what is learnt is not kept."""
        self._name = name

    def __enter__(self) -> "Output":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close(is_refused=isinstance(error, InputError))
        if (told := not_enough_memory(error) or overflow(error)) is not None:
            raise told from None
        if isinstance(error, OSError):
            where = error.filename or self._name
            raise RunError(f"{where}: cannot be written ({error.strerror or error})") from None

    @abstractmethod
    def begin(self, scenario: Scenario, provenance: Mapping[str, Any]) -> None:
        """Note what is about to be played, and with what."""

    @abstractmethod
    def open_trace(self, thinning: Thinning) -> Trace:
        """Return the tables to be filled; as a context they are complete at its end."""

    @abstractmethod
    def tables(self) -> Path | Mapping[str, pa.Table]:
        """Return the complete tables by name, or the directory that has them."""

    @abstractmethod
    def save_model(self, weights: State) -> None:
        """Keep the global model after the last round."""

    @abstractmethod
    def finish(self, scenario: Scenario, summary: Mapping[str, Any], provenance: Mapping[str, Any]) -> RunResult:
        """Note what is known at the end, and return the finished run."""

    @abstractmethod
    def close(self, *, is_refused: bool) -> None:
        """Let go of it, however the run has ended."""


class MemoryOutput(Output):
    """Tables and model in memory. Nothing is written."""

    def __init__(self) -> None:
        super().__init__("run", None, None)
        self._trace = Trace()
        self._model: State | None = None

    def begin(self, scenario: Scenario, provenance: Mapping[str, Any]) -> None:
        pass

    def open_trace(self, thinning: Thinning) -> Trace:
        self._trace = Trace(thinning=thinning)
        return self._trace

    def tables(self) -> Mapping[str, pa.Table]:
        return self._trace.tables()

    def save_model(self, weights: State) -> None:
        self._model = {name: np.array(values) for name, values in weights.items()}

    def finish(self, scenario: Scenario, summary: Mapping[str, Any], provenance: Mapping[str, Any]) -> RunResult:
        return RunResult(scenario, summary, provenance, self.tables(), model=self._model)

    def close(self, *, is_refused: bool) -> None:
        pass


class DiskOutput(Output):
    """A run directory, which is unlocked at the end."""

    def __init__(self, directory: RunDirectory) -> None:
        super().__init__(str(directory.path), directory.path, directory.learning)
        self._directory = directory

    def begin(self, scenario: Scenario, provenance: Mapping[str, Any]) -> None:
        if provenance["timing_only"]:
            self._directory.require_untrained()
        self._directory.begin(scenario, provenance)

    def open_trace(self, thinning: Thinning) -> Trace:
        return Trace(self._directory.path, thinning)

    def tables(self) -> Path:
        return self._directory.path

    def save_model(self, weights: State) -> None:
        save_weights(weights, self._directory.learning / MODEL_FILE)

    def finish(self, scenario: Scenario, summary: Mapping[str, Any], provenance: Mapping[str, Any]) -> RunResult:
        self._directory.write_json("provenance.json", provenance)
        self._directory.write_json("summary.json", summary)  # with it the run is finished
        write_checksums(self._directory.path, files_of_run(self._directory.path))
        return RunResult(scenario, summary, provenance, None, self._directory.path)

    def close(self, *, is_refused: bool) -> None:
        if is_refused:
            self._directory.abandon()
        self._directory.unlock()


def files_of_run(directory: Path) -> list[str]:
    """Return the files of a run directory that belong to the result and are there, by their paths within it."""
    learning = directory / "learning"
    single = ("scenario.yaml", "provenance.json", "summary.json", *(f"{name}.parquet" for name in TABLES))
    found = [*(directory / name for name in single), *stored_files(learning), learning / MODEL_FILE]
    return [path.relative_to(directory).as_posix() for path in found if path.is_file()]


def output_at(out: RunDirectory | Path | str | None) -> Output:
    """Return where a run goes: a directory that is open or is to be made, or memory."""
    if out is None:
        return MemoryOutput()
    return DiskOutput(out if isinstance(out, RunDirectory) else RunDirectory.at(Path(out)))
