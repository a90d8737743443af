"""Which sensors held a run up, and why, from what its tables say of them.

Sensors are ranked by their seconds on the critical paths of all rounds that were looked at; of equal ones the one with
the lower number comes first. The cause is that with most of these seconds, the reasons are figures of the `sensors`
table that are worse than they could be: rates below the profile's, faults, absence, the most airtime, the shortest life
of a battery. A sensor out of coverage is on no path: those are listed by themselves.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hfedms_sim.limits import Cause, CriticalPath, seconds_by_cause
from hfedms_sim.result import RunResult
from hfedms_sim.scenario import NetworkProfile
from hfedms_sim.units import format_bps

MOST_SENSORS = 5

_FULL = 0.999  # of a rate: below it a sensor is slower than its profile
_CAUSES: dict[Cause, str] = {
    "cell direction": "sharing its cell with others",
    "chain length": "its turns in chains, at full rate",
    "sensor rate": "airtime at its own rate",
    "duty cycle": "silences of the duty cycle",
    "compute": "computing",
    "waiting for samples": "waiting for samples",
    "set-up and paging": "set-up and paging",
    "latency": "latency",
    "faults": "what was lost or down",
}


_OF_OTHERS: tuple[Cause, ...] = ("cell direction", "duty cycle")
"""Causes that say nothing about the sensor itself."""


@dataclass(frozen=True)
class WorstSensor:
    sensor: int
    cell: str | None
    """None where the run has no table of sensors."""
    critical_s: float
    """Seconds on the critical paths of all rounds that were looked at."""
    share: float
    """What share of these paths that is."""
    rounds: int
    """How many paths it is on."""
    cause: Cause
    """What has most of its seconds."""
    cause_share: float
    """What share of its seconds that cause has."""
    reason: str
    """Why, in words with figures."""


def worst_sensors(path: CriticalPath, result: RunResult) -> tuple[WorstSensor, ...]:
    """Return the sensors with most of the seconds, at most `MOST_SENSORS`."""
    total_s = float(path.seconds.sum())
    known = path.sensor >= 0
    if not known.any() or total_s <= 0:
        return ()
    sensors, place = np.unique(path.sensor[known], return_inverse=True)
    by_cause = {
        cause: np.bincount(place, weights=seconds[known], minlength=len(sensors))
        for cause, seconds in seconds_by_cause(path).items()
    }
    own_s: NDArray[np.float64] = np.sum(list(by_cause.values()), axis=0)
    worst = [each for each in np.lexsort((sensors, -own_s))[:MOST_SENSORS].tolist() if own_s[each] > 0]
    found = []
    for each in worst:
        sensor, cause = int(sensors[each]), max(by_cause, key=lambda cause: float(by_cause[cause][each]))
        share, row = float(by_cause[cause][each] / own_s[each]), _row(result.sensors, sensor)
        found.append(
            WorstSensor(
                sensor=sensor,
                cell=None if row is None else str(row["cell"]),
                critical_s=float(own_s[each]),
                share=float(own_s[each] / total_s),
                rounds=len(np.unique(path.round[path.sensor == sensor])),
                cause=cause,
                cause_share=share,
                reason=_reason(cause, share, row, result),
            )
        )
    return tuple(found)


def _row(rows: pd.DataFrame, sensor: int) -> dict[str, Any] | None:
    return {str(name): own for name, own in rows.iloc[sensor].items()} if sensor < len(rows) else None


def out_of_coverage(sensors: pd.DataFrame) -> tuple[int, ...]:
    """Return the sensors that no cell reaches, the one with the highest loss first."""
    if not len(sensors):
        return ()
    missing = sensors[~sensors["covered"].astype(bool)]
    return tuple(missing.sort_values(["coupling_loss_db", "sensor"], ascending=[False, True])["sensor"].tolist())


def _reason(cause: Cause, share: float, row: Mapping[str, Any] | None, result: RunResult) -> str:
    """Return the cause of most of a sensor's seconds, and which of its figures are worse than they could be."""
    device = f" on its {row['compute']}" if cause == "compute" and row is not None else ""
    main = f"{share:.0%} {_CAUSES[cause]}{device}"
    if row is None:
        return main
    wrong = list(_wrong(row, result))
    if not wrong and cause in _OF_OTHERS:
        wrong = ["itself at full rate"]
    return "; ".join([main, *wrong])


def _wrong(row: Mapping[str, Any], result: RunResult) -> Iterator[str]:
    """Yield what is wrong with a sensor, as far as a figure says so."""
    profile = next((cell.profile for cell in result.scenario.cells if cell.name == row["cell"]), None)
    if profile is not None and (slow := _slow_rate(row, profile)):
        yield f"{slow}{_why_slow(row, profile)}"
    if row["faults"]:
        yield f"{row['faults']} fault{'' if row['faults'] == 1 else 's'}"
    if pd.notna(row["availability"]) and row["availability"] < _FULL:
        yield f"reachable {row['availability']:.0%}"
    airtimes_s = result.sensors["airtime_s"].to_numpy()
    if airtimes_s.max() > airtimes_s.min() and row["airtime_s"] == airtimes_s.max():
        yield "most airtime of all"
    lives = result.summary.get("battery_life")
    if lives and lives["continuous"] and lives["continuous"]["worst_sensor"] == row["sensor"]:
        yield "shortest battery life"


def _slow_rate(row: Mapping[str, Any], profile: NetworkProfile) -> str | None:
    """Return the rate that is further below the profile's; None if none is."""
    rates = [
        (row[key] / full_bps, f"{word} {_rate(row[key])} of {_rate(full_bps)}")
        for word, key, full_bps in (
            ("uplink", "uplink_bps", profile.uplink_bps),
            ("downlink", "downlink_bps", profile.downlink_bps),
        )
        if pd.notna(row[key])
    ]
    share, said = min(rates, key=lambda rate: rate[0], default=(1.0, ""))
    return said if share < _FULL else None


def _why_slow(row: Mapping[str, Any], profile: NetworkProfile) -> str:
    why = []
    if pd.notna(row["coupling_loss_db"]):
        why.append(f"{row['coupling_loss_db']:.0f} dB loss")
    if row["line_of_sight"] is not None and not row["line_of_sight"]:
        why.append("no line of sight")
    if profile.repetitions and pd.notna(row["coverage_class"]) and row["coverage_class"] > 0:
        why.append(f"coverage class {int(row['coverage_class'])}")
    return f" ({', '.join(why)})" if why else ""


def _rate(rate_bps: float) -> str:
    return format_bps(float(f"{rate_bps:.3g}"))
