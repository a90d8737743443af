"""RunResult: what a run leaves behind, and how it is read again.

    scenario.yaml  provenance.json  summary.json  learning/  SHA256SUMS
    rounds|transfers|work|captures|faults|sensors.parquet

Tables hold nothing that differs between two equal runs; wall-clock times are in provenance and summary only. A file
that does not match its checksum (system/checksums.py) is refused when it is read. How the directory is made and written
is in run_directory.py.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file

from hfedms_sim.errors import InputError
from hfedms_sim.limits import TABLES_READ, Limits, limits_of
from hfedms_sim.rounds import Direction
from hfedms_sim.scenario import Choices, NetworkProfile, Scenario, load_scenario
from hfedms_sim.summary import checked_provenance, checked_summary
from hfedms_sim.system.checksums import Checksums
from hfedms_sim.system.reading import read_json_file
from hfedms_sim.trace import TABLES, read_trace_table, thinning_of, traced_rounds, traced_s
from hfedms_sim.units import format_seconds

MODEL_FILE = "model.safetensors"

Weights = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, repr=False)
class RunResult:
    """A finished run: what it was, what it cost and what it has learnt.

    Tables are pandas DataFrames, read when first asked for; docs/trace.md has every column. What a model answers needs
    torch and the run's data set, and is worked out when first asked for.
    """

    scenario: Scenario
    summary: Mapping[str, Any]
    """The content of summary.json."""
    provenance: Mapping[str, Any]
    """The content of provenance.json."""
    tables: Mapping[str, pa.Table] | None = None
    """In memory; None if they are in `directory`."""
    directory: Path | None = None
    """The run directory; None if the run was kept in memory."""
    model: Weights | None = field(default=None, compare=False)
    """The final model of a run that was kept in memory; `weights` gives every trained run's."""
    predict: "Callable[[RunResult], pd.DataFrame] | None" = field(default=None, compare=False)
    """What works out `predictions`: learning is a layer above results, so whoever makes a result hands it in."""

    def arrow(self, name: str) -> pa.Table:
        """Return a table as Arrow has it: rounds, transfers, work, captures, faults or sensors."""
        if self.tables is not None:
            return self.tables[name]
        assert self.directory is not None
        return read_trace_table(self.directory, name, self._checksums)

    @cached_property
    def _checksums(self) -> Checksums:
        """What the directory's files held when the run ended."""
        assert self.directory is not None
        return Checksums(self.directory)

    def in_memory(self) -> "RunResult":
        """Return the same run with its tables and its model in memory, whatever becomes of its directory.

        open_run("runs/quickstart-001").in_memory()
        """
        if self.directory is None:
            return self
        model = None if self.provenance["timing_only"] else self.weights()
        return replace(self, tables={name: self.arrow(name) for name in TABLES}, directory=None, model=model)

    def _frame(self, name: str) -> pd.DataFrame:
        frame: pd.DataFrame = self.arrow(name).to_pandas()
        return frame

    @cached_property
    def rounds(self) -> pd.DataFrame:
        """One row a round: when it began and ended, who took part, bytes, joules, accuracy and loss."""
        return self._frame("rounds")

    @cached_property
    def transfers(self) -> pd.DataFrame:
        """One row for every transfer over a radio: who to whom, how many bytes, when, how much airtime."""
        return self._frame("transfers")

    @cached_property
    def work(self) -> pd.DataFrame:
        """One row for every computation of a sensor."""
        return self._frame("work")

    @cached_property
    def captures(self) -> pd.DataFrame:
        """One row for every batch that a sensor captured."""
        return self._frame("captures")

    @cached_property
    def faults(self) -> pd.DataFrame:
        """One row for everything that went wrong, such as a training that diverged."""
        return self._frame("faults")

    @cached_property
    def sensors(self) -> pd.DataFrame:
        """One row a sensor; none of a directory that an earlier version wrote."""
        return self._frame("sensors")

    @cached_property
    def limits(self) -> Limits:
        """What limited the run: the use of every direction of every cell, and the critical path of each round."""
        source = self.tables if self.tables is not None else self.directory
        assert source is not None, "a run is in memory or in a directory"
        if self.tables is None:
            for name in TABLES_READ:
                self._checksums.require(f"{name}.parquet")
        try:
            return limits_of(self.scenario, source)
        except (pa.ArrowException, OSError, LookupError, ValueError, TypeError, MemoryError) as error:
            raise InputError(f"{self.directory}: a table is damaged ({error!r:.200})") from None

    def time_to_accuracy(self, accuracy: float) -> float | None:
        """Return the simulated seconds until the first round whose model was at least that good; None if none was.

        result.time_to_accuracy(0.6)
        """
        reached = self._rounds_to(accuracy)
        return None if reached is None else float(reached["end_s"].iloc[-1])

    def bytes_to_accuracy(self, accuracy: float) -> int | None:
        """Return the bytes sent up and down until the first round whose model was at least that good; None if none was.

        result.bytes_to_accuracy(0.6)
        """
        reached = self._rounds_to(accuracy)
        return None if reached is None else int(reached["uplink_bytes"].sum() + reached["downlink_bytes"].sum())

    def energy_to_accuracy_j(self, accuracy: float) -> float | None:
        """Return the joules of all sensors until the first round whose model was at least that good.

        None if none was, or if the radio's currents are not known (`summary["energy_missing"]` says which).

            result.energy_to_accuracy_j(0.6)
        """
        reached = self._rounds_to(accuracy)
        if reached is None or reached["energy_j"].isna().any():
            return None
        return float(reached["energy_j"].sum())

    def _rounds_to(self, accuracy: float) -> pd.DataFrame | None:
        """Return the rounds up to the first whose model was at least that good; None if none was."""
        good_enough = np.flatnonzero(self.rounds["accuracy"].to_numpy(dtype=float, na_value=np.nan) >= accuracy)
        return self.rounds.iloc[: int(good_enough[0]) + 1] if len(good_enough) else None

    def weights(self) -> dict[str, NDArray[Any]]:
        """Return the final global model: arrays by the names of its layers. Needs no torch.

        A run that was not trained has none, which is an `InputError`.

            {name: array.shape for name, array in result.weights().items()}
        """
        if self.model is not None:
            return dict(self.model)
        path = None if self.directory is None else self.directory / "learning" / MODEL_FILE
        if path is not None:
            self._checksums.require(f"learning/{MODEL_FILE}")
        if path is None or not path.is_file():
            raise InputError(f"{self.directory or self.scenario.name}: has no model, it was not trained")
        try:
            return load_file(path)
        except (SafetensorError, OSError) as error:
            raise InputError(f"{path}: damaged ({error})") from None

    def predictions(self) -> pd.DataFrame:
        """Return the columns sensor, label and predicted: what the final model answers to every test sample.

        It needs torch and opens the scenario's data set again; the answers are kept. A run without a model, or whose
        data are not there any more, is an `InputError`.

            (result.predictions()["label"] == result.predictions()["predicted"]).mean()
        """
        return self._predicted.copy()

    def accuracy_by_class(self) -> "pd.Series[float]":
        """Return the share of each class's test samples that the final model recognises, by label.

        result.accuracy_by_class().nsmallest(5)
        """
        return self._accuracy_by("label")

    def accuracy_by_sensor(self) -> "pd.Series[float]":
        """Return the share of each sensor's test samples that the final model recognises, by the sensor's number.

        result.accuracy_by_sensor().describe()
        """
        return self._accuracy_by("sensor")

    def confusion_matrix(self) -> pd.DataFrame:
        """Return how many test samples of each label (rows) the final model takes for which label (columns).

        result.confusion_matrix().loc[0, 24]  # zeros taken for an O
        """
        answers = self._predicted
        labels = sorted({*answers["label"], *answers["predicted"]})
        counts = pd.crosstab(answers["label"], answers["predicted"])
        every = counts.reindex(index=labels, columns=labels, fill_value=0)
        return every.rename_axis(index="label", columns="predicted")

    def _accuracy_by(self, column: str) -> "pd.Series[float]":
        answers = self._predicted
        correct = (answers["label"] == answers["predicted"]).astype(float)
        return correct.groupby(answers[column]).mean().rename("accuracy")

    @cached_property
    def _predicted(self) -> pd.DataFrame:
        if self.predict is None:
            raise InputError(
                f"{self.directory or self.scenario.name}: has no predictions; hfedms_sim.open_run adds them"
            )
        return self.predict(self)

    def __repr__(self) -> str:
        return f"RunResult({', '.join(f'{name} {value}' if name else value for name, value in self._facts())})"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: a small table."""
        title, *facts = self._facts()
        rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in facts)
        return f"<table><caption>{escape(title[1])}</caption>{rows}</table>"

    def _facts(self) -> list[tuple[str, str]]:
        """Return the run in a few words, by what they are of; the first are its title."""
        summary = self.summary
        accuracy = summary["final_accuracy"]
        facts = {
            "": f"{summary['scenario']}: {summary['strategy']} over {summary['profile']}",
            "rounds": f"{summary['rounds']} of {self.scenario.rounds}",
            "simulated time": format_seconds(summary["simulated_s"]),
            "accuracy": "not measured" if accuracy is None else f"{accuracy:.3f}",
        }
        return list(facts.items())

    @property
    def traced_rounds(self) -> pd.DataFrame:
        """The rounds whose transfers, work and captures are in the tables: all, unless `trace_every` left some out."""
        return traced_rounds(self.scenario, self.rounds)

    @property
    def _traced_s(self) -> float:
        """Simulated seconds of these rounds."""
        thinning, elapsed_s = thinning_of(self.scenario), float(self.summary["simulated_s"])
        if thinning.is_whole:
            return elapsed_s
        return traced_s(thinning, self.rounds["round"].to_numpy(), self.rounds["start_s"].to_numpy(), elapsed_s)

    @property
    def utilisation(self) -> "pd.Series[float]":
        """Share of each cell's airtime that was used, in its busier direction; half-duplex cells have one for both.

        A cell with dedicated channels has one for each sensor that uses it, chosen to take part or not; summaries of
        earlier versions do not say how many these are, so that its share is not a number. Of a run whose trace was
        thinned (`trace_every`), the share in the rounds that have rows.
        """
        transfers = self.arrow("transfers").select(["cell", "direction", "airtime_s"])
        used_s = transfers.group_by(["cell", "direction"]).aggregate([("airtime_s", "sum")]).to_pandas()
        by_cell = used_s.pivot(index="cell", columns="direction", values="airtime_s_sum").fillna(0.0)
        elapsed_s = self._traced_s
        sensors = {cell["name"]: cell["sensors"] for cell in self.summary.get("cells", ())}
        shares = {}
        for cell in self.scenario.cells:
            airtime_s = {str(direction): float(by_cell[direction].get(cell.name, 0.0)) for direction in by_cell.columns}
            busy_s = _busy_s(cell.profile, airtime_s, sensors.get(cell.name, nan))
            shares[cell.name] = busy_s / elapsed_s if elapsed_s else 0.0
        return pd.Series(shares, dtype=float)


def channels_of(profile: NetworkProfile, direction: Direction, sensors: float) -> float:
    """Return how many channels a cell has in a direction; where they are dedicated, one for each of its sensors."""
    return sensors if profile.channels == "dedicated" else profile.channels_in(direction)


def _busy_s(profile: NetworkProfile, airtime_s: Mapping[str, float], sensors: float) -> float:
    """Return how long a cell was busy if its channels had always been full; the busier direction, or both in one."""

    def full_s(direction: Direction) -> float:
        channels = channels_of(profile, direction, sensors)
        return airtime_s.get(direction, 0.0) / channels if channels else 0.0

    up_s, down_s = full_s("up"), full_s("down")
    return up_s + down_s if profile.duplex == "cell-half" else max(up_s, down_s)


def open_run(directory: Path | str, choices: Choices) -> RunResult:
    """Return a run as it was left in its directory. `choices` are the parts that its scenario may name."""
    directory = Path(directory)
    if not directory.is_dir():
        raise InputError(f"{directory}: no such run directory")
    missing = _missing(directory)
    if missing:
        raise InputError(f"{directory}: not a finished run, {missing[0]} is missing{_runs_within(directory)}")
    checksums = Checksums(directory)
    for name in ("scenario.yaml", "summary.json", "provenance.json"):
        checksums.require(name)
    scenario = load_scenario(str(directory / "scenario.yaml"), choices)
    summary = read_summary(directory / "summary.json")
    if not {cell["name"] for cell in summary.get("cells", ())} <= {cell.name for cell in scenario.cells}:
        raise InputError(f"{directory / 'summary.json'}: damaged (its cells are not those of the scenario)")
    return RunResult(
        scenario=scenario,
        summary=summary,
        provenance=_read_checked(directory / "provenance.json", checked_provenance),
        directory=directory,
    )


def _runs_within(directory: Path) -> str:
    """Return a hint at the finished runs that a directory holds, its own or those of a campaign; empty if none."""
    place = directory / "trials" if (directory / "trials").is_dir() else directory
    runs = [each for each in sorted(place.iterdir()) if each.is_dir() and is_finished(each)]
    return f"; it holds {len(runs)} runs, such as {runs[0]}" if runs else ""


def read_summary(path: Path) -> dict[str, Any]:
    """Return the content of a summary.json in the form of this version; what no version has written is refused."""
    return _read_checked(path, checked_summary)


def _read_checked(path: Path, checked: Callable[[Mapping[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    content = read_json(path)
    try:
        return checked(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: damaged ({error})") from None


def is_run(directory: Path) -> bool:
    """Return whether a directory is a run's, finished or not."""
    return (directory / "scenario.yaml").is_file()


def is_finished(directory: Path) -> bool:
    return not _missing(directory)


def _missing(directory: Path) -> list[str]:
    tables = [f"{table.name}.parquet" for table in TABLES.values() if not table.is_new]
    expected = ["scenario.yaml", "summary.json", "provenance.json", *tables]
    return [name for name in expected if not (directory / name).is_file()]


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


def read_json(path: Path) -> dict[str, Any]:
    try:
        content = read_json_file(path)
    except MemoryError as error:
        raise InputError(f"{path}: does not fit into memory ({error})") from None
    except (ValueError, OSError, RecursionError) as error:
        raise InputError(f"{path}: damaged ({error})") from None
    if not isinstance(content, dict):
        raise InputError(f"{path}: damaged (not a JSON object)")
    return content
