"""Joules by state: of each run, and of a single run round by round."""

from collections.abc import Sequence

import numpy as np

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Bars, Figure, Line, Lines, Panel
from hfedms_sim.report.energy import extrapolation_note, missing_reasons
from hfedms_sim.report.run_labels import RunSet, name_of, run_sets, scenarios_of
from hfedms_sim.report.views.scales import energy_unit
from hfedms_sim.result import RunResult

STATES = ("transmit", "receive", "connected", "setup", "idle", "sleep", "compute")
UNKNOWN = "states not known"  # of runs of earlier versions, whose joules are one sum

Joules = dict[str, float]
"""The joules of each state, by its name."""


def energy_figure(results: Sequence[RunResult]) -> Figure:
    """Return a stack of joules by state for each run, the mean where runs differ in the seed alone; and its rounds.

    Runs whose energy is not modelled are named in the note; if it is modelled of none, that is an `InputError`.
    """
    modelled = [result for result in results if result.summary["energy_j"] is not None]
    if not modelled:
        raise InputError(f"{name_of(results[0])}: energy is not modelled{_why_missing(results[:1])}")
    sets = [runs for runs in run_sets(results) if all(each.summary["energy_j"] is not None for each in runs.results)]
    panels: list[Panel] = [_stacks(sets)]
    if len(results) == 1 and len(results[0].rounds) > 1:
        panels.append(_rounds(results[0]))
    title = f"{scenarios_of(modelled)}: energy of all sensors by state"
    notes = (extrapolation_note(modelled), _left_out(results))
    note = " ".join(f"{note}." for note in notes if note)
    return Figure("energy", title, tuple(panels), columns=len(panels), note=note)


def joules_of(result: RunResult) -> Joules:
    """Return the joules of a run by state, those that are not zero."""
    states = result.summary.get("energy_by_state") or {UNKNOWN: result.summary["energy_j"]}
    return {state: float(joules) for state, joules in states.items() if joules}


def _stacks(sets: Sequence[RunSet]) -> Bars:
    means = [_mean_of(runs) for runs in sets]
    unit = energy_unit(max((sum(mean.values()) for mean in means), default=0.0))
    shown = [state for state in (*STATES, UNKNOWN) if any(mean.get(state) for mean in means)]
    series = tuple((state, tuple(mean.get(state, 0.0) / unit.size for mean in means)) for state in shown)
    title = "Until the end of the run" if len(sets) == 1 else "Until the end of each run"
    return Bars(title, f"energy in {unit.name}", tuple(runs.label for runs in sets), series, is_stacked=True)


def _mean_of(runs: RunSet) -> Joules:
    all_joules = [joules_of(result) for result in runs.results]
    states = dict.fromkeys(state for joules in all_joules for state in joules)
    return {state: sum(joules.get(state, 0.0) for joules in all_joules) / len(all_joules) for state in states}


def _rounds(result: RunResult) -> Lines:
    rounds = result.rounds
    number = tuple(map(float, rounds["round"].tolist()))
    by_state = {state: rounds[f"{state}_j"].to_numpy(dtype=float, na_value=np.nan) for state in STATES}
    known = {state: joules for state, joules in by_state.items() if np.isfinite(joules).all() and joules.any()}
    known = known or {UNKNOWN: rounds["energy_j"].to_numpy(dtype=float, na_value=np.nan)}
    unit = energy_unit(max(float(np.nanmax(joules)) for joules in known.values()))
    lines = tuple(Line(state, number, unit.of(joules.tolist())) for state, joules in known.items())
    return Lines("Of each round", "round", f"energy in {unit.name}", lines, y_limits=(0.0, None))


def _left_out(results: Sequence[RunResult]) -> str:
    missing = [result for result in results if result.summary["energy_j"] is None]
    if not missing:
        return ""
    return f"Not modelled of {len(missing)} of {len(results)} runs{_why_missing(missing)}"


def _why_missing(results: Sequence[RunResult]) -> str:
    reasons = missing_reasons(results)
    return f" ({'; '.join(reasons)})" if reasons else ""
