"""run(scenario) -> RunResult: the only place where the world and the learning side meet."""

from hfedms_sim.simulation.estimate import Estimate, estimate_of
from hfedms_sim.simulation.opening import open_run, resume
from hfedms_sim.simulation.parts import Parts, outside_modules, parts_of
from hfedms_sim.simulation.play import play
from hfedms_sim.simulation.progress import Progress
from hfedms_sim.simulation.run import run
from hfedms_sim.simulation.session import PlayedRound

__all__ = [
    "Estimate",
    "Parts",
    "PlayedRound",
    "Progress",
    "estimate_of",
    "open_run",
    "outside_modules",
    "parts_of",
    "play",
    "resume",
    "run",
]
