"""The machine park: what makes a machine, and a sensor on it, sound as it does.

A machine is a shaft in a bearing that drives a gear. Of its own it has the bearing (`bearings.py`), shaft speed, load,
the teeth of its pinion, two structural resonances with their damping, an amount of imbalance that counts as healthy,
and a mounting with a gain. A hall of some machines shares its noise: a level, how much of it is rumble, and the hum of
something else that runs there. A sensor has its own path: a gain, a shift of the resonances (they depend on how it
is fastened), how well it hears each resonance, the shaft and the gear, and phases.

The rate is RATE_HZ = 2,048 per second, so a window of 1,024 samples lasts half a second and a bin of its spectrum is 2
Hz. Shafts turn at 28 to 34 Hz (1,680 to 2,040 a minute) and cages at 0.38 to 0.44 of that, so that a window holds more
than five turns of any cage. The resonances lie at 400 to 900 Hz, below half the rate. A bearing of this size is
usually listened to at some kilohertz, where resonances are clearer; this is a sensor for radio and battery, whose
resonances are those of machine casing and mounting.

Ranges are ours, chosen so that machines differ clearly and none of them is absurd. Everything is a function of
(seed, machine) or (seed, sensor) alone.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.data.vibration.bearings import BEARINGS
from hfedms_sim.seeds import Draws

RATE_HZ = 2048.0
SHAFT_HZ = (28.0, 34.0)
MODES = 2
HALF_ORDERS = 20
"""Shaft components go up to ten times the shaft frequency, in halves."""

_PINION_TEETH = (11, 13, 14, 16, 17)
_MODES_HZ = ((420.0, 580.0), (660.0, 860.0))
_MACHINES_A_HALL = 6
_ORDERS = np.array([bearing.orders for bearing in BEARINGS])
_OUTER, _INNER, _SPIN, _CAGE = range(4)

Real = NDArray[np.float64]
Whole = NDArray[np.int64]


class Places(NamedTuple):
    """Where windows are recorded, a row for each window: the machine, its hall, and the sensor's path."""

    shaft_hz: Real
    load: Real
    outer_order: Real
    inner_order: Real
    spin_order: Real
    cage_order: Real
    teeth: Whole
    mode_hz: Real
    damping: Real
    mode_gain: Real
    residual: Real
    shaft_gain: Real
    mesh_gain: Real
    gain: Real
    phases: Real
    noise: Real
    rumble: Real
    hum: Real
    hum_hz: Real


def places(draws: Draws, sensors: Whole, sensors_per_machine: int) -> Places:
    machines = sensors // sensors_per_machine
    halls = machines // _MACHINES_A_HALL
    modes = np.arange(MODES)

    def of_machine(what: str, low: float, high: float) -> Real:
        return _between(low, high, draws.uniform(f"vibration/{what}", machines))

    def of_sensor(what: str, low: float, high: float) -> Real:
        return _between(low, high, draws.uniform(f"vibration/{what}", sensors))

    orders = _ORDERS[_choice(draws, "bearing", machines, len(BEARINGS))]
    lowest, highest = np.array(_MODES_HZ).T
    own = _between(lowest, highest, draws.uniform("vibration/mode", machines[:, None], modes))
    shift = _between(0.96, 1.04, draws.uniform("vibration/shift", sensors[:, None], modes))
    return Places(
        shaft_hz=of_machine("speed", *SHAFT_HZ),
        load=of_machine("load", 0.75, 1.3),
        outer_order=orders[:, _OUTER],
        inner_order=orders[:, _INNER],
        spin_order=orders[:, _SPIN],
        cage_order=orders[:, _CAGE],
        teeth=np.array(_PINION_TEETH)[_choice(draws, "teeth", machines, len(_PINION_TEETH))],
        mode_hz=own * shift,
        damping=_between(0.05, 0.09, draws.uniform("vibration/damping", machines[:, None], modes)),
        mode_gain=_between(0.5, 1.2, draws.uniform("vibration/path", sensors[:, None], modes)),
        residual=of_machine("residual", 0.7, 1.5),
        shaft_gain=of_sensor("shaft", 0.8, 1.25),
        mesh_gain=of_sensor("mesh", 0.7, 1.3),
        gain=of_machine("mounting", 0.8, 1.25) * of_sensor("gain", 0.8, 1.25),
        phases=2 * np.pi * draws.uniform("vibration/phases", sensors[:, None], np.arange(HALF_ORDERS)),
        noise=_between(0.1, 0.25, draws.uniform("vibration/noise", halls)),
        rumble=_between(0.0, 0.1, draws.uniform("vibration/rumble", halls)),
        hum=_between(0.0, 0.2, draws.uniform("vibration/hum", halls)),
        hum_hz=_between(80.0, 400.0, draws.uniform("vibration/hum_hz", halls)),
    )


def _choice(draws: Draws, what: str, machines: Whole, choices: int) -> Whole:
    return (draws.uniform(f"vibration/{what}", machines) * choices).astype(np.int64)


def _between(low: float | Real, high: float | Real, uniform: Real) -> Real:
    return np.asarray(low + (high - low) * uniform)
