"""A map of the hall: where sensors and base stations stand, and which rates the sensors have."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hfedms_sim.errors import InputError
from hfedms_sim.report.pictures import save
from hfedms_sim.rounds import Direction
from hfedms_sim.scenario import Scenario
from hfedms_sim.seeds import Draws
from hfedms_sim.units import format_bps
from hfedms_sim.world.attachment import Placed, make_attachment

_OUT_OF_COVERAGE = "#b0b0b0"


def draw_map(scenario: Scenario, path: Path) -> None:
    """Both directions side by side. The file's ending decides its format."""
    attachment = make_attachment(scenario, Draws(scenario.seed))
    if not isinstance(attachment, Placed):
        raise InputError(f"{scenario.name}: no map, its sensors stand nowhere (sensors.placement.kind: none)")
    placement = scenario.sensors.placement
    assert placement.width_m is not None
    assert placement.length_m is not None
    height_in = 1.6 + min(8.0, 4.8 * placement.length_m / placement.width_m)
    figure = Figure(figsize=(13, height_in), layout="constrained")
    uplink, downlink = figure.subplots(1, 2)
    _draw(uplink, scenario, attachment, "up")
    _draw(downlink, scenario, attachment, "down")
    names = ", ".join(dict.fromkeys(cell.profile.name for cell in scenario.cells))
    figure.suptitle(f"{scenario.name}: {scenario.sensors.count} sensors on {names}")
    save(figure, path)


def _draw(axes: Axes, scenario: Scenario, attachment: Placed, direction: Direction) -> None:
    covered = attachment.covered
    rates_bps = np.array([_rate_bps(scenario, attachment, direction, sensor) for sensor in covered.tolist()])
    lost = np.setdiff1d(np.arange(scenario.sensors.count), covered)
    x_m, y_m = attachment.positions_m.T
    axes.scatter(x_m[lost], y_m[lost], c=_OUT_OF_COVERAGE, marker="x", s=22, label="no coverage")
    cell_x_m, cell_y_m = attachment.cell_positions_m.T
    for sensor in covered.tolist():
        cell = attachment.cell(sensor)
        axes.plot([x_m[sensor], cell_x_m[cell]], [y_m[sensor], cell_y_m[cell]], color="0.88", linewidth=0.5, zorder=0)
    dots = axes.scatter(x_m[covered], y_m[covered], c=rates_bps / 1e3, cmap="viridis", s=26, vmin=0.0, clip_on=False)
    axes.plot(cell_x_m, cell_y_m, "^", color="crimson", markersize=10, clip_on=False)
    for settings, x, y in zip(scenario.cells, cell_x_m, cell_y_m, strict=True):
        axes.annotate(settings.name, (x, y), (0, 9), textcoords="offset points", ha="center")
    placement = scenario.sensors.placement
    axes.set(
        xlim=(0, placement.width_m), ylim=(0, placement.length_m), xlabel="x in m", ylabel="y in m", aspect="equal"
    )
    axes.set_title(f"{direction}link, {format_bps(float(f'{rates_bps.min():.3g}'))} to {format_bps(rates_bps.max())}")
    axes.figure.colorbar(dots, ax=axes, label="kbit/s alone in the cell", shrink=0.8)
    if len(lost):
        axes.legend(loc="upper right")


def _rate_bps(scenario: Scenario, attachment: Placed, direction: Direction, sensor: int) -> float:
    profile = scenario.cells[attachment.cell(sensor)].profile
    full_bps = profile.uplink_bps if direction == "up" else profile.downlink_bps
    return full_bps * attachment.factor(direction, sensor)
