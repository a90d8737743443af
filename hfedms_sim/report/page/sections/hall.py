"""Where the sensors stand, how well they hear, and which of them are worst off."""

from hfedms_sim.exhibits import Table
from hfedms_sim.report.exhibits import formatted
from hfedms_sim.report.page.blocks import Section, SortableTable, drawings
from hfedms_sim.report.run_tables import YES_OR_NO, joules_of_sensors, plain_value, ranked_sensors
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
    if not len(result.sensors):
        return None
    drawn = drawings(lambda: coverage_figure(result))
    return Section("hall", "Sensors and coverage", (*drawn, SortableTable(_sensor_table(result))))


def _sensor_table(result: RunResult) -> Table:
    """Return the sensors, the worst first; what all have alike is in the note."""
    ranked = ranked_sensors(result)
    table = ranked.assign(energy_j=joules_of_sensors(ranked))
    known = [name for name in _COLUMNS if name in table.columns and table[name].notna().any()]
    telling = [name for name in known if name == "sensor" or table[name].nunique(dropna=False) > 1]
    shown = table.head(_MOST_SENSORS)
    rows = shown[telling].itertuples(index=False, name=None)
    cells = tuple(tuple(plain_value(value, YES_OR_NO) for value in row) for row in rows)
    notes = [f"The {len(shown)} worst of {len(table):,}; sensors.parquet has all."] if len(shown) < len(table) else []
    alike = [
        f"{_COLUMNS[name]} {formatted(plain_value(table[name].iloc[0], YES_OR_NO))}"
        for name in known
        if name not in telling
    ]
    notes += [f"The same for all: {', '.join(alike)}."] if alike else []
    header = tuple(_COLUMNS[name] for name in telling)
    return Table("sensors", "Sensors, the slowest links first", header, cells, " ".join(notes))
