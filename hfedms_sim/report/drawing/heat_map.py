"""Draws a heat map with its values written into it."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.patches import Rectangle

from hfedms_sim.exhibits import HeatMap
from hfedms_sim.report.drawing.looks import COLOUR_MAP, Looks, plain, turn_long_labels
from hfedms_sim.report.pictures import PALETTE

_DARK_BELOW = 0.5  # of a colour's luminance: white text stands on darker ones


def draw_heat_map(axes: Axes, panel: HeatMap, looks: Looks) -> None:
    values = np.array([[np.nan if cell is None else cell for cell in row] for row in panel.values], dtype=float)
    known = values[np.isfinite(values)]
    scale = Normalize(*(panel.limits or ((known.min(), known.max()) if known.size else (0.0, 1.0))))
    mesh = axes.pcolormesh(values, cmap=COLOUR_MAP, norm=scale, edgecolors="white")
    for (row, column), value in np.ndenumerate(values):
        if not np.isfinite(value):
            axes.add_patch(Rectangle((column, row), 1, 1, facecolor="0.9", edgecolor="0.6", hatch="///", linewidth=0))
            continue
        luminance = float(np.dot(mesh.cmap(scale(value))[:3], (0.299, 0.587, 0.114)))
        colour = "white" if luminance < _DARK_BELOW else "black"
        weight = "bold" if (row, column) in panel.marked else "normal"
        axes.text(column + 0.5, row + 0.5, f"{value:.3g}", ha="center", va="center", color=colour, weight=weight)
    for row, column in panel.marked:
        axes.add_patch(Rectangle((column, row), 1, 1, fill=False, edgecolor=PALETTE[1], linewidth=3, zorder=3))
    axes.set_xticks(np.arange(len(panel.x)) + 0.5, [plain(label) for label in panel.x])
    axes.set_yticks(np.arange(len(panel.y)) + 0.5, [plain(label) for label in panel.y])
    axes.tick_params(length=0)
    axes.invert_yaxis()
    turn_long_labels(axes, panel.x)
    axes.set(xlabel=plain(panel.x_label), ylabel=plain(panel.y_label))
    if known.size:
        axes.figure.colorbar(mesh, ax=axes)
