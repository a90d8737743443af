"""ComputeDevice: what a sensor computes with."""

from dataclasses import dataclass
from math import inf

INSTANT = "instant"


@dataclass(frozen=True, slots=True)
class ComputeDevice:
    """A sustained rate, all of it used while there is work, and the power it takes then. Sources: assumed."""

    multiply_adds_per_s: float
    power_w: float

    def work_s(self, multiply_adds: float) -> float:
        return multiply_adds / self.multiply_adds_per_s


DEVICES: dict[str, ComputeDevice] = {
    INSTANT: ComputeDevice(inf, 0.0),
    "mcu": ComputeDevice(0.2e9, 0.5),
    "cortex-a53": ComputeDevice(2e9, 2.0),
    "edge-gpu": ComputeDevice(100e9, 10.0),
}
