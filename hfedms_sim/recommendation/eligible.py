"""Whose training can matter: what timing alone leaves out, for certain."""

from collections.abc import Sequence
from dataclasses import replace

from hfedms_sim.recommendation.found import Ended, Found
from hfedms_sim.recommendation.prospects import Prospect
from hfedms_sim.units import format_seconds

_TIMING = "timing"
NEARLY_LONGEST = 0.9
"""What share of the longest battery life is still taken, where nobody's is as long as is asked for."""


def eligible(prospects: list[Prospect], found: Found) -> list[Prospect]:
    """Return those that can meet the goal, with the rounds that end in time; of what nobody can meet the nearest."""
    return _in_time(_lasting(_covering(prospects, found), found), found) if prospects else []


def _covering(prospects: list[Prospect], found: Found) -> list[Prospect]:
    """Return those that reach all sensors, or if there is none those that reach most: serving fewer looks fast."""
    fewest = min(each.uncovered for each in prospects)
    if fewest:
        found.notes.append(f"No radio reaches all sensors; those that are left leave out {fewest}.")
    for each in prospects:
        if each.uncovered > fewest:
            found.ended[each.candidate] = Ended(_TIMING, f"{each.uncovered} sensors are out of its coverage")
    return [each for each in prospects if each.uncovered == fewest]


def _lasting(prospects: list[Prospect], found: Found) -> list[Prospect]:
    """Return those whose batteries last as long as is asked for; if there is none, nearly as long as any does."""
    asked_s = found.goal.battery_s
    if asked_s is None:
        return prospects
    longest_s = max((each.battery_s for each in prospects if each.battery_s is not None), default=None)
    if longest_s is None:
        found.relaxed.append("how long batteries last is not known of any of these radios")
        found.goal = replace(found.goal, battery_s=None)
        return prospects
    if longest_s < asked_s:
        found.relaxed.append(f"no battery lasts longer than {format_seconds(longest_s)}")
        asked_s = NEARLY_LONGEST * longest_s
        found.goal = replace(found.goal, battery_s=asked_s)
    lasting = [each for each in prospects if each.battery_s is not None and each.battery_s >= asked_s]
    for each in prospects:
        if each not in lasting:
            lasts = (
                "no battery is known" if each.battery_s is None else f"a battery lasts {format_seconds(each.battery_s)}"
            )
            found.ended[each.candidate] = Ended(_TIMING, lasts)
    return lasting


def _in_time(prospects: list[Prospect], found: Found) -> list[Prospect]:
    """Return those with a round that is measured in time, cut there; if there is none, any time will do."""
    asked_s = found.goal.within_s
    if asked_s is None:
        return prospects
    first_s = {each.candidate: each.time_s[min(found.every, each.rounds) - 1] for each in prospects}
    if min(first_s.values()) > asked_s:
        soonest = format_seconds(min(first_s.values()))
        found.relaxed.append(f"no first round that is measured ends before {soonest}")
        found.goal = replace(found.goal, within_s=None)
        return prospects
    for who, when_s in first_s.items():
        if when_s > asked_s:
            why = f"its first round that is measured ends after {format_seconds(when_s)}"
            found.ended[who] = Ended(_TIMING, why)
    return [each.cut(asked_s) for each in prospects if first_s[each.candidate] <= asked_s]


def without_copies(prospects: list[Prospect], found: Found) -> list[Prospect]:
    """Leave out what learns the same as another and is never sooner nor cheaper; of equals the first stays."""
    kept: list[Prospect] = []
    for number, each in enumerate(prospects):
        better = next((other for other in prospects if _is_better_copy(other, each, prospects[:number])), None)
        if better is None:
            kept.append(each)
        else:
            why = f"{better.candidate.words} learns the same, no later and no dearer"
            found.ended[each.candidate] = Ended(_TIMING, why)
    return kept


def _is_better_copy(other: Prospect, each: Prospect, before: Sequence[Prospect]) -> bool:
    if other is each or not each.is_no_better(other):
        return False
    return other in before or not other.is_no_better(each)
