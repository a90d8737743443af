"""The names of a network's trained layers: all that the fast engines know of its structure."""

from typing import NamedTuple

from torch import nn

from hfedms_sim.learning.fusion import FusionNetwork
from hfedms_sim.learning.networks import EXTRACTOR, Network


class Stack(NamedTuple):
    """Convolutions, what fuses their features with those of frozen ones, dense layers; the last gives the logits."""

    convolutions: tuple[str, ...]
    dense: tuple[str, ...]
    fusion: tuple[str, ...] = ()
    """Parameters, not layers."""

    @classmethod
    def of(cls, network: Network) -> "Stack":
        named = list(network.named_modules())
        return cls(
            tuple(name for name, each in named if isinstance(each, nn.Conv2d) and name.startswith(f"{EXTRACTOR}.")),
            tuple(name for name, each in named if isinstance(each, nn.Linear)),
            network.fusion_names if isinstance(network, FusionNetwork) else (),
        )

    def of_classifier(self) -> "Stack":
        return Stack((), self.dense[-1:])
