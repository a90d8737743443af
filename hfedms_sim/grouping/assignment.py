"""Equal-size assignment: the best sensors for every cluster, for fixed centroids, by a choice of exact solvers.

All solvers maximise the same integer (`affinity.py`) and reach the same value; where several assignments reach it, each
returns one of them. A solver is made for one set of sensors and keeps what helps from one call to the next.
"""

from collections.abc import Callable
from typing import Literal, Protocol, get_args

from hfedms_sim.errors import InputError
from hfedms_sim.grouping.affinity import Counts, Labels, Sums
from hfedms_sim.grouping.exact import ExactSolver
from hfedms_sim.grouping.lsa import LinearSumAssignment
from hfedms_sim.grouping.pulp_solvers import FlowProgram, IntegerProgram

SolverName = Literal["auto", "pulp", "pulp-ilp", "exact", "lsa"]

_LARGEST_FOR_PULP = 25_000  # sensors x clusters; `exact` is quicker everywhere, `pulp` is the paper's tool
_MOST_PAIRS = {
    "pulp": 1_000_000,  # sensors x clusters, 0.6 GB and many minutes
    "pulp-ilp": 1_000_000,
    "exact": 200_000_000,  # 0.8 to 1.6 GB for the affinities alone
    "lsa": 200_000_000,
}


class AssignmentSolver(Protocol):
    def assign(self, centroid_sums: Sums) -> Labels:
        """Return the cluster of each sensor. Sums may be scaled by any positive factor common to all clusters."""


SOLVERS: dict[str, Callable[[Counts, int], AssignmentSolver]] = {
    "pulp": FlowProgram,
    "pulp-ilp": IntegerProgram,
    "exact": ExactSolver,
    "lsa": LinearSumAssignment,
}


def make_solver(name: SolverName, counts: Counts, cluster_size: int) -> AssignmentSolver:
    """Return the named solver for these sensors. One that is not installed is an error, never another solver."""
    if name not in get_args(SolverName):
        raise InputError(f"solver = {name}: unknown; known: {', '.join(get_args(SolverName))}")
    pairs = len(counts) * (len(counts) // cluster_size)
    if name == "auto":
        name = "pulp" if pairs <= _LARGEST_FOR_PULP else "exact"
    if pairs > _MOST_PAIRS[name]:
        raise InputError(
            f"solver = {name}: {len(counts)} sensors in clusters of {cluster_size} are {pairs} pairs of sensor and "
            f"cluster; at most {_MOST_PAIRS[name]}: set solver to auto or nested, or ask for more groups"
        )
    return SOLVERS[name](counts, cluster_size)
