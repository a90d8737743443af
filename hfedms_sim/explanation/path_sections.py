"""The critical path of one round in a few sections that can be read: last report, a chain, the scatter, the way back.

Consecutive steps of one chain are one section, and so are those of the report and those of the scatter with the work
behind it. Where that leaves more than `MOST_SECTIONS`, as windows of many short chains do, the two neighbours that are
shortest together become one, again and again. Steps follow each other, so sections add up to the length of their round.

Left out: sections without length, such as a round's end where there is no backbone to cross.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Literal, NamedTuple

import pandas as pd

from hfedms_sim.limits import CriticalPath, PathStep, Seconds, typical_round

MOST_SECTIONS = 8

SectionKind = Literal["report", "chain", "team", "scatter", "end", "several"]

_WORDS = {
    "setup_s": "set-up and paging",
    "waiting_s": "waiting for others",
    "shared_airtime_s": "airtime",
    "slow_rate_s": "more airtime by a slow rate",
    "airtime_s": "airtime",
    "silence_s": "silence of the duty cycle",
    "latency_s": "latency",
    "backbone_s": "backbone",
    "compute_s": "compute",
    "samples_s": "waiting for samples",
    "lost_s": "lost to faults",
    "outage_s": "waiting for what was down",
}
assert tuple(_WORDS) == Seconds._fields


class SpentOn(NamedTuple):
    """What some seconds of a section were spent on."""

    what: str
    seconds: float


@dataclass(frozen=True)
class PathSection:
    """Consecutive steps of a critical path that belong together."""

    kind: SectionKind
    chain: int | None
    """The number of the chain or team, as `group` in the tables; None outside any, and of several chains."""
    sensors: tuple[int, ...]
    """Those on it, in the order of the path."""
    cells: tuple[str, ...]
    """Whose radio it used, in that order."""
    seconds: float
    parts: tuple[SpentOn, ...]
    """Where its seconds went, the most first; those without any are left out."""
    slowest_sensor: int | None
    """The one with most of the seconds; None where there is none, or one only."""
    slowest_s: float | None


@dataclass(frozen=True)
class TypicalRound:
    """The round that stands for the run (`limits.typical_round`), and its critical path."""

    round: int
    seconds: float
    legs: tuple[PathSection, ...]
    """The sections of the path; `explain --json` calls them so."""


def typical_path(path: CriticalPath, rounds: pd.DataFrame, *, has_teams: bool) -> TypicalRound | None:
    """Return the typical one of the rounds that the path covers; None if it covers none.

    `has_teams`: sensors do not form chains but train side by side for their base station.
    """
    covered = rounds[rounds["round"].isin(path.round)]
    if not len(covered):
        return None
    number = typical_round(covered)
    row = covered[covered["round"] == number].iloc[0]
    sections = sections_of(list(path.steps(number)))
    if has_teams:
        sections = tuple(replace(section, kind="team") if section.kind == "chain" else section for section in sections)
    return TypicalRound(number, float(row["end_s"] - row["start_s"]), sections)


def sections_of(steps: Sequence[PathStep]) -> tuple[PathSection, ...]:
    """Return the sections of one round's path, at most `MOST_SECTIONS`."""
    marked = zip(_marks(steps), steps, strict=True)
    stretches = [[step for _, step in found] for _, found in groupby(marked, key=lambda pair: pair[0])]
    stretches = [stretch for stretch in stretches if _length_s(stretch) > 0]
    while len(stretches) > MOST_SECTIONS:
        pairs_s = [_length_s(one) + _length_s(other) for one, other in pairwise(stretches)]
        first = pairs_s.index(min(pairs_s))
        stretches[first : first + 2] = [stretches[first] + stretches[first + 1]]
    return tuple(_section(stretch) for stretch in stretches)


def _marks(steps: Iterable[PathStep]) -> list[tuple[SectionKind, int]]:
    """Return for each step what its section is, and of which chain; work behind the scatter belongs to it."""
    marks: list[tuple[SectionKind, int]] = []
    for step in steps:
        if step.kind == "work" and marks and marks[-1][0] == "scatter":
            marks.append(marks[-1])
        elif step.kind == "end":
            marks.append(("end", -1))
        elif step.group >= 0:
            marks.append(("chain", step.group))
        else:
            marks.append(("scatter" if step.what == "scatter" else "report", -1))
    return marks


def _length_s(stretch: Sequence[PathStep]) -> float:
    return stretch[-1].end_s - stretch[0].begin_s


def _section(stretch: Sequence[PathStep]) -> PathSection:
    marks = list(dict.fromkeys(_marks(stretch)))
    kind, chain = marks[0] if len(marks) == 1 else ("several", -1)
    own_s: dict[int, float] = {}
    for step in stretch:
        if step.sensor >= 0:
            own_s[step.sensor] = own_s.get(step.sensor, 0.0) + step.end_s - step.begin_s
    slowest = max(own_s, key=lambda sensor: own_s[sensor]) if len(own_s) > 1 else None
    return PathSection(
        kind=kind,
        chain=chain if chain >= 0 else None,
        sensors=tuple(own_s),
        cells=tuple(dict.fromkeys(step.link.cell for step in stretch if step.link is not None)),
        seconds=_length_s(stretch),
        parts=_parts(stretch),
        slowest_sensor=slowest,
        slowest_s=None if slowest is None else own_s[slowest],
    )


def _parts(stretch: Sequence[PathStep]) -> tuple[SpentOn, ...]:
    spent_s: dict[str, float] = dict.fromkeys(_WORDS.values(), 0.0)
    for step in stretch:
        for name, seconds in step.seconds._asdict().items():
            spent_s[_WORDS[name]] += seconds
    ranked = sorted(spent_s.items(), key=lambda item: -item[1])
    return tuple(SpentOn(what, seconds) for what, seconds in ranked if seconds > 0)
