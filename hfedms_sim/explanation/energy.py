"""Where a run's joules went, and whose battery is empty first; from its summary."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class StateEnergy:
    state: str
    energy_j: float
    share: float


@dataclass(frozen=True)
class Energy:
    energy_j: float
    states: tuple[StateEnergy, ...]
    """The most first, those without joules left out; empty where an earlier version did not tell them apart."""
    mean_life_d: float | None
    """How long a battery lasts the mean sensor, if rounds go on like these; None: for ever, or not known."""
    worst_life_d: float | None
    """The same of the sensor that spends most."""
    worst_sensor: int | None
    is_extrapolated: bool
    """Whether figures of the radio are among them that nobody has measured on it."""


def energy_of(summary: Mapping[str, Any]) -> Energy | None:
    """Return the joules of a run; None where they are not modelled."""
    total_j = summary.get("energy_j")
    if total_j is None:
        return None
    by_state = sorted((summary.get("energy_by_state") or {}).items(), key=lambda item: -item[1])
    life = (summary.get("battery_life") or {}).get("continuous") or {}
    return Energy(
        energy_j=float(total_j),
        states=tuple(StateEnergy(state, own_j, own_j / total_j) for state, own_j in by_state if own_j > 0),
        mean_life_d=life.get("mean_d"),
        worst_life_d=life.get("worst_d"),
        worst_sensor=life.get("worst_sensor"),
        is_extrapolated=bool(summary.get("energy_extrapolated")),
    )
