"""Engines: how the chains of a round are trained. All give the same result to float rounding."""

from hfedms_sim.learning.engine.base import Chain, Engine, LocalSet, Loss, Sgd, cross_entropy
from hfedms_sim.learning.engine.generic import GenericEngine

__all__ = ["Chain", "Engine", "GenericEngine", "LocalSet", "Loss", "Sgd", "cross_entropy"]
