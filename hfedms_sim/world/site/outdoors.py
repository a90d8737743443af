"""How much open ground weakens a radio signal: 3GPP TR 38.901, rural and urban macro cells.

Tables 7.4.1-1 and 7.4.2-1; f in GHz, d2 the distance on the ground and d3 the slanted one in m, lg to base 10.

RMa, a mast of 35 m over low buildings (h = 5 m high, streets W = 20 m wide):
- line of sight up to d_BP = 2 pi h_BS h_UT f / c: PL1(d3) = 20 lg(40 pi d3 f / 3) + min(0.03 h^1.72, 10) lg d3
  - min(0.044 h^1.72, 14.77) + 0.002 lg(h) d3, sigma 4 dB; beyond: PL1(d_BP) + 40 lg(d3 / d_BP), sigma 6 dB;
- without it: the larger of that and 161.04 - 7.1 lg W + 7.5 lg h - (24.37 - 3.7 (h / h_BS)^2) lg h_BS
  + (43.42 - 3.1 lg h_BS) (lg d3 - 3) + 20 lg f - (3.2 lg(11.75 h_UT)^2 - 4.97), sigma 8 dB;
- P(line of sight) = exp(-(d2 - 10) / 1000), 1 up to 10 m.

UMa, an antenna of 25 m on a roof:
- line of sight up to d_BP = 4 (h_BS - 1) (h_UT - 1) f / c: 28 + 22 lg d3 + 20 lg f; beyond: 28 + 40 lg d3 + 20 lg f
  - 9 lg(d_BP^2 + (h_BS - h_UT)^2); sigma 4 dB;
- without it: the larger of that and 13.54 + 39.08 lg d3 + 20 lg f - 0.6 (h_UT - 1.5), sigma 6 dB;
- P(line of sight) = 18 / d2 + exp(-d2 / 63) (1 - 18 / d2), 1 up to 18 m.

Heights of sensors are 1.5 m. The formulas were fitted from 10 m to 5 km (RMa in line of sight 10 km) and 0.5 GHz on;
outside they are extrapolated. Left out: terrain, losses into buildings (`extra_loss_db`), sensors above 13 m.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_LIGHT_M_PER_S = 3.0e8  # as the report rounds it
_HERTZ = 1e9  # a GHz
_BUILDING_HEIGHT_M = 5.0
_STREET_WIDTH_M = 20.0
_ENVIRONMENT_HEIGHT_M = 1.0  # what UMa takes off both antennas

RURAL_BASE_HEIGHT_M = 35.0
URBAN_BASE_HEIGHT_M = 25.0


@dataclass(frozen=True, slots=True)
class RuralMacro:
    """RMa."""

    carrier_ghz: float
    sensor_height_m: float
    base_height_m: float = RURAL_BASE_HEIGHT_M

    @property
    def breakpoint_m(self) -> float:
        return 2 * math.pi * self.base_height_m * self.sensor_height_m * self.carrier_ghz * _HERTZ / _LIGHT_M_PER_S

    def los_probability(self, distance_2d_m: Floats) -> Floats:
        return np.exp(-np.maximum(distance_2d_m - 10.0, 0.0) / 1000.0)

    def loss_db(self, distance_2d_m: Floats, distance_m: Floats, los: Flags) -> Floats:
        beyond_db = self._near_db(np.float64(self.breakpoint_m)) + 40 * np.log10(distance_m / self.breakpoint_m)
        clear_db = np.where(distance_2d_m <= self.breakpoint_m, self._near_db(distance_m), beyond_db)
        return np.where(los, clear_db, np.maximum(clear_db, self._blocked_db(distance_m)))

    def sigma_db(self, distance_2d_m: Floats, los: Flags) -> Floats:
        return np.where(los, np.where(distance_2d_m <= self.breakpoint_m, 4.0, 6.0), 8.0)

    def _near_db(self, distance_m: Floats | np.float64) -> Floats:
        """Return the loss in line of sight before the breakpoint."""
        height = _BUILDING_HEIGHT_M**1.72
        free_db = 20 * np.log10(40 * math.pi * distance_m * self.carrier_ghz / 3)
        slope_db = min(0.03 * height, 10.0) * np.log10(distance_m) - min(0.044 * height, 14.77)
        return np.asarray(free_db + slope_db + 0.002 * math.log10(_BUILDING_HEIGHT_M) * distance_m)

    def _blocked_db(self, distance_m: Floats) -> Floats:
        base_m, lg_base = self.base_height_m, math.log10(self.base_height_m)
        streets_db = 161.04 - 7.1 * math.log10(_STREET_WIDTH_M) + 7.5 * math.log10(_BUILDING_HEIGHT_M)
        base_db = (24.37 - 3.7 * (_BUILDING_HEIGHT_M / base_m) ** 2) * lg_base
        sensor_db = 3.2 * math.log10(11.75 * self.sensor_height_m) ** 2 - 4.97
        fixed_db = streets_db - base_db + 20 * math.log10(self.carrier_ghz) - sensor_db
        return np.asarray(fixed_db + (43.42 - 3.1 * lg_base) * (np.log10(distance_m) - 3))


@dataclass(frozen=True, slots=True)
class UrbanMacro:
    """UMa."""

    carrier_ghz: float
    sensor_height_m: float
    base_height_m: float = URBAN_BASE_HEIGHT_M

    @property
    def breakpoint_m(self) -> float:
        heights_m2 = (self.base_height_m - _ENVIRONMENT_HEIGHT_M) * (self.sensor_height_m - _ENVIRONMENT_HEIGHT_M)
        return 4 * heights_m2 * self.carrier_ghz * _HERTZ / _LIGHT_M_PER_S

    def los_probability(self, distance_2d_m: Floats) -> Floats:
        near = 18.0 / np.maximum(distance_2d_m, 18.0)
        return np.asarray(near + np.exp(-distance_2d_m / 63.0) * (1 - near))

    def loss_db(self, distance_2d_m: Floats, distance_m: Floats, los: Flags) -> Floats:
        lg_distance, carrier_db = np.log10(distance_m), 20 * math.log10(self.carrier_ghz)
        rise_m = self.base_height_m - self.sensor_height_m
        beyond_db = 28.0 + 40 * lg_distance - 9 * math.log10(self.breakpoint_m**2 + rise_m**2)
        clear_db = np.where(distance_2d_m <= self.breakpoint_m, 28.0 + 22 * lg_distance, beyond_db) + carrier_db
        blocked_db = 13.54 + 39.08 * lg_distance + carrier_db - 0.6 * (self.sensor_height_m - 1.5)
        return np.where(los, clear_db, np.maximum(clear_db, blocked_db))

    def sigma_db(self, distance_2d_m: Floats, los: Flags) -> Floats:
        return np.where(los, 4.0, 6.0)
