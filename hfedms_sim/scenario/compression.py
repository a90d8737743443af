"""What a strategy sends in fewer bytes, and how many these are. docs/compression.md has the equations.

A message of n trained numbers takes, beside four bytes for each number that no gradient changes:

    none      4 n
    float16   2 n
    int8      1 for each number of a tensor of two or more dimensions, 4 for each of its output channels (a scale) and
              for each other number
    topk      8 k, a value and its index each, k = max(1, ceil(share n)); as none where that is not longer

Sizes need no tensors: plans, timing-only runs and the feasibility line ask here. What becomes of the numbers is in
learning/compression.py.
"""

from math import ceil
from typing import Literal, NamedTuple

from hfedms_sim.scenario.base import Fraction, Settings
from hfedms_sim.units import BYTES_PER_PARAMETER

Quantiser = Literal["none", "float16", "int8"]
UplinkCodec = Literal["none", "float16", "int8", "topk"]

_FLOAT16_BYTES, _INT8_BYTES, _INDEX_BYTES = 2, 1, 4
_ROUNDING = 1e-9


class Matrices(NamedTuple):
    """The trained tensors of two or more dimensions: what int8 shortens."""

    numbers: int
    channels: int
    """Lengths of their first dimensions; each channel has a scale."""


NO_MATRICES = Matrices(0, 0)


class Contents(NamedTuple):
    """What a message holds, as codecs see it."""

    plain_bytes: int
    """Without compression."""
    trained: int
    matrices: Matrices

    def with_more(self, trained: int, matrices: Matrices) -> "Contents":
        """Return a message that holds this many trained numbers more, these matrices among them."""
        numbers, channels = self.matrices
        return Contents(
            self.plain_bytes + BYTES_PER_PARAMETER * trained,
            self.trained + trained,
            Matrices(numbers + matrices.numbers, channels + matrices.channels),
        )


class LegBytes(NamedTuple):
    """The size of one message on each leg of its way."""

    downlink: int
    relay: int
    uplink: int


class Compression(Settings):
    """What goes over the air in fewer bytes, leg by leg; what is learnt is what arrives."""

    uplink: UplinkCodec = "none"
    """What the last sensor of a chain sends to the server: as it is, rounded to float16 or int8, or the largest
    changes only."""
    downlink: Quantiser = "none"
    """What the server sends."""
    relay: Quantiser = "none"
    """What one sensor of a chain hands to the next."""
    share: Fraction = 0.01
    """Which part of the numbers of a model topk sends."""

    @property
    def is_off(self) -> bool:
        return self.uplink == self.downlink == self.relay == "none"

    def sent_numbers(self, trained: int) -> int:
        """Return k, how many topk sends of this many numbers."""
        return max(1, ceil(self.share * trained - _ROUNDING))

    def uplink_codec(self, trained: int) -> UplinkCodec:
        """Return what is done to this many numbers: a topk that would not be shorter sends all of them, as they are."""
        pair_bytes = BYTES_PER_PARAMETER + _INDEX_BYTES
        is_no_shorter = pair_bytes * self.sent_numbers(trained) >= BYTES_PER_PARAMETER * trained
        return "none" if self.uplink == "topk" and is_no_shorter else self.uplink

    def leg_bytes(self, message: Contents) -> LegBytes:
        """Return how long a message is on each leg."""
        legs = (self.downlink, self.relay, self.uplink_codec(message.trained))
        return LegBytes(*(self._bytes(codec, message) for codec in legs))

    def _bytes(self, codec: UplinkCodec, message: Contents) -> int:
        plain_bytes, trained, matrices = message
        if codec == "float16":
            return plain_bytes - (BYTES_PER_PARAMETER - _FLOAT16_BYTES) * trained
        if codec == "int8":
            saved_bytes = (BYTES_PER_PARAMETER - _INT8_BYTES) * matrices.numbers
            return plain_bytes - saved_bytes + BYTES_PER_PARAMETER * matrices.channels
        if codec == "topk":
            pairs_bytes = (BYTES_PER_PARAMETER + _INDEX_BYTES) * self.sent_numbers(trained)
            return plain_bytes - BYTES_PER_PARAMETER * trained + pairs_bytes
        return plain_bytes
