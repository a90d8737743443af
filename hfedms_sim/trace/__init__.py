"""The timing trace: typed, append-only tables, and what other programs read of them."""

from hfedms_sim.trace.export import Format, export_trace, read_trace_table
from hfedms_sim.trace.recorder import TableRecorder, Trace, arrow_schema
from hfedms_sim.trace.tables import (
    TABLES,
    CaptureRow,
    Column,
    FaultRow,
    Outcome,
    RoundRow,
    SensorRow,
    Table,
    TransferRow,
    WorkRow,
)

__all__ = [
    "TABLES",
    "CaptureRow",
    "Column",
    "FaultRow",
    "Format",
    "Outcome",
    "RoundRow",
    "SensorRow",
    "Table",
    "TableRecorder",
    "Trace",
    "TransferRow",
    "WorkRow",
    "arrow_schema",
    "export_trace",
    "read_trace_table",
]
