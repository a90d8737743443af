"""Append-only recording of a run's tables: rows as records, turned into Arrow batches by the chunk.

On disk a table is one Parquet file under a temporary name until the whole run is complete: all tables are closed
before the first is renamed. In memory it is an Arrow table. A run on disk plays with memory for a chunk of each table
only.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Generic

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hfedms_sim.system.files import NewFile
from hfedms_sim.trace.tables import (
    CAPTURES,
    FAULTS,
    ROUNDS,
    SENSORS,
    TRANSFERS,
    WORK,
    CaptureRow,
    RowT,
    Table,
    TransferRow,
    WorkRow,
)
from hfedms_sim.trace.thinning import Thinning

Keeps = Callable[[RowT], bool]

CHUNK_ROWS = 8_192  # Python rows are turned into a batch while they are still in the processor's cache
ROW_GROUP_BATCHES = 16
_MOMENTS = ("ready_s", "start_s", "end_s", "time_s")  # hardly ever twice: a dictionary of them would only cost
_TYPES = {"int64": pa.int64(), "float64": pa.float64(), "string": pa.string(), "bool": pa.bool_()}


def arrow_schema(table: Table[Any]) -> pa.Schema:
    return pa.schema([(column.name, _TYPES[column.type]) for column in table.columns])


class TableRecorder(Generic[RowT]):
    """One table, in memory. `keeps` says which rows are kept; None: all."""

    def __init__(self, table: Table[RowT], keeps: Keeps[RowT] | None = None) -> None:
        self.table = table
        self._keeps = keeps
        self.schema = arrow_schema(table)
        self._rows: list[RowT] = []
        self._batches: list[pa.RecordBatch] = []

    def append(self, row: RowT) -> None:
        """Append a row, if it is one that is kept."""
        if self._keeps is not None and not self._keeps(row):
            return
        self._rows.append(row)
        if len(self._rows) >= CHUNK_ROWS:
            self._gather()

    def extend(self, columns: Mapping[str, NDArray[np.generic]]) -> None:
        """Append many rows at once, column by column; columns that are left out, and NaN, are null."""
        self._gather()
        unknown = set(columns) - set(self.schema.names)
        if unknown:
            raise ValueError(f"{self.table.name} has no column {sorted(unknown)[0]}")
        rows = len(next(iter(columns.values())))
        arrays = [
            pa.array(columns[field.name], type=field.type, from_pandas=True)
            if field.name in columns
            else pa.nulls(rows, field.type)
            for field in self.schema
        ]
        self._batches.append(pa.RecordBatch.from_arrays(arrays, schema=self.schema))
        self._gather()

    def gathered(self) -> pa.Table:
        """All rows that have not gone to disk."""
        self._gather()
        return pa.Table.from_batches(self._batches, schema=self.schema)

    def _gather(self) -> None:
        if self._rows:
            columns = zip(zip(*self._rows, strict=True), self.schema.types, strict=True)
            arrays = [pa.array(values, type=kind) for values, kind in columns]
            self._batches.append(pa.RecordBatch.from_arrays(arrays, schema=self.schema))
            self._rows.clear()

    def close(self) -> None:
        """No more rows."""
        self._gather()

    def commit(self) -> None:
        """The run is complete."""

    def discard(self) -> None:
        """The run has failed."""


class ParquetRecorder(TableRecorder[RowT]):
    """One table, in a file of `directory`."""

    def __init__(self, table: Table[RowT], directory: Path, keeps: Keeps[RowT] | None = None) -> None:
        super().__init__(table, keeps)
        self._new = NewFile(directory / f"{table.name}.parquet")
        often_alike = [name for name in self.schema.names if name not in _MOMENTS]
        self._writer = pq.ParquetWriter(self._new.file, self.schema, compression="zstd", use_dictionary=often_alike)

    def _gather(self) -> None:
        super()._gather()
        if len(self._batches) >= ROW_GROUP_BATCHES:
            self._write()

    def _write(self) -> None:
        self._writer.write_table(pa.Table.from_batches(self._batches, schema=self.schema))
        self._batches.clear()

    def close(self) -> None:
        super().close()
        self._write()
        self._writer.close()
        self._new.settle()

    def commit(self) -> None:
        self._new.commit()

    def discard(self) -> None:
        try:
            self._writer.close()
        except OSError:
            pass  # a full disk is what we are cleaning up after
        finally:
            self._new.discard()


class Trace:
    """All tables of a run. As a context it commits them all on success and leaves nothing of them on failure.

    `thinning` says which rounds have rows in the tables that grow with every transfer; None: all.
    """

    def __init__(self, directory: Path | None = None, thinning: Thinning | None = None) -> None:
        def recorder(table: Table[RowT], keeps: Keeps[RowT] | None = None) -> TableRecorder[RowT]:
            return TableRecorder(table, keeps) if directory is None else ParquetRecorder(table, directory, keeps)

        def is_kept(row: TransferRow | WorkRow | CaptureRow) -> bool:
            return thinning is None or thinning.keeps(row.round)

        keeps = None if thinning is None or thinning.is_whole else is_kept
        self.rounds = recorder(ROUNDS)
        self.transfers = recorder(TRANSFERS, keeps)
        self.work = recorder(WORK, keeps)
        self.captures = recorder(CAPTURES, keeps)
        self.faults = recorder(FAULTS)
        self.sensors = recorder(SENSORS)

    @property
    def recorders(self) -> tuple[TableRecorder[Any], ...]:
        return (self.rounds, self.transfers, self.work, self.captures, self.faults, self.sensors)

    def tables(self) -> dict[str, pa.Table]:
        """Return all tables by name, as far as they have not gone to disk."""
        return {recorder.table.name: recorder.gathered() for recorder in self.recorders}

    def __enter__(self) -> "Trace":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not None:
            self._discard()
            return
        try:
            for recorder in self.recorders:
                recorder.close()
            for recorder in self.recorders:
                recorder.commit()
        except BaseException:
            self._discard()
            raise

    def _discard(self) -> None:
        for recorder in self.recorders:
            recorder.discard()
