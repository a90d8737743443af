"""The names of a network's trained layers: all that the fast engines know of its structure."""

from typing import NamedTuple

from torch import nn

from hfedms_sim.learning.fusion import FusionNetwork
from hfedms_sim.learning.networks import Network


class LayerNames(NamedTuple):
    """Convolutions, what fuses their features with those of frozen ones, dense layers; the last gives the logits."""

    convolutions: tuple[str, ...]
    dense: tuple[str, ...]
    fusion: tuple[str, ...] = ()
    """Parameters, not layers."""

    @classmethod
    def of(cls, network: Network) -> "LayerNames":
        convolves = {name: isinstance(network.root.get_submodule(name), nn.Conv2d) for name in network.layer_names}
        return cls(
            tuple(name for name in network.layer_names if convolves[name]),
            tuple(name for name in network.layer_names if not convolves[name]),
            network.fusion_names if isinstance(network, FusionNetwork) else (),
        )

    def of_classifier(self) -> "LayerNames":
        return LayerNames((), self.dense[-1:])
