"""The balanced assignment by SciPy's linear sum assignment: every cluster stands s times in a K x K matrix.

The small, obvious oracle: its memory grows with K^2 and its time faster still.
"""

import numpy as np

from hfedms_sim.errors import InputError
from hfedms_sim.grouping.affinity import Counts, Labels, SensorCounts, Sums
from hfedms_sim.grouping.optional_packages import optional_package

_MOST_SENSORS = 10_000  # 800 MB


class LinearSumAssignment:
    """`lsa`."""

    def __init__(self, counts: Counts, cluster_size: int) -> None:
        if len(counts) > _MOST_SENSORS:
            raise InputError(f"solver = lsa: {len(counts)} sensors; at most {_MOST_SENSORS}: set solver to auto")
        self._optimize = optional_package("scipy.optimize", "solver = lsa")
        self._sensors, self._cluster_size = SensorCounts(counts), cluster_size

    def assign(self, centroid_sums: Sums) -> Labels:
        places = np.repeat(self._sensors.affinities(centroid_sums).T.astype(np.float64), self._cluster_size, axis=1)
        _, place = self._optimize.linear_sum_assignment(places, maximize=True)
        return np.asarray(place // self._cluster_size, np.int64)
