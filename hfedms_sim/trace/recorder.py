"""Append-only recording of a run's tables: rows as tuples, turned into Arrow batches by the chunk.

On disk a table is one Parquet file, written under a temporary name and renamed when the run is complete. In memory
it is an Arrow table. Either way the memory a long run needs is one chunk of Python rows per table.
"""

from pathlib import Path
from types import TracebackType

import pyarrow as pa
import pyarrow.parquet as pq

from hfedms_sim.trace.tables import CAPTURES, FAULTS, ROUNDS, TRANSFERS, WORK, Row, Table

CHUNK_ROWS = 8_192  # Python rows are turned into a batch while they are still in the processor's cache
ROW_GROUP_BATCHES = 16
_TYPES = {"int64": pa.int64(), "float64": pa.float64(), "string": pa.string()}


def arrow_schema(table: Table) -> pa.Schema:
    return pa.schema([(column.name, _TYPES[column.type]) for column in table.columns])


class TableRecorder:
    """One table. `directory` is None to keep it in memory."""

    def __init__(self, table: Table, directory: Path | None) -> None:
        self.table = table
        self.schema = arrow_schema(table)
        self._rows: list[Row] = []
        self._batches: list[pa.RecordBatch] = []
        self._path = None if directory is None else directory / f"{table.name}.parquet"
        self._temporary = None if directory is None else directory / f".{table.name}.parquet.part"
        self._writer = (
            None if self._temporary is None else pq.ParquetWriter(self._temporary, self.schema, compression="zstd")
        )

    def append(self, row: Row) -> None:
        self._rows.append(row)
        if len(self._rows) >= CHUNK_ROWS:
            self._gather()
            if len(self._batches) >= ROW_GROUP_BATCHES:
                self._write()

    def commit(self) -> None:
        """The table is complete."""
        self._gather()
        self._write()
        if self._writer is not None and self._temporary is not None and self._path is not None:
            self._writer.close()
            self._temporary.replace(self._path)

    def discard(self) -> None:
        if self._writer is not None and self._temporary is not None:
            self._writer.close()
            self._temporary.unlink(missing_ok=True)

    def in_memory(self) -> pa.Table:
        return pa.Table.from_batches(self._batches, schema=self.schema)

    def _gather(self) -> None:
        if self._rows:
            columns = zip(zip(*self._rows, strict=True), self.schema.types, strict=True)
            arrays = [pa.array(values, type=kind) for values, kind in columns]
            self._batches.append(pa.RecordBatch.from_arrays(arrays, schema=self.schema))
            self._rows.clear()

    def _write(self) -> None:
        if self._writer is not None:
            self._writer.write_table(self.in_memory())
            self._batches.clear()


class Trace:
    """All tables of a run. As a context it commits on success and leaves nothing half-written on failure."""

    def __init__(self, directory: Path | None = None) -> None:
        self.rounds = TableRecorder(ROUNDS, directory)
        self.transfers = TableRecorder(TRANSFERS, directory)
        self.work = TableRecorder(WORK, directory)
        self.captures = TableRecorder(CAPTURES, directory)
        self.faults = TableRecorder(FAULTS, directory)

    @property
    def recorders(self) -> tuple[TableRecorder, ...]:
        return (self.rounds, self.transfers, self.work, self.captures, self.faults)

    def __enter__(self) -> "Trace":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for recorder in self.recorders:
            if kind is None:
                recorder.commit()
            else:
                recorder.discard()
