"""Arrival paths of which every time is given."""

from collections.abc import Sequence

import numpy as np

from hfedms_sim.world.streams.arrival_csv import TracePath


def trace_path(times_by_sensor_s: Sequence[Sequence[float]]) -> TracePath:
    """Return the path on which each sensor's samples arrive at these times."""
    lengths = [len(times_s) for times_s in times_by_sensor_s]
    times_s = np.array([time_s for one_s in times_by_sensor_s for time_s in one_s], dtype=np.float64)
    return TracePath(times_s, np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))))
