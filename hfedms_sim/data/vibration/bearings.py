"""Kinematics of rolling bearings: how often a fault of each part is struck in one turn of the shaft.

With n rolling elements of diameter d on a pitch circle of diameter D, a contact angle a, g = (d / D) cos a and the
outer ring at rest, in orders (multiples of the shaft frequency):

    outer race  BPFO = n / 2 (1 - g)
    inner race  BPFI = n / 2 (1 + g)
    ball spin   BSF  = D / (2 d) (1 - g^2); a spot on a ball strikes both races, so twice in a spin
    cage        FTF  = 1 / 2 (1 - g)

Source: R. B. Randall and J. Antoni, Rolling element bearing diagnostics - a tutorial, Mechanical Systems and Signal
Processing 25 (2011) 485-520, doi:10.1016/j.ymssp.2010.07.017. The bearings are those of public test rigs, whose
geometry and fault frequencies are published; `source` says by whom.

Left out: the mean slip of real bearings (their frequencies lie up to 1 or 2 % off) and a contact angle that follows the
load. Impulses scatter around the kinematic rhythm instead (`impulses.py`).
"""

from math import cos, radians
from typing import NamedTuple

_MM_AN_INCH = 25.4


class FaultOrders(NamedTuple):
    """Multiples of the shaft frequency."""

    outer_race: float
    inner_race: float
    ball_spin: float
    cage: float


class Bearing(NamedTuple):
    name: str
    rolling_elements: int
    element_diameter_mm: float
    pitch_diameter_mm: float
    contact_angle_deg: float
    source: str

    @property
    def orders(self) -> FaultOrders:
        ratio = self.element_diameter_mm / self.pitch_diameter_mm
        projected = ratio * cos(radians(self.contact_angle_deg))
        return FaultOrders(
            outer_race=self.rolling_elements / 2 * (1 - projected),
            inner_race=self.rolling_elements / 2 * (1 + projected),
            ball_spin=(1 - projected**2) / (2 * ratio),
            cage=(1 - projected) / 2,
        )


BEARINGS: tuple[Bearing, ...] = (
    Bearing(
        "SKF 6205", 9, 0.3126 * _MM_AN_INCH, 1.537 * _MM_AN_INCH, 0.0, "CWRU Bearing Data Center, drive end of the rig"
    ),
    Bearing(
        "SKF 6203", 8, 0.2656 * _MM_AN_INCH, 1.122 * _MM_AN_INCH, 0.0, "CWRU Bearing Data Center, fan end of the rig"
    ),
    Bearing("LDK UER204", 8, 7.92, 34.55, 0.0, "XJTU-SY bearing data sets"),
    Bearing("NICE", 8, 0.235 * _MM_AN_INCH, 1.245 * _MM_AN_INCH, 0.0, "MFPT bearing fault data sets"),
    Bearing("Rexnord ZA-2115", 16, 0.331 * _MM_AN_INCH, 2.815 * _MM_AN_INCH, 15.17, "IMS bearing data, NASA"),
)
"""What a machine's shaft may run in."""
