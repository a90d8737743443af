"""The columns of a trace that say what limited a run, as arrays; of a long run those of its last rounds.

Transfers and work are in the order in which they ended, so a round's rows are together, and its last row ended last.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hfedms_sim.limits.faults import FaultColumns, fault_columns
from hfedms_sim.limits.links import DIRECTIONS
from hfedms_sim.limits.round_selection import RoundSelection, select_rounds
from hfedms_sim.rounds import PayloadKind, WorkKind
from hfedms_sim.scenario import Cell, Scenario
from hfedms_sim.system.reading import opened_parquet, read_parquet_where
from hfedms_sim.trace import Outcome, Thinning, read_trace_table, thinning_of, traced_s

PAYLOADS: tuple[str, ...] = get_args(PayloadKind)
WORKS: tuple[str, ...] = get_args(WorkKind)
OUTCOMES: tuple[str, ...] = get_args(Outcome)
_OK, _ABORTED = OUTCOMES.index("ok"), OUTCOMES.index("aborted")

_COLUMNS = {
    "rounds": ("round", "start_s", "end_s"),
    "transfers": (
        "round", "group", "hop", "direction", "payload", "source", "target", "sensor", "cell", "bytes", "ready_s",
        "start_s", "end_s", "airtime_s", "retransmitted_bytes",
    ),
    "work": ("round", "group", "hop", "sensor", "kind", "start_s", "end_s"),
}  # fmt: skip
TABLES_READ = tuple(_COLUMNS)
"""Those of a run's tables that are read column by column here; whoever gives a directory has checked their files."""
_WAITS = ("held_s", "paused_s")
_TEXTS = ("direction", "payload", "cell", "kind", "outcome")

Array = NDArray[Any]
Columns = Mapping[str, Array]


@dataclass(frozen=True)
class TraceColumns:
    """Rounds, transfers and work.

    `link` of a transfer is the number of its cell's direction (links.py), `latency_s` that of its sensor's coverage
    class; a broadcast has that of its cell's last class, and a transfer that was aborted none. `is_ok` of transfers
    and work: neither lost nor aborted. `chain` of both tells chains apart, those of earlier rounds too; -1 outside
    any. `is_window` of a round: it had no barrier. A run that ended within a round has rows of a round that is none
    of `rounds`.
    """

    rounds: Columns
    transfers: Columns
    work: Columns
    faults: FaultColumns | None = None
    """None: nothing can go wrong."""
    traced_s: float | None = None
    """How long these rounds took where others between them are left out of the trace; None: there are none such."""

    @property
    def elapsed_s(self) -> float:
        """Return how long these rounds took, and what came after the last of them."""
        if self.traced_s is not None:
            return self.traced_s
        starts_s = self.rounds["start_s"] if len(self.rounds["start_s"]) else self.transfers["ready_s"]
        if not len(starts_s):
            return 0.0
        last_s = max(self.rounds["end_s"].max(initial=-inf), self.transfers["end_s"].max(initial=-inf))
        return float(last_s - starts_s[0])


def columns_of(scenario: Scenario, source: Path | Mapping[str, pa.Table]) -> TraceColumns:
    """Return the columns of a finished run, from its directory or from its tables."""
    selection, cells = select_rounds(source, thinning_of(scenario)), scenario.cells
    tables = {name: _table(source, name, selection, list(columns)) for name, columns in _COLUMNS.items()}
    rounds, transfers, work = (_numbers(tables[name]) for name in ("rounds", "transfers", "work"))
    names = [cell.name for cell in cells]
    direction, cell = _codes(tables["transfers"]["direction"], DIRECTIONS), _codes(tables["transfers"]["cell"], names)
    transfers |= {"link": 2 * cell + direction, "payload": _codes(tables["transfers"]["payload"], PAYLOADS)}
    transfers |= {"latency_s": _latencies_s(source, cells, cell, transfers["sensor"])}
    work |= {"kind": _codes(tables["work"]["kind"], WORKS)}
    _note_chains(source, selection, rounds, transfers, work)
    faults = fault_columns(scenario, source, selection)
    _note_outcomes(source, selection, transfers, work, is_steady=faults is None)
    return TraceColumns(rounds, transfers, work, faults, _traced_s(source, selection))


def _traced_s(source: Path | Mapping[str, pa.Table], selection: RoundSelection) -> float | None:
    """Return how long the rounds took that are looked at, if some between them are not."""
    if selection.thinning.is_whole:
        return None
    table = _table(source, "rounds", selection._replace(thinning=Thinning()), list(_COLUMNS["rounds"]))
    numbers, starts_s, ends_s = (table[name].to_numpy() for name in _COLUMNS["rounds"])
    return traced_s(selection.thinning, numbers, starts_s, float(ends_s.max(initial=0.0)))


