"""`exact` and one rival on the same factory, in turn; prints JSON. Used by benchmarks.grouping.

In a process of its own, as OR-tools (which k-means-constrained uses) and highspy cannot be loaded into the same one.

    python -m benchmarks.grouping_rivals k-means-constrained|min-cost-flow SENSORS GROUPS RUNS
"""

import json
import sys
from collections.abc import Callable
from importlib import import_module

import numpy as np

from benchmarks.grouping_runs import CYCLE, DRAWS, ITERATIONS, Counts, Size, best_s, factory, group
from hfedms_sim.grouping.affinity import SensorCounts
from hfedms_sim.grouping.balanced_clusters import balanced_clusters, seed_sums


def main(rival: str, size: Size, runs: int) -> None:
    counts = factory(size.sensors)
    ours = group(counts, size, "exact")
    sampled = np.sort(np.concatenate(ours.clusters))
    start = seed_sums(counts[sampled], len(ours.clusters), DRAWS, cycle=CYCLE, sensors=sampled)
    clusters_of = RIVALS[rival]
    exact_s, rival_s = best_s([lambda: group(counts, size, "exact"), lambda: clusters_of(counts[sampled], start)], runs)
    labels, iterations = clusters_of(counts[sampled], start)
    objective = _objective(counts[sampled], labels, len(start))
    print(json.dumps({
        "exact_s": exact_s, "rival_s": rival_s, "exact_objective": ours.objective, "rival_objective": objective,
        "rival_iterations": iterations,
    }))  # fmt: skip


def _k_means_constrained(counts: Counts, start: Counts) -> tuple[Counts, int]:
    package = import_module("k_means_constrained")
    size = len(counts) // len(start)
    clustering = package.KMeansConstrained(
        len(start), size, size, init=start.astype(float), n_init=1, max_iter=ITERATIONS, tol=0.0
    ).fit(counts.astype(float))
    return np.asarray(clustering.labels_, np.int64), int(clustering.n_iter_)


def _min_cost_flow(counts: Counts, start: Counts) -> tuple[Counts, int]:
    solver = _MinCostFlow(counts, len(counts) // len(start))
    found = balanced_clusters(counts, start, solver, max_iterations=ITERATIONS)
    return found.labels, len(found.objectives)


class _MinCostFlow:
    """OR-tools, as a solver for our k-means loop."""

    def __init__(self, counts: Counts, cluster_size: int) -> None:
        self._module = import_module("ortools.graph.python.min_cost_flow")
        self._sensors, self._cluster_size = SensorCounts(counts), cluster_size

    def assign(self, centroid_sums: Counts) -> Counts:
        affinities = self._sensors.affinities(centroid_sums)
        costs = (affinities.max(axis=0) - affinities).astype(np.int64)
        clusters, sensors = costs.shape
        from_sensor = np.tile(np.arange(sensors), clusters)
        to_cluster = np.repeat(sensors + np.arange(clusters), sensors)
        flow = self._module.SimpleMinCostFlow()
        flow.add_arcs_with_capacity_and_unit_cost(from_sensor, to_cluster, np.ones(costs.size, np.int64), costs.ravel())
        supplies = np.r_[np.ones(sensors, np.int64), np.full(clusters, -self._cluster_size)]
        flow.set_nodes_supplies(np.arange(sensors + clusters), supplies)
        assert flow.solve() == flow.OPTIMAL
        flows = np.asarray(flow.flows(np.arange(costs.size)), np.int64).reshape(costs.shape)
        return np.asarray(flows.argmax(axis=0), np.int64)


def _objective(counts: Counts, labels: Counts, clusters: int) -> float:
    sums = SensorCounts(counts).sums(labels, clusters)
    return (float((counts**2).sum()) - float((sums**2).sum()) * clusters / len(counts)) / 2


RIVALS: dict[str, Callable[[Counts, Counts], tuple[Counts, int]]] = {
    "k-means-constrained": _k_means_constrained,
    "min-cost-flow": _min_cost_flow,
}

if __name__ == "__main__":
    main(sys.argv[1], Size(int(sys.argv[2]), int(sys.argv[3])), int(sys.argv[4]))
