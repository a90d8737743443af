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
from hfedms_sim.trace.thinning import Thinning, thinning_of, traced_rounds, traced_s

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
    "Thinning",
    "Trace",
    "TransferRow",
    "WorkRow",
    "arrow_schema",
    "export_trace",
    "read_trace_table",
    "thinning_of",
    "traced_rounds",
    "traced_s",
]
