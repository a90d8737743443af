"""What is read off a run: a number with a unit, from the tables that every run leaves.

The run is one sensor that sends messages and gets answers (exchange.py). Round r is: the answer to message r - 1 comes
down, the next sample is awaited, message r goes up. The first round sets the stage and is not read. With t_ready,
t_start and t_end as in the transfers table, B a message's bytes, E joules and a mean over all rounds but the first:

    uplink_kbps, downlink_kbps   8 sum B / sum (t_end - t_start)
    uplink_s, downlink_s         mean t_end - t_ready, set-up included where the connection had been released
    exchange_s                   uplink_s + downlink_s: from a message's being ready to its answer; a round trip
    awake_s                      exchange_s + the profile's inactivity timer; with release assistance uplink_s
    airtime_s                    mean airtime of an uplink
    uplink_j, uplink_j_per_mb    mean E of an uplink row; sum E / sum B
    exchange_j                   mean E of a round, baseline included: a message, its answer and what comes after
    current_ma                   sum E / (V x time)
    battery_d                    charge / current_ma
    uplink_battery_d             charge / (uplink_j / (V x period) + current at rest): messages that get no answer
    forward_s, work_w            mean time of a piece of work, which is three passes, / 3; its E / its time

The current at rest is that of a released radio: asleep, paged or listening, as the profile's `idle` says.
"""

from collections.abc import Callable
from typing import Literal

import pandas as pd

from hfedms_sim.errors import RunError
from hfedms_sim.result import RunResult
from hfedms_sim.scenario import TRAINING_PASSES, Currents
from hfedms_sim.units import BITS_PER_BYTE
from hfedms_sim.world.energy.meter import RadioPower

Quantity = Literal[
    "uplink_kbps", "downlink_kbps", "uplink_s", "downlink_s", "exchange_s", "awake_s", "airtime_s", "uplink_j",
    "uplink_j_per_mb", "exchange_j", "current_ma", "battery_d", "uplink_battery_d", "forward_s", "work_w",
]  # fmt: skip

UNITS: dict[Quantity, str] = {
    "uplink_kbps": "kbit/s",
    "downlink_kbps": "kbit/s",
    "uplink_s": "s",
    "downlink_s": "s",
    "exchange_s": "s",
    "awake_s": "s",
    "airtime_s": "s",
    "uplink_j": "J",
    "uplink_j_per_mb": "J/MB",
    "exchange_j": "J",
    "current_ma": "mA",
    "battery_d": "days",
    "uplink_battery_d": "days",
    "forward_s": "s",
    "work_w": "W",
}

_HOURS_PER_DAY = 24
_MA_PER_A = 1e3
_BYTES_PER_MB = 1e6


def read_quantity(quantity: Quantity, run: RunResult, period_s: float | None, battery_mah: float | None) -> float:
    """Return the quantity of a run; `period_s` and `battery_mah` are for those that need them."""
    if quantity == "battery_d":
        return _charge_mah(battery_mah) / _current_ma(run) / _HOURS_PER_DAY
    if quantity == "uplink_battery_d":
        return _charge_mah(battery_mah) / _uplinks_current_ma(run, period_s) / _HOURS_PER_DAY
    return _READERS[quantity](run)


def _transfers(run: RunResult, direction: str) -> pd.DataFrame:
    rows = run.transfers
    return rows[(rows["direction"] == direction) & (rows["round"] > 1)]


def _kbps(run: RunResult, direction: str) -> float:
    rows = _transfers(run, direction)
    seconds = float((rows["end_s"] - rows["start_s"]).sum())
    return BITS_PER_BYTE * float(rows["bytes"].sum()) / seconds / 1e3


def _seconds(run: RunResult, direction: str) -> float:
    rows = _transfers(run, direction)
    return float((rows["end_s"] - rows["ready_s"]).mean())


def _exchange_s(run: RunResult) -> float:
    return _seconds(run, "up") + _seconds(run, "down")


def _awake_s(run: RunResult) -> float:
    profile = run.scenario.cells[0].profile
    return _seconds(run, "up") if profile.release_assistance else _exchange_s(run) + profile.inactivity_s


def _uplink_j(run: RunResult) -> float:
    return float(_transfers(run, "up")["energy_j"].mean())


def _uplink_j_per_mb(run: RunResult) -> float:
    rows = _transfers(run, "up")
    return float(rows["energy_j"].sum()) / (float(rows["bytes"].sum()) / _BYTES_PER_MB)


def _rounds(run: RunResult) -> pd.DataFrame:
    return run.rounds[run.rounds["round"] > 1]


def _current_ma(run: RunResult) -> float:
    rows = _rounds(run)
    elapsed_s = float(rows["end_s"].iloc[-1] - rows["start_s"].iloc[0])
    return float(rows["energy_j"].sum()) / elapsed_s / _currents(run).voltage_v * _MA_PER_A


def _uplinks_current_ma(run: RunResult, period_s: float | None) -> float:
    if period_s is None:
        raise RunError("uplink_battery_d: the row has no period_s")
    profile, currents = run.scenario.cells[0].profile, _currents(run)
    rest_w = RadioPower.of(currents, profile.idle, profile.setup_s).rest_w
    return (_uplink_j(run) / period_s + rest_w) / currents.voltage_v * _MA_PER_A


def _currents(run: RunResult) -> Currents:
    currents = run.scenario.cells[0].profile.energy
    if currents is None:
        raise RunError(f"{run.scenario.cells[0].profile.name}: has no energy to be read")
    return currents


def _charge_mah(battery_mah: float | None) -> float:
    if battery_mah is None:
        raise RunError("a battery's life: the row has no battery_mah")
    return battery_mah


def _forward_s(run: RunResult) -> float:
    return float((run.work["end_s"] - run.work["start_s"]).mean()) / TRAINING_PASSES


def _work_w(run: RunResult) -> float:
    return float(run.work["energy_j"].sum() / (run.work["end_s"] - run.work["start_s"]).sum())


_READERS: dict[Quantity, Callable[[RunResult], float]] = {
    "uplink_kbps": lambda run: _kbps(run, "up"),
    "downlink_kbps": lambda run: _kbps(run, "down"),
    "uplink_s": lambda run: _seconds(run, "up"),
    "downlink_s": lambda run: _seconds(run, "down"),
    "exchange_s": _exchange_s,
    "awake_s": _awake_s,
    "airtime_s": lambda run: float(_transfers(run, "up")["airtime_s"].mean()),
    "uplink_j": _uplink_j,
    "uplink_j_per_mb": _uplink_j_per_mb,
    "exchange_j": lambda run: float(_rounds(run)["energy_j"].mean()),
    "current_ma": _current_ma,
    "forward_s": _forward_s,
    "work_w": _work_w,
}
