"""What limits a run, read from its trace: how busy each cell was, and the critical path of each round."""

from hfedms_sim.limits.analysis import Limits, limits_of
from hfedms_sim.limits.critical_path import CriticalPath, PathStep, Seconds
from hfedms_sim.limits.limited_by import CAUSES, Cause, LimitedBy

__all__ = ["CAUSES", "Cause", "CriticalPath", "LimitedBy", "Limits", "PathStep", "Seconds", "limits_of"]
