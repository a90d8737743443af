"""The timing trace: typed, append-only tables, and what other programs read of them."""

from hfedms_sim.trace.export import Format, export_trace, read_trace_table
from hfedms_sim.trace.recorder import TableRecorder, Trace, arrow_schema
from hfedms_sim.trace.tables import ADDED_TABLES, TABLES, Column, Table

__all__ = [
    "ADDED_TABLES",
    "TABLES",
    "Column",
    "Format",
    "Table",
    "TableRecorder",
    "Trace",
    "arrow_schema",
    "export_trace",
    "read_trace_table",
]
