"""Joules of a run for people: how many, in which states, how long a battery lasts, and which figures are uncertain."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hfedms_sim.result import RunResult
from hfedms_sim.units import SECONDS_PER_DAY, format_joules, format_seconds

EXTRAPOLATED = "‡"

_DAYS_PER_YEAR, _LEAST_YEARS = 365.25, 2.0
_LEAST_SHARE = 0.01  # of a state that is worth a word


def energy_rows(result: RunResult) -> Iterator[tuple[str, str]]:
    """Return heading and entry of each row that has to do with joules."""
    summary = result.summary
    if summary["energy_j"] is None:
        missing = "; ".join(summary.get("energy_missing") or ())
        yield "energy", f"not modelled{f' ({missing})' if missing else ''}"
        return
    yield (
        "energy",
        f"{format_joules(summary['energy_j'])}, {_mean_sensor_w(result) * 1000:.3g} mW a sensor{mark_of(result)}",
    )
    if summary.get("energy_by_state"):
        yield "in states", _states(summary["energy_by_state"])
    if summary["energy_j"]:
        yield "battery life", _lives(result)


def mark_of(result: RunResult) -> str:
    """Return the sign of extrapolated figures, after a space, if the run's joules depend on any."""
    return f" {EXTRAPOLATED}" if result.summary.get("energy_extrapolated") else ""


def extrapolation_note(results: Sequence[RunResult]) -> str | None:
    """Return the line that says what the sign means; None if no joules depend on such figures."""
    return extrapolated_line([key for each in results for key in each.summary.get("energy_extrapolated") or ()])


def extrapolated_line(figures: Sequence[str]) -> str | None:
    """Return the line for these figures, each `PROFILE: KEY`; None if there are none."""
    by_profile: dict[str, list[str]] = {}
    for profile, _, key in (figure.partition(": ") for figure in dict.fromkeys(figures)):
        by_profile.setdefault(profile, []).append(key.removeprefix("energy."))
    if not by_profile:
        return None
    named = "; ".join(f"{profile}: {', '.join(keys)}" for profile, keys in by_profile.items())
    return f"{EXTRAPOLATED} joules rest on figures that are extrapolated, not measured on this radio: {named}"


def missing_reasons(results: Sequence[RunResult]) -> list[str]:
    """Return why joules are not modelled, as `PROFILE: WHY`, each reason once."""
    return list(dict.fromkeys(why for each in results for why in each.summary.get("energy_missing") or ()))


def missing_line(reasons: Sequence[str]) -> str | None:
    """Return the line that says where joules are not modelled, and why; None if they are everywhere."""
    return f"joules are not modelled where a radio's currents are not known: {'; '.join(reasons)}" if reasons else None


def _states(joules: Mapping[str, float]) -> str:
    """Return the states that matter, in the order of the tables."""
    least_j = _LEAST_SHARE * sum(joules.values())
    return ", ".join(f"{state} {format_joules(own_j)}" for state, own_j in joules.items() if own_j and own_j >= least_j)


def _lives(result: RunResult) -> str:
    """Return how long a battery lasts the mean and the worst sensor, a line for each way to play rounds."""
    sensors = result.scenario.sensors
    lives = result.summary.get("battery_life")
    if lives is None:  # a run of an older version
        mean_s = sensors.battery_j / _mean_sensor_w(result)
        return f"{format_seconds(mean_s)} on {sensors.battery_wh:g} Wh, if rounds go on like these"
    rounds = f"{sensors.rounds_per_day:g} round{'' if sensors.rounds_per_day == 1 else 's'}"
    period_s = result.scenario.round_period_s
    every = "" if period_s is None else f", one every {format_seconds(period_s)}"
    lines = {"continuous": f"if rounds go on like these{every}", "rounds_per_day": f"at {rounds} a day"}
    known = {key: when for key, when in lines.items() if lives[key] is not None}
    return f"on {sensors.battery_wh:g} Wh\n" + "\n".join(f"{_life(lives[key])}, {when}" for key, when in known.items())


def _life(life: Mapping[str, Any]) -> str:
    return f"{lasting(life['mean_d'])}, worst {lasting(life['worst_d'])} (sensor {life['worst_sensor']})"


def lasting(days: float | None) -> str:
    if days is None:
        return "for ever"
    years = days / _DAYS_PER_YEAR
    return f"{years:,.3g} years" if years >= _LEAST_YEARS else format_seconds(days * SECONDS_PER_DAY)


def _mean_sensor_w(result: RunResult) -> float:
    energy_j, simulated_s = float(result.summary["energy_j"]), float(result.summary["simulated_s"])
    return energy_j / (simulated_s * result.scenario.sensors.count)
