"""A long short-term memory, for series: one layer of 64 units; the last hidden state is the semantic vector.

S. Hochreiter, J. Schmidhuber, "Long Short-Term Memory", Neural Computation 9 (1997) 1735-1780, with the forget gates of
F. Gers, J. Schmidhuber, F. Cummins, "Learning to Forget", Neural Computation 12 (2000) 2451-2471, as torch has it.

A series of up to 64 samples is read sample by sample, with a feature for each channel. A longer one is read in at most
64 frames of equal length, whose samples of all channels are the features: a window of 1,024 samples in 64 frames of 16.
Gradients then go back over few steps, and a pass is short. Where frames do not divide a series, zeros stand before it.

Left out: peepholes, several layers, both directions, dropout.
"""

from math import ceil

from torch import Tensor, nn
from torch.nn import functional

from hfedms_sim.learning.modules.shapes import series_shape, with_channels

HIDDEN = 64
MOST_STEPS = 64


def lstm(input_shape: tuple[int, ...], classes: int) -> nn.Module:
    """Return the network for series (channels, length) or, with one channel, (length,)."""
    channels, length = series_shape("lstm", input_shape)
    frame = ceil(length / MOST_STEPS)
    return nn.Sequential(
        with_channels(2, input_shape),
        Frames(frame),
        LastHidden(channels * frame, HIDDEN),
        nn.Linear(HIDDEN, classes),
    )


class Frames(nn.Module):
    """Cuts series (samples, channels, length) into (samples, steps, features)."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self._length = length

    def forward(self, series: Tensor) -> Tensor:
        filled = functional.pad(series, (-series.shape[-1] % self._length, 0))
        frames: Tensor = filled.unflatten(-1, (-1, self._length))
        return frames.transpose(1, 2).flatten(2)


class LastHidden(nn.Module):
    """The hidden state of an LSTM after the last step."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(features, hidden, batch_first=True)

    def forward(self, steps: Tensor) -> Tensor:
        last: Tensor = self.lstm(steps)[0][:, -1]
        return last
