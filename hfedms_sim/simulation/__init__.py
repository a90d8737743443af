"""run(scenario) -> RunResult: the only place where the world and the learning side meet."""

from hfedms_sim.simulation.run import run
from hfedms_sim.simulation.session import Progress

__all__ = ["Progress", "run"]
