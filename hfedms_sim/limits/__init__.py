"""What limits a run, read from its trace: how busy each cell was, and the critical path of each round."""

from hfedms_sim.limits.analysis import Limits, limits_of
from hfedms_sim.limits.columns import TABLES_READ
from hfedms_sim.limits.critical_path import CriticalPath, PathStep, Seconds
from hfedms_sim.limits.limited_by import CAUSES, Cause, CauseShare, Detail, LimitedBy, seconds_by_cause
from hfedms_sim.limits.round_selection import typical_round

__all__ = [
    "CAUSES",
    "TABLES_READ",
    "Cause",
    "CauseShare",
    "CriticalPath",
    "Detail",
    "LimitedBy",
    "Limits",
    "PathStep",
    "Seconds",
    "limits_of",
    "seconds_by_cause",
    "typical_round",
]