def _note_chains(
    source: Path | Mapping[str, pa.Table],
    selection: RoundSelection,
    rounds: dict[str, Array],
    transfers: dict[str, Array],
    work: dict[str, Array],
) -> None:
    """Add which rows belong to one chain, and which rounds are windows; in earlier versions none is."""
    under_way = _whole_numbers(source, "rounds", selection, "under_way", np.full(len(rounds["round"]), -1))
    rounds["is_window"] = under_way >= 0
    most = 1 + max(transfers["group"].max(initial=0), work["group"].max(initial=0))
    for name, rows in (("transfers", transfers), ("work", work)):
        version = _whole_numbers(source, name, selection, "version", rows["round"] - 1)
        rows["chain"] = np.where(rows["group"] >= 0, version * most + rows["group"], -1)


def _whole_numbers(
    source: Path | Mapping[str, pa.Table],
    name: str,
    selection: RoundSelection,
    column: str,
    otherwise: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return a column that tables of earlier versions lack."""
    if column not in _names(source, name):
        return otherwise
    found = _table(source, name, selection, ["round", column])[column]
    return np.asarray(pc.fill_null(found, -1).to_numpy(), dtype=np.int64)


def _names(source: Path | Mapping[str, pa.Table], name: str) -> list[str]:
    """Return which columns a table has."""
    if isinstance(source, Path):
        with opened_parquet(source / f"{name}.parquet") as parquet:
            return list(parquet.schema_arrow.names)
    return list(source[name].column_names)


def _note_outcomes(
    source: Path | Mapping[str, pa.Table],
    selection: RoundSelection,
    transfers: dict[str, Array],
    work: dict[str, Array],
    *,
    is_steady: bool,
) -> None:
    """Add what became of transfers and work, and how long transfers waited for what was down.

    Where nothing can go wrong, as in directories of earlier versions, all is well.
    """
    transfers["is_ok"], work["is_ok"] = (np.ones(len(rows["round"]), dtype=bool) for rows in (transfers, work))
    transfers |= dict.fromkeys(_WAITS, np.zeros(len(transfers["round"])))
    if is_steady:
        return
    sent = _table(source, "transfers", selection, ["round", "outcome", *_WAITS])
    worked = _table(source, "work", selection, ["round", "outcome"])
    transfers |= {name: sent[name].to_numpy() for name in _WAITS}
    transfers["is_ok"] = _codes(sent["outcome"], OUTCOMES) == _OK
    work["is_ok"] = _codes(worked["outcome"], OUTCOMES) == _OK
    transfers["latency_s"] = np.where(_codes(sent["outcome"], OUTCOMES) == _ABORTED, 0.0, transfers["latency_s"])


def _latencies_s(
    source: Path | Mapping[str, pa.Table], cells: Sequence[Cell], cell: NDArray[np.int64], sensor: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the latency of each transfer; the sensors' classes are looked up only where classes differ in it."""
    by_class = [each.profile.class_latencies_s for each in cells]
    most = max(map(len, by_class))
    latencies_s = np.array([[*own, *[own[-1]] * (most - len(own))] for own in by_class])
    if (latencies_s == latencies_s[:, :1]).all():
        return np.asarray(latencies_s[cell, 0])
    table = read_trace_table(source, "sensors") if isinstance(source, Path) else source["sensors"]
    if not len(table):  # of an earlier version: its sensors' classes are not known
        return np.asarray(latencies_s[cell, 0])
    classes = np.nan_to_num(table["coverage_class"].to_numpy()).astype(np.int64)
    return np.asarray(latencies_s[cell, np.where(sensor >= 0, classes[np.maximum(sensor, 0)], most - 1)])


def _table(source: Path | Mapping[str, pa.Table], name: str, selection: RoundSelection, columns: list[str]) -> pa.Table:
    if isinstance(source, Path):
        texts = [each for each in columns if each in _TEXTS]
        only = None if selection.first_round == 1 else [("round", ">=", selection.first_round)]
        path = source / f"{name}.parquet"
        table = read_parquet_where(path, columns, only, texts)
    else:
        table = source[name].select(columns)
    return table if selection.is_whole else table.filter(pa.array(selection.has(table["round"].to_numpy())))


def _numbers(table: pa.Table) -> dict[str, Array]:
    """Return the columns of numbers. One that is none, which only others can have written, is a ValueError."""
    numbers = {name: table[name].to_numpy() for name in table.column_names if name not in _TEXTS}
    for name, values in numbers.items():
        if not np.isfinite(values).all():
            raise ValueError(f"{name} is not finite")
    return numbers


def _codes(column: pa.ChunkedArray, known: Sequence[str]) -> NDArray[np.int64]:
    """Return the index of each entry among the texts that are known."""
    place = {text: number for number, text in enumerate(known)}
    found: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    for chunk in column.chunks:
        coded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
        places = np.array([place[text] for text in coded.dictionary.to_pylist()], dtype=np.int64)
        found.append(places[coded.indices.to_numpy()])
    return np.concatenate(found)
