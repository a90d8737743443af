"""What went wrong, by kind, over simulated time."""

import numpy as np

from hfedms_sim.exhibits import Figure, Line, Lines
from hfedms_sim.report.views.scales import time_unit
from hfedms_sim.result import RunResult

_BINS = 200


def faults_figure(result: RunResult) -> Figure | None:
    """Return how many faults of each kind there had been by each moment; None if nothing went wrong."""
    faults = result.faults
    if faults.empty:
        return None
    last_s = max(float(result.summary["simulated_s"]), float(faults["time_s"].max()))
    moments_s = np.linspace(0.0, last_s, _BINS + 1)
    unit = time_unit(last_s)
    lines = []
    for kind in faults["kind"].value_counts(sort=True).index:
        times_s = np.sort(faults.loc[faults["kind"] == kind, "time_s"].to_numpy(dtype=float))
        counts = np.searchsorted(times_s, moments_s, side="right")
        lines.append(Line(f"{kind} ({len(times_s):,})", unit.of(moments_s.tolist()), tuple(map(float, counts))))
    x_label = f"simulated time in {unit.name}"
    panel = Lines("Until then", x_label, "faults", tuple(lines), x_limits=(0.0, None), y_limits=(0.0, None))
    return Figure("faults", f"{result.scenario.name}: what went wrong, by kind", (panel,), columns=1)
