"""Engines: how the chains of a round are trained. All give the same result to float rounding."""

from collections.abc import Callable

from hfedms_sim.learning.engine.base import Chain, Engine, LocalSet, Norm, Sgd, TrainedChains
from hfedms_sim.learning.engine.generic import GenericEngine
from hfedms_sim.learning.engine.losses import CROSS_ENTROPY, Loss
from hfedms_sim.learning.engine.lowrank import LowRankEngine
from hfedms_sim.learning.engine.native import NativeEngine
from hfedms_sim.learning.networks import Network

ENGINES: dict[str, Callable[[Network, int], Engine]] = {
    "generic": lambda network, _: GenericEngine(network),
    "lowrank": LowRankEngine,
    "native": NativeEngine,
}
"""What makes each engine of a network and a number of threads."""

__all__ = [
    "CROSS_ENTROPY",
    "ENGINES",
    "Chain",
    "Engine",
    "GenericEngine",
    "LocalSet",
    "Loss",
    "LowRankEngine",
    "NativeEngine",
    "Norm",
    "Sgd",
    "TrainedChains",
]  # fmt: skip
