"""The clock of a run played again, in memory and without training, and what of it is not as the run has it.

A run that ended early because of what it had learnt is played for as many rounds as it has. What is learnt (accuracies,
losses, what targets took) is left out. A lineage is compared round by round: each must follow from the one before it
and from what happened in the round, whatever machine or version of torch its root names.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from hfedms_sim.limits import limits_of
from hfedms_sim.lineage import Metrics
from hfedms_sim.result import differences
from hfedms_sim.rounds import lineage_after
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import Parts, PlayedRound, Progress
from hfedms_sim.simulation.session import Session
from hfedms_sim.stopping import DIVERGED, TARGET, stopped_of
from hfedms_sim.system.provenance import package_version
from hfedms_sim.trace import Trace, thinning_of

OnRound = Callable[[Progress], None]

_LEARNT = ("wall_s", "final_accuracy", "best_accuracy", "final_loss", "targets", "lineage", "stopped")
_DECIDING = ("hfedms_sim", "numpy", "simpy")
"""What the figures of a replay may depend on, where another version is installed than the run was made with."""


@dataclass(frozen=True)
class Replay:
    """A run played again."""

    tables: Mapping[str, pa.Table]
    summary: Mapping[str, Any]
    links: Sequence[str]
    """The lineage of each round, as it follows from the run's own one before it."""


def replay(
    scenario: Scenario,
    parts: Parts,
    rounds: int,
    on_round: OnRound,
    *,
    before: Sequence[str | None] = (),
    threads: int = 1,
) -> Replay:
    """Play this many rounds again. `before` has the lineage before each round; None, or none: as it is here."""
    played = scenario.model_copy(update={"rounds": rounds})
    trace = Trace(thinning=thinning_of(played))
    session = _LinkedSession(played, parts, trace, threads, before)
    with trace:
        session.play(on_round, inf)
    tables = trace.tables()
    return Replay(tables, session.summary(0.0, limits_of(played, tables)), session.links)


class _LinkedSession(Session):
    """A timing-only session that works out how each lineage of another run follows from the one before it."""

    def __init__(
        self, scenario: Scenario, parts: Parts, trace: Trace, threads: int, before: Sequence[str | None]
    ) -> None:
        super().__init__(scenario, parts, trace, threads=threads, device="cpu", store=None)
        self.links: list[str] = []
        self._before = before

    def played_rounds(self, longest_first_round_s: float) -> Iterator[PlayedRound]:
        here = self._lineage
        for played in super().played_rounds(longest_first_round_s):
            number = played.record.round
            own = (self._before[number - 1] if number <= len(self._before) else None) or here
            is_planned = self._lineage != here  # a run that stalls ends with a round that is in no lineage
            self.links.append(lineage_after(own, played.record) if is_planned else own)
            here = self._lineage
            yield played


def unlike_tables(mine: Mapping[str, pa.Table], again: Mapping[str, pa.Table]) -> Iterator[str]:
    """Return in which column of which table a run and its replay differ, and where first."""
    for name, table in mine.items():
        one, other = _comparable(name, table), _comparable(name, again[name])
        if one.num_rows != other.num_rows:
            yield f"{name} has {one.num_rows:,} rows, {other.num_rows:,} again"
            continue
        for column in one.column_names:
            place = _first_difference(one[column], other[column])
            if place is not None:
                was, now = one[column][place].as_py(), other[column][place].as_py()
                yield f"{name}.{column} is {was!r} in row {place}, {now!r} again"
                break


def _comparable(name: str, table: pa.Table) -> pa.Table:
    """Return a table without what is learnt."""
    if name == "rounds":
        return table.drop_columns([each for each in (*Metrics._fields, "lineage") if each in table.column_names])
    if name == "faults":
        return table.filter(pc.not_equal(table["kind"], DIVERGED))
    return table


def _first_difference(one: pa.ChunkedArray, other: pa.ChunkedArray) -> int | None:
    """Return the first row in which two columns differ; None if they do not. NaN is the same as NaN."""
    if one.equals(other):
        return None
    pairs = enumerate(zip(one.to_pylist(), other.to_pylist(), strict=True))
    return next((place for place, (was, now) in pairs if was != now and not (_is_nan(was) and _is_nan(now))), None)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and isnan(value)


def unlike_summaries(mine: Mapping[str, Any], again: Mapping[str, Any]) -> Iterator[str]:
    """Return the keys in which the summary of a run and that of its replay differ, but for what is learnt."""
    one, other = (_without_learning(json.loads(json.dumps(summary))) for summary in (mine, again))
    for key, was, now in differences(one, other):
        yield f"summary.{key} is {was!r:.60}, {now!r:.60} again"
    stopped = stopped_of(mine)
    if (stopped is None or stopped.reason not in (TARGET, DIVERGED)) and stopped != stopped_of(again):
        yield f"the run {stopped or 'did not stop early'}, again {stopped_of(again) or 'it does not stop early'}"


def _without_learning(summary: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in summary.items() if key not in _LEARNT}
    if "faults" in kept:
        kept["faults"] = {kind: count for kind, count in kept["faults"].items() if kind != DIVERGED}
    return kept


def other_versions(provenance: Mapping[str, Any]) -> str:
    """Return what the run was made with that is installed here in another version; empty if nothing is."""
    pairs = ((name, versions_in(provenance).get(name), package_version(name)) for name in _DECIDING)
    return ", ".join(f"{name} {was} (here {now})" for name, was, now in pairs if was != now)


def versions_in(provenance: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the versions of packages that something was made with, as far as it says."""
    versions = provenance.get("versions")
    return versions if isinstance(versions, Mapping) else {}
