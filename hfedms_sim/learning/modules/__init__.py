"""Networks that ship as PyTorch modules: one file each, a function of the input's shape and the number of classes.

Shapes are channel-first and without the batch: (3, 32, 32), (1, 1024), (16,). The last dense layer is the classifier,
its input the semantic vector. Weights are initialised as torch does, from its own generator.
"""

from hfedms_sim.learning.modules.conv1d import conv1d
from hfedms_sim.learning.modules.lstm import lstm
from hfedms_sim.learning.modules.resnet8 import resnet8

__all__ = ["conv1d", "lstm", "resnet8"]
