"""Where the sensors stand, how well they hear, and which of them are worst off."""

import numpy as np
import pandas as pd

from hfedms_sim.exhibits import Table, Value
from hfedms_sim.report.exhibits import formatted
from hfedms_sim.report.page.blocks import Section, SortableTable, drawings
from hfedms_sim.report.views.coverage import coverage_figure
from hfedms_sim.result import RunResult

_MOST_SENSORS = 200
_COLUMNS = {
    "sensor": "sensor",
    "cell": "cell",
    "covered": "in coverage",
    "line_of_sight": "line of sight",
    "coupling_loss_db": "coupling loss, dB",
    "uplink_bps": "uplink, bit/s",
    "downlink_bps": "downlink, bit/s",
    "coverage_class": "coverage class",
    "compute": "processor",
    "transfers": "transfers",
    "airtime_s": "airtime, s",
    "energy_j": "energy, J",
    "availability": "availability",
    "faults": "faults",
}


def hall_section(result: RunResult) -> Section | None:
    """Return map, rates and the table of sensors; None of a run whose version kept no such table."""
    sensors = result.sensors
    if not len(sensors):
        return None
    drawn = drawings(lambda: coverage_figure(result))
    return Section("hall", "Sensors and coverage", (*drawn, SortableTable(_sensor_table(sensors))))


def _sensor_table(sensors: pd.DataFrame) -> Table:
    """Return the sensors, those out of coverage and the slowest first; what all have alike is in the note."""
    joules = [name for name in sensors.columns if name.endswith("_j")]
    table = sensors.assign(energy_j=sensors[joules].sum(axis=1, min_count=1))
    order = {"covered": True, "uplink_bps": True, "coupling_loss_db": False, "airtime_s": False, "sensor": True}
    table = table.sort_values([*order], ascending=[*order.values()], na_position="first", kind="stable")
    known = [name for name in _COLUMNS if name in table.columns and table[name].notna().any()]
    telling = [name for name in known if name == "sensor" or table[name].nunique(dropna=False) > 1]
    shown = table.head(_MOST_SENSORS)
    rows = tuple(tuple(_cell(value) for value in row) for row in shown[telling].itertuples(index=False))
    notes = [f"The {len(shown)} slowest of {len(table):,}; sensors.parquet has all."] if len(shown) < len(table) else []
    alike = [f"{_COLUMNS[name]} {formatted(_cell(table[name].iloc[0]))}" for name in known if name not in telling]
    notes += [f"The same for all: {', '.join(alike)}."] if alike else []
    header = tuple(_COLUMNS[name] for name in telling)
    return Table("sensors", "Sensors, the slowest links first", header, rows, " ".join(notes))


def _cell(value: object) -> Value:
    if value is None or value is pd.NA or (isinstance(value, float) and pd.isna(value)):
        return None
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return value.item() if hasattr(value, "item") else value  # type: ignore[return-value]
