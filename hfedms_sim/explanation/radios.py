"""The fastest shipped radio that covers all sensors of a run: on which every one of its cells is put.

Radios are tried by playing the first round, in the order of what one model takes there and back alone at full rate.
A round hardly takes less, so once that is more than the fastest round so far, the rest are not played. Of
large factories only the first ones that cover everybody are tried. Cables are no radio, and are left out.
"""

from typing import NamedTuple

from hfedms_sim.errors import InputError, RunError
from hfedms_sim.explanation.changes import Change, NoChange
from hfedms_sim.explanation.replay import Replay, figures_of, transfers_of_first_round
from hfedms_sim.feasibility import radio_costs
from hfedms_sim.scenario import load_profile, shipped

MOST_TRANSFERS = 6_000
"""How many all first rounds together may have that are played to find the fastest radio."""
LEAST_RADIOS = 6

_NAME = "the fastest radio"
_CABLES = frozenset({"ethernet"})


class _Tried(NamedTuple):
    """How the radios did in the first round."""

    first_round_s: dict[str, float]
    """Those that cover all sensors."""
    left_out: int
    """How many were refused, or do not reach every sensor."""
    too_slow: int
    """How many were not played, because one model alone takes longer on them than the fastest round."""
    not_tried: int
    """How many were not played, because enough others were."""


def fastest_radio(replay: Replay) -> Change | NoChange:
    """Return the change to the radio whose first round is the shortest, of equal ones that of the first name."""
    tried = _tried(replay)
    if not tried.first_round_s:
        return NoChange(_NAME, f"none of {tried.left_out} shipped radios covers all sensors in useful time")
    best = min(tried.first_round_s, key=lambda name: (tried.first_round_s[name], name))
    own = {cell.profile.name for cell in replay.scenario.cells}
    if own == {best} and all(cell.profile == load_profile(best) for cell in replay.scenario.cells):
        return NoChange(_NAME, f"the run has it: no shipped radio that covers all sensors is faster than {best}")
    return Change(_NAME, f"{best} in every cell{_said(tried)}", profile=best)


def _said(tried: _Tried) -> str:
    """Return how the radio was found."""
    others = (
        (tried.left_out, "leave sensors out or take months"),
        (tried.too_slow, "take longer for one model alone"),
        (tried.not_tried, "that are slower for one model alone were not tried"),
    )
    said = [f"{count} {what}" for count, what in others if count]
    return ", ".join([f"; the first round was played on {len(tried.first_round_s)} that cover all sensors", *said])


def _tried(replay: Replay) -> _Tried:
    alone_s = _alone_s(replay)
    ranked = sorted(alone_s, key=lambda name: (alone_s[name], name))
    first_round_s: dict[str, float] = {}
    left_out = 0
    for number, name in enumerate(ranked):
        if first_round_s and alone_s[name] > min(first_round_s.values()):
            return _Tried(first_round_s, left_out, len(ranked) - number, 0)
        if len(first_round_s) >= _most(replay):
            return _Tried(first_round_s, left_out, 0, len(ranked) - number)
        length_s = _first_round_s(replay, name)
        if length_s is None:
            left_out += 1
        else:
            first_round_s[name] = length_s
    return _Tried(first_round_s, left_out, 0, 0)


def _alone_s(replay: Replay) -> dict[str, float]:
    """Return for each shipped radio what one model takes down and up, alone in its cell."""
    first, model = replay.scenario.cells[0], replay.parts.model
    alone_s = {}
    for name in shipped("profile"):
        if name in _CABLES:
            continue
        cell = first.model_copy(update={"profile": load_profile(name)})
        (cost,) = radio_costs(replay.scenario.model_copy(update={"cells": (cell,)}), model)
        alone_s[name] = cost.model_up_s + cost.model_down_s
    return alone_s


def _most(replay: Replay) -> int:
    """Return how many radios are tried at most."""
    return max(LEAST_RADIOS, MOST_TRANSFERS // max(1, transfers_of_first_round(replay.result)))


def _first_round_s(replay: Replay, name: str) -> float | None:
    """Return how long the first round takes on a radio; None if it is refused or leaves a sensor out."""
    try:
        found = replay.play_first_round(Change(name, "", profile=name))
    except (InputError, RunError):
        return None
    coverage = found.summary["coverage"]
    if coverage["covered"] < coverage["sensors"] or not len(found.rounds):
        return None
    return figures_of(found, 1).in_rounds_s
