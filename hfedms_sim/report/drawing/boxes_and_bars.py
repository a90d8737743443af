"""Draws what stands above labels: box plots, and bars side by side or on top of each other."""

import numpy as np
from matplotlib.axes import Axes

from hfedms_sim.exhibits import Bars, Boxes
from hfedms_sim.report.drawing.looks import Looks, add_grid, plain, set_log_ticks, turn_long_labels
from hfedms_sim.report.pictures import PALETTE


def draw_boxes(axes: Axes, panel: Boxes, looks: Looks) -> None:
    axes.boxplot(
        [list(values) for _, values in panel.groups],
        tick_labels=[plain(label) for label, _ in panel.groups],
        sym="",
        medianprops={"color": PALETTE[1], "linewidth": 1.6},
        boxprops={"color": PALETTE[0]},
        whiskerprops={"color": PALETTE[0]},
        capprops={"color": PALETTE[0]},
    )
    if panel.log_y:
        axes.set_yscale("log")
        set_log_ticks(axes.yaxis)
    turn_long_labels(axes, [label for label, _ in panel.groups])
    axes.set_ylabel(plain(panel.y_label))
    add_grid(axes, only_y=True)


def draw_bars(axes: Axes, panel: Bars, looks: Looks) -> None:
    centres = np.arange(len(panel.labels))
    share = 1 if panel.is_stacked else max(1, len(panel.series))
    width, bottom = 0.8 / share, np.zeros(len(panel.labels))
    for index, (name, values) in enumerate(panel.series):
        heights = np.array([np.nan if value is None else value for value in values], dtype=float)
        offset = 0.0 if panel.is_stacked else (index - (share - 1) / 2) * width
        axes.bar(centres + offset, heights, width * 0.94, bottom, color=looks[name].colour, label=plain(name))
        if panel.is_stacked:
            bottom = bottom + np.nan_to_num(heights)
    axes.set_xticks(centres, [plain(label) for label in panel.labels])
    axes.set_xlim(-0.6, len(panel.labels) - 0.4)
    turn_long_labels(axes, panel.labels)
    axes.set_ylabel(plain(panel.y_label))
    add_grid(axes, only_y=True)
