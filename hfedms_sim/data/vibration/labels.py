"""Which conditions a machine's sensors hear, and how often: the law of labels of `vibration`, vectorised over sensors.

There are ten conditions: health and nine faults. A machine has a history: it runs healthy for a share h of its windows,
and the rest is shared by the few faults it is prone to. All its sensors hear that machine, so they share its law: this
is where the skew of labels comes from, and `machines.py` gives the same machine a sound of its own, so labels
and features are skewed by one cause.

Faults are dealt, not drawn freely: nine machines in a row have each fault equally often, so that a small park has all
of them. With a random order of the faults and a random start s of each of the nine machines, all different, a machine
prone to k faults has those in the places s, ..., s + k - 1 of the order, cyclically. Their shares are even numbers from
1 to 2, normalised.

Of a window with keyed even numbers u, the label is the first class whose cumulated weight exceeds u. When windows are
dealt `evenly`, a sensor's window is of a sensor drawn anew for each window: the same windows on the whole, and the
same law for everybody. That is the iid split to compare with.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.seeds import Draws


class Condition(IntEnum):
    """The classes, by label."""

    HEALTHY = 0
    OUTER_RACE = 1
    INNER_RACE = 2
    BALL = 3
    CAGE = 4
    IMBALANCE = 5
    MISALIGNMENT = 6
    LOOSENESS = 7
    GEAR_WEAR = 8
    BROKEN_TOOTH = 9


CONDITIONS = tuple(condition.name.lower().replace("_", " ") for condition in Condition)
"""The name of each label."""

FAULTS = len(Condition) - 1
HEALTHY_SHARE = 0.25

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class VibrationLabels:
    draws: Draws
    sensors: int
    sensors_per_machine: int
    faults_per_machine: int
    evenly: bool = False

    def machines_of(self, sensors: Whole) -> Whole:
        return np.asarray(sensors // self.sensors_per_machine)

    def faults_of(self, machines: Whole) -> Whole:
        """Return the labels of the faults each machine is prone to: (machines, faults_per_machine)."""
        nine, place = machines // FAULTS, machines % FAULTS
        order = 1 + np.argsort(self.draws.bits("vibration/faults", nine[:, None], np.arange(FAULTS)), axis=1)
        starts = np.argsort(self.draws.bits("vibration/starts", nine[:, None], np.arange(FAULTS)), axis=1)
        start = np.take_along_axis(starts, place[:, None], axis=1)
        return np.take_along_axis(order, (start + np.arange(self.faults_per_machine)) % FAULTS, axis=1)

    def weights(self, sensors: Whole) -> NDArray[np.float64]:
        """Return how likely each condition is in a window that the sensor hears of its own machine: (sensors, 10)."""
        machines = self.machines_of(sensors)
        shares = 1 + self.draws.uniform("vibration/shares", machines[:, None], np.arange(self.faults_per_machine))
        shares *= (1 - HEALTHY_SHARE) / shares.sum(axis=1, keepdims=True)
        weights = np.zeros((len(sensors), len(Condition)))
        weights[:, Condition.HEALTHY] = HEALTHY_SHARE
        np.put_along_axis(weights, self.faults_of(machines), shares, axis=1)
        return weights

    def heard(self, sensors: Whole, arrivals: Whole) -> Whole:
        """Return the sensor at whose place each window was recorded: its own, unless windows are dealt evenly."""
        if not self.evenly:
            return sensors
        return (self.draws.uniform("vibration/dealt", sensors, arrivals) * self.sensors).astype(np.int64)

    def labels(self, sensors: Whole, arrivals: Whole) -> Whole:
        """Return the condition in each window, by pairs of sensor and arrival."""
        used, which = np.unique(self.heard(sensors, arrivals), return_inverse=True)
        points = self.draws.uniform("vibration/label", sensors, arrivals)
        labels = np.zeros(len(which), dtype=np.int64)
        for ends in np.cumsum(self.weights(used), axis=1).T[:-1]:  # class by class, which is quicker than all at once
            labels += ends[which] <= points
        return labels
