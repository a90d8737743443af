"""Tables of one run for a closer look: its rounds, its sensors, and what its final model recognises.

Those of rounds and sensors are for people: some columns, in handy units. For programs there is every column of the
trace under its name. Tables by class need torch and the run's data set.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Table, Value
from hfedms_sim.result import RunResult
from hfedms_sim.simulation import parts_of

MOST_MATRIX_CLASSES = 16
YES_OR_NO = {True: "yes", False: "no"}
_MOST_PAIRS = 20
_BPS_PER_KBPS = 1000.0

_ROUND_COLUMNS = {
    "round": "round",
    "phase": "phase",
    "end_s": "end, s",
    "participants": "participants",
    "skipped": "skipped",
    "uplink_bytes": "bytes up",
    "downlink_bytes": "bytes down",
    "energy_j": "energy, J",
    "accuracy": "accuracy",
    "loss": "loss",
}
_SENSOR_COLUMNS = {
    "sensor": "sensor",
    "cell": "cell",
    "covered": "covered",
    "uplink_kbps": "up, kbit/s",
    "downlink_kbps": "down, kbit/s",
    "uplink_bytes": "bytes up",
    "downlink_bytes": "bytes down",
    "airtime_s": "airtime, s",
    "energy_j": "energy, J",
    "availability": "availability",
    "faults": "faults",
}


def rounds_table(result: RunResult) -> Table:
    """Return what happened in each round, and what the model measured after it."""
    return _shown("rounds", result, result.rounds, _ROUND_COLUMNS)


def rounds_in_figures(result: RunResult) -> Table:
    """Return all that the trace has of rounds."""
    return _whole("rounds", result, result.rounds)


def sensors_table(result: RunResult) -> Table:
    """Return what each sensor had and spent, the worst first."""
    ranked = ranked_sensors(result)
    known = ranked.assign(
        uplink_kbps=ranked["uplink_bps"] / _BPS_PER_KBPS,
        downlink_kbps=ranked["downlink_bps"] / _BPS_PER_KBPS,
        energy_j=joules_of_sensors(ranked),
    )
    note = "The worst first: out of coverage, then by the rate of the slower direction, then by joules."
    return replace(_shown("sensors", result, known, _SENSOR_COLUMNS), note=note)


def sensors_in_figures(result: RunResult) -> Table:
    """Return all that the trace has of sensors, the worst first."""
    return _whole("sensors", result, ranked_sensors(result))


def ranked_sensors(result: RunResult) -> pd.DataFrame:
    """Return those out of coverage first, then by the rate of the slower direction, then by joules."""
    sensors = result.sensors
    if not len(sensors):
        raise InputError(f"{result.directory}: has no table of sensors, an earlier version wrote it")
    slower_bps = sensors[["uplink_bps", "downlink_bps"]].min(axis=1)
    order = np.lexsort([sensors["sensor"], -joules_of_sensors(sensors).fillna(0.0), slower_bps, sensors["covered"]])
    ranked: pd.DataFrame = sensors.iloc[order]
    return ranked


def joules_of_sensors(sensors: pd.DataFrame) -> "pd.Series[float]":
    """Return the joules of each sensor; not a number where they are not modelled."""
    states = sensors.filter(regex="_j$")
    return states.sum(axis=1, min_count=states.shape[1])


def classes_table(result: RunResult) -> Table:
    """Return how many test samples there are of each class, and which share of them the final model recognises."""
    names, shares = _class_names(result), result.accuracy_by_class()
    counts = result.predictions()["label"].value_counts()
    rows = tuple((names[label], int(counts[label]), float(shares[label])) for label in shares.index.tolist())
    title = f"{_run(result)}: accuracy of the final model by class"
    return Table("classes", title, ("class", "test samples", "accuracy"), rows)


def confusion_table(result: RunResult) -> Table:
    """Return how many test samples of each class the final model takes for which class."""
    matrix = result.confusion_matrix()
    names = [_class_names(result)[label] for label in matrix.index.tolist()]
    rows = tuple((name, *counts) for name, counts in zip(names, matrix.to_numpy().tolist(), strict=True))
    return Table("confusion", f"{_run(result)}: classes (rows) and what they are taken for", ("class", *names), rows)


def confused_pairs_table(result: RunResult) -> Table:
    """Return the pairs of classes that the final model confuses most, for where the whole matrix has no room."""
    names = _class_names(result)
    answers = result.predictions()
    samples = answers["label"].value_counts()
    wrong = answers[answers["label"] != answers["predicted"]].groupby(["label", "predicted"]).size()
    pairs = [(int(count), *pair) for pair, count in zip(wrong.index.tolist(), wrong.tolist(), strict=True)]
    worst = sorted(pairs, key=lambda each: (-each[0], each[1:]))[:_MOST_PAIRS]
    rows = tuple((names[label], names[taken], count, count / int(samples[label])) for count, label, taken in worst)
    note = f"{len(rows)} of {len(pairs)} pairs; the formats markdown, latex and csv have the whole matrix."
    header = ("class", "taken for", "test samples", "share of the class")
    return Table("confusion", f"{_run(result)}: what the final model confuses", header, rows, note)


def _shown(name: str, result: RunResult, frame: pd.DataFrame, columns: Mapping[str, str]) -> Table:
    """Return some columns under headings for people, without those in which no row has anything."""
    kept = [column for column in columns if column in frame and frame[column].notna().any()]
    rows = tuple(_rows(frame[kept], YES_OR_NO))
    return Table(name, f"{_run(result)}: {name}", tuple(columns[column] for column in kept), rows)


def _whole(name: str, result: RunResult, frame: pd.DataFrame) -> Table:
    rows = tuple(_rows(frame, {True: "true", False: "false"}))
    return Table(name, f"{_run(result)}: {name}", tuple(map(str, frame)), rows)


def _rows(frame: pd.DataFrame, words: Mapping[bool, str]) -> Iterator[tuple[Value, ...]]:
    """Yield the rows as plain values."""
    for row in frame.itertuples(index=False, name=None):
        yield tuple(plain_value(value, words) for value in row)


def plain_value(value: Any, words: Mapping[bool, str]) -> Value:
    """Return a cell of a data frame as a cell of a table: None where there is none, and words for true and false."""
    if pd.isna(value):
        return None
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, bool):
        return words[plain]
    return plain if isinstance(plain, int | float) else str(plain)


def _run(result: RunResult) -> str:
    summary = result.summary
    return f"{summary['scenario']}, {summary['strategy']} over {summary['profile']}"


def _class_names(result: RunResult) -> tuple[str, ...]:
    result.predictions()  # first: it says what is missing
    return parts_of(result.scenario).dataset.class_names
