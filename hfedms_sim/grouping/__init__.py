"""Which sensors form a chain. A grouping takes K sensors and a number of groups M and returns M disjoint groups."""

from hfedms_sim.grouping.random_split import random_groups

__all__ = ["random_groups"]
