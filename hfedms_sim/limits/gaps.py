"""What went on between two steps of a critical path.

After a model has come down, its sensor waits for samples; else the payload crosses the backbone. Where something goes
wrong a gap that is longer than its crossings is a wait for what is down: the sensor, the backbone, the server, or a
sensor that was given up. Crossings of a gap: one to the server after a report or a chain, one from the server, one
between two cells. A chain that was cut off after a model had come down was waiting for samples.
"""

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.limits.columns import Array, Columns
from hfedms_sim.limits.faults import FaultColumns

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_TRANSFER, _WORK, _END = range(3)
_ROUNDING = 1e-12  # of the simulated time


def split_gaps(steps: Columns, faults: FaultColumns | None) -> dict[str, Floats]:
    """Return the seconds between the end of the step before and the beginning of each step, by what they were."""
    gap_s = np.maximum(0.0, steps["start_s"] - steps["begin_s"])
    is_up = (steps["kind"] == _TRANSFER) & (steps["link"] % 2 == 0)
    at_sensor = (steps["group"] >= 0) & (is_up | (steps["kind"] == _WORK))
    samples_s, backbone_s = np.where(at_sensor, gap_s, 0.0), np.where(at_sensor, 0.0, gap_s)
    if faults is None:
        return {"samples_s": samples_s, "backbone_s": backbone_s}
    crossing_s = np.minimum(backbone_s, _crossings(steps) * faults.backbone_s)
    rest_s = backbone_s - crossing_s
    rest_s[rest_s <= _ROUNDING * np.abs(steps["end_s"])] = 0.0
    was_cut = _was_cut(steps, faults)
    return {
        "samples_s": samples_s + np.where(was_cut, rest_s, 0.0),
        "backbone_s": backbone_s - rest_s,
        "outage_s": np.where(was_cut, 0.0, rest_s),
    }


def _crossings(steps: Columns) -> Ints:
    """Return how often a payload crossed the backbone before each step, if nothing failed on the way."""
    is_down, cell = (steps["kind"] == _TRANSFER) & (steps["link"] % 2 == 1), steps["link"] // 2
    in_chain, handed_over = is_down & (steps["group"] >= 0), _handed_over(steps)
    came_up, is_first = _before(steps, _is_up(steps)), steps["is_first"]
    reported = came_up & ~is_first & (np.roll(steps["group"], 1) < 0)
    from_cell = np.where(handed_over >= 0, cell[handed_over], -1)
    to_sensor = (from_cell != cell).astype(np.int64) + reported
    in_chain_before = ~is_first & (np.roll(steps["group"], 1) >= 0) & _before(steps, steps["kind"] == _TRANSFER)
    from_chain = in_chain_before & (handed_over >= 0)
    to_server = (from_chain | reported).astype(np.int64)
    scattered = is_down & ~in_chain
    return np.select([in_chain, scattered, steps["kind"] == _END], [to_sensor, 1 + to_server, to_server], 0)


def _handed_over(steps: Columns) -> Ints:
    """Return the step in which the round's chain last handed over, before each step; -1: it has not."""
    rows = np.arange(len(steps["round"]))
    is_handing = _is_up(steps) & (steps["group"] >= 0)
    last = np.maximum.accumulate(np.append(-1, np.where(is_handing, rows, -1)[:-1]))[: len(rows)]
    first = np.maximum.accumulate(np.where(steps["is_first"], rows, 0))
    handed_over: Ints = np.where(last >= first, last, -1)
    return handed_over


def _is_up(steps: Columns) -> Array:
    is_up: Array = (steps["kind"] == _TRANSFER) & (steps["link"] % 2 == 0) & steps["is_ok"]
    return is_up


def _before(steps: Columns, chosen: Array) -> Array:
    """Return whether the step before, in the same round, is one of the chosen."""
    is_after: Array = ~steps["is_first"] & np.roll(chosen, 1)
    return is_after


def _was_cut(steps: Columns, faults: FaultColumns) -> Array:
    """Return whether a chain that is over by this step was cut off while its sensor had the model."""
    came_down = (steps["kind"] == _TRANSFER) & (steps["link"] % 2 == 1) & steps["is_ok"]
    is_late = faults.is_late(steps["round"], steps["group"])
    is_over = (steps["kind"] == _END) | (steps["group"] < 0)
    was_cut: Array = is_over & _before(steps, came_down & is_late)
    return was_cut
