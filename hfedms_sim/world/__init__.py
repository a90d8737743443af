"""The world side: bytes, joules and simulated seconds, on SimPy. It knows nothing of tensors."""

from hfedms_sim.world.world import World

__all__ = ["World"]
