"""The world side: bytes, joules and simulated seconds, on SimPy. It knows nothing of tensors."""

from hfedms_sim.world.energy.meter import States
from hfedms_sim.world.faults.conditions import Stalled
from hfedms_sim.world.world import RoundCost, World

__all__ = ["RoundCost", "Stalled", "States", "World"]
