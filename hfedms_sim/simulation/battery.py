"""Joules in the summary of a run: by state, and how long a battery lasts.

A life is charge / joules a day. Two days are looked at: one of rounds as they were played, without a break or with the
rests of `round_period_s`, and one of `sensors.rounds_per_day` such rounds with the radio at rest between them
(world/energy/sensor_energy.py). Each is stated for the mean sensor and for the one that spends most.

Left out: self-discharge, temperature, and that a cell gives less charge at high currents.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.scenario import Scenario
from hfedms_sim.units import SECONDS_PER_DAY
from hfedms_sim.world.world import World

_NO_REASON = "the profile has no currents"


class Life(NamedTuple):
    """Days; None if nothing is spent."""

    mean_d: float | None
    worst_d: float | None
    worst_sensor: int


def energy_summary(scenario: Scenario, world: World, rounds: int) -> dict[str, Any]:
    """Return the keys of the summary that say where the joules went, and how long a battery lasts."""
    states = world.energy_by_state_j
    return {
        "energy_by_state": None if states is None else states._asdict(),
        "energy_extrapolated": extrapolated(scenario),
        "energy_missing": missing(scenario),
        "battery_life": None if states is None or not world.now_s else _lives(scenario, world, rounds),
    }


def extrapolated(scenario: Scenario) -> list[str]:
    """Return the extrapolated figures of the energy of all profiles, as `PROFILE: KEY`."""
    profiles = {cell.profile.name: cell.profile for cell in scenario.cells}
    return [
        f"{name}: {key}"
        for name, profile in profiles.items()
        for key in profile.extrapolated
        if key.startswith("energy.")
    ]


def missing(scenario: Scenario) -> list[str]:
    """Return which profiles have no figures of energy, as `PROFILE: WHY`."""
    profiles = {cell.profile.name: cell.profile for cell in scenario.cells if cell.profile.energy is None}
    return [f"{name}: {profile.sources.get('energy', _NO_REASON)}" for name, profile in profiles.items()]


def _lives(scenario: Scenario, world: World, rounds: int) -> dict[str, Any]:
    spent = world.energy_of_sensors()
    days = {
        "continuous": spent.total_j * (SECONDS_PER_DAY / spent.elapsed_s),
        "rounds_per_day": None if world.has_windows else spent.joules_a_day(rounds, scenario.sensors.rounds_per_day),
    }
    battery_j = scenario.sensors.battery_j
    return {which: None if each is None else _life(battery_j, each)._asdict() for which, each in days.items()}


def _life(battery_j: float, joules_a_day: NDArray[np.float64]) -> Life:
    worst = int(np.argmax(joules_a_day))
    mean_j, worst_j = float(joules_a_day.mean()), float(joules_a_day[worst])
    return Life(battery_j / mean_j if mean_j > 0 else None, battery_j / worst_j if worst_j > 0 else None, worst)
