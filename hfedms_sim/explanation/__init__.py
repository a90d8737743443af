"""What limited a run and what would help, as plain data. docs/explain.md."""

from hfedms_sim.explanation.energy import Energy, StateEnergy
from hfedms_sim.explanation.explanation import Explanation, explain
from hfedms_sim.explanation.path_sections import PathSection, SpentOn, TypicalRound
from hfedms_sim.explanation.replay import Figures
from hfedms_sim.explanation.what_ifs import WhatIf
from hfedms_sim.explanation.worst_sensors import WorstSensor

__all__ = [
    "Energy",
    "Explanation",
    "Figures",
    "PathSection",
    "SpentOn",
    "StateEnergy",
    "TypicalRound",
    "WhatIf",
    "WorstSensor",
    "explain",
]
