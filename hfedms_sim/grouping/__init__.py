"""Which sensors form a chain. A grouping takes K sensors and a number of groups M and returns M disjoint groups."""

from hfedms_sim.grouping.assignment import SolverName
from hfedms_sim.grouping.distances import CpdKind, class_probability_distances, group_sums, pairwise_objective
from hfedms_sim.grouping.equal_clusters import ClusteringName, is_large
from hfedms_sim.grouping.inter_cluster import Grouping, inter_cluster_grouping
from hfedms_sim.grouping.random_split import random_groups

__all__ = [
    "ClusteringName",
    "CpdKind",
    "Grouping",
    "SolverName",
    "class_probability_distances",
    "group_sums",
    "inter_cluster_grouping",
    "is_large",
    "pairwise_objective",
    "random_groups",
]
