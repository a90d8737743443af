"""How much a factory hall weakens a radio signal, and what rate is left: 3GPP TR 38.901, indoor factory.

Path loss (section 7.4.1, table 7.4.1-1), f in GHz, d the 3D distance in m, lg the logarithm to base 10:
- LOS, line of sight: 31.84 + 21.5 lg d + 19 lg f
- SL, sparse clutter, low base station: 33 + 25.5 lg d + 20 lg f
- DL, dense clutter, low base station: max(18.6 + 35.7 lg d + 20 lg f, SL)
- SH, sparse clutter, base station above it: 32.4 + 23 lg d + 20 lg f
- DH, dense clutter, base station above it: 33.63 + 21.9 lg d + 20 lg f
Without line of sight it is max(LOS, the hall's formula). Shadowing is normal in dB, its sigma by state.

Line of sight (section 7.4.2, table 7.4.2-1): P = exp(-d_2D / k), k = -d_clutter / ln(1 - r), for SH and DH times
(h_base - h_sensor) / (h_clutter - h_sensor), with clutter of size d_clutter covering the share r of the floor.

Rate: Shannon's law relative to 20 dB, factor = min(1, log2(1 + snr) / log2(1 + 100)), nothing below -10 dB.

Left out: fast fading, correlation of shadowing or of line of sight between neighbouring sensors or cells, losses
through walls, blockage by things that move, and interference: the noise is thermal.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hfedms_sim.scenario.placement import Environment

Floats = NDArray[np.float64]

VALID_DISTANCE_M = (1.0, 600.0)
"""Where the formulas were fitted. Nearer is taken as the lower end; beyond the upper end they are extrapolated."""
MIN_SNR_DB = -10.0
"""Below: no rate, out of coverage."""
FULL_RATE_SNR_DB = 20.0
"""From here on the peak rate."""


@dataclass(frozen=True, slots=True)
class Line:
    """A row of table 7.4.1-1: a straight line in lg d and lg f, and the shadowing around it."""

    intercept_db: float
    per_distance_decade_db: float
    per_carrier_decade_db: float
    sigma_db: float

    def loss_db(self, lg_distance: Floats, carrier_ghz: float) -> Floats:
        fixed_db = self.intercept_db + self.per_carrier_decade_db * math.log10(carrier_ghz)
        return fixed_db + self.per_distance_decade_db * lg_distance


# The sigma of LOS is 4.3 in the table of TR 38.901 V16.1; lists that say 4.0 repeat that of DH.
LINES: dict[Environment, Line] = {
    "LOS": Line(31.84, 21.5, 19.0, 4.3),
    "SL": Line(33.0, 25.5, 20.0, 5.7),
    "DL": Line(18.6, 35.7, 20.0, 7.2),
    "SH": Line(32.4, 23.0, 20.0, 5.9),
    "DH": Line(33.63, 21.9, 20.0, 4.0),
}


@dataclass(frozen=True, slots=True)
class Clutter:
    """What stands in the hall, and how high the base station hangs.

    A typical size by table 7.2-4, which calls r < 0.4 sparse and r >= 0.4 dense. Density and heights are assumed: every
    hall has its own; these are the ones 3GPP calibrates with (table 7.8-7).
    """

    size_m: float
    density: float
    height_m: float
    base_height_m: float


CLUTTER: dict[Environment, Clutter] = {
    "LOS": Clutter(size_m=10.0, density=0.2, height_m=2.0, base_height_m=8.0),
    "SL": Clutter(size_m=10.0, density=0.2, height_m=2.0, base_height_m=1.5),
    "DL": Clutter(size_m=2.0, density=0.6, height_m=6.0, base_height_m=1.5),
    "SH": Clutter(size_m=10.0, density=0.2, height_m=2.0, base_height_m=8.0),
    "DH": Clutter(size_m=2.0, density=0.6, height_m=6.0, base_height_m=8.0),
}
SENSOR_HEIGHT_M = 1.5


def loss_db(environment: Environment, distance_m: ArrayLike, los: ArrayLike, carrier_ghz: float) -> Floats:
    """Path loss of each link in its state."""
    lg_distance = np.log10(np.maximum(distance_m, VALID_DISTANCE_M[0]))
    clear_db = LINES["LOS"].loss_db(lg_distance, carrier_ghz)
    blocked_db = np.maximum(clear_db, LINES[environment].loss_db(lg_distance, carrier_ghz))
    if environment == "DL":
        blocked_db = np.maximum(blocked_db, LINES["SL"].loss_db(lg_distance, carrier_ghz))
    return np.where(los, clear_db, blocked_db)


def sigma_db(environment: Environment, los: ArrayLike) -> Floats:
    """Standard deviation of the shadowing of each link in its state."""
    return np.where(los, LINES["LOS"].sigma_db, LINES[environment].sigma_db)


def los_decay_m(environment: Environment, clutter: Clutter, sensor_height_m: float = SENSOR_HEIGHT_M) -> float:
    """k of table 7.4.2-1: the 2D distance over which line of sight gets e times rarer; infinite where it is given."""
    if environment == "LOS":
        return math.inf
    decay_m = -clutter.size_m / math.log1p(-clutter.density)
    if environment in ("SH", "DH"):
        decay_m *= (clutter.base_height_m - sensor_height_m) / (clutter.height_m - sensor_height_m)
    return decay_m


def los_probability(distance_2d_m: ArrayLike, decay_m: float) -> Floats:
    return np.exp(-np.asarray(distance_2d_m) / decay_m)


@dataclass(frozen=True, slots=True)
class IndoorFactory:
    """The law of one hall for one carrier."""

    environment: Environment
    clutter: Clutter
    carrier_ghz: float
    sensor_height_m: float

    @property
    def base_height_m(self) -> float:
        return self.clutter.base_height_m

    def los_probability(self, distance_2d_m: Floats) -> Floats:
        return los_probability(distance_2d_m, los_decay_m(self.environment, self.clutter, self.sensor_height_m))

    def loss_db(self, distance_2d_m: Floats, distance_m: Floats, los: NDArray[np.bool_]) -> Floats:
        return loss_db(self.environment, distance_m, los, self.carrier_ghz)

    def sigma_db(self, distance_2d_m: Floats, los: NDArray[np.bool_]) -> Floats:
        return sigma_db(self.environment, los)


def spectral_efficiency(snr_db: ArrayLike) -> Floats:
    """Shannon's bit/s per Hz, with no gain above the signal that already gives the peak rate."""
    snr = np.exp(np.minimum(snr_db, FULL_RATE_SNR_DB) * (math.log(10.0) / 10.0))
    return np.asarray(np.log1p(snr) / math.log(2.0))


def rate_factor(snr_db: ArrayLike) -> Floats:
    """The share of its peak rate that a radio reaches, from 0 (out of coverage) to 1."""
    share = spectral_efficiency(snr_db) / spectral_efficiency(FULL_RATE_SNR_DB)
    return np.where(np.asarray(snr_db) < MIN_SNR_DB, 0.0, share)
