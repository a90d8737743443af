"""Networks that are no plain stacks of layers. Their modules are in `learning/modules`."""

from typing import TYPE_CHECKING

from hfedms_sim.models.base import Model
from hfedms_sim.scenario import DataShape

if TYPE_CHECKING:
    from torch import nn

_SERIES = DataShape((1, 1024), 10)


class ResNet8(Model):
    name = "resnet8"
    about = "residual network of 8 layers with BatchNorm, for images"
    example = DataShape((3, 32, 32), 10)

    def module(self, input_shape: tuple[int, ...], classes: int) -> "nn.Module":
        from hfedms_sim.learning.modules import resnet8

        return resnet8(input_shape, classes)


class Conv1d(Model):
    name = "conv1d"
    about = "three convolutions over time, for series"
    example = _SERIES

    def module(self, input_shape: tuple[int, ...], classes: int) -> "nn.Module":
        from hfedms_sim.learning.modules import conv1d

        return conv1d(input_shape, classes)


class Lstm(Model):
    name = "lstm"
    about = "a recurrent network, for series"
    example = _SERIES

    def module(self, input_shape: tuple[int, ...], classes: int) -> "nn.Module":
        from hfedms_sim.learning.modules import lstm

        return lstm(input_shape, classes)
