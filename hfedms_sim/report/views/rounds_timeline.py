"""One round as a timeline: who sent, received, worked and waited when, and which of it was the critical path.

A transfer is a span from its `start_s` to its `end_s`, and before that one of waiting from `ready_s` on; work is one if
it takes any time. What was lost or aborted is a kind of its own. A round is the rows that ended in it, so a span of a
window (docs/windows.md) may begin before it.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hfedms_sim import limits
from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Figure, Span, Timeline
from hfedms_sim.limits import CriticalPath
from hfedms_sim.report.run_labels import name_of
from hfedms_sim.report.views.lanes import LanesBy, lanes_of
from hfedms_sim.report.views.scales import Unit, time_unit
from hfedms_sim.result import RunResult
from hfedms_sim.rounds import EVERYONE, SERVER, STATION
from hfedms_sim.trace import thinning_of
from hfedms_sim.units import format_bytes, format_seconds

MOST_SPANS = 4_000
_LOST = "lost"
_KINDS = {"up": "uplink", "down": "downlink"}


class _Bars(NamedTuple):
    """Spans as columns, before the ones to draw are chosen; `row` is that of the table they are from."""

    lane: NDArray[np.int64]
    start_s: NDArray[np.float64]
    end_s: NDArray[np.float64]
    kind: NDArray[np.object_]
    is_marked: NDArray[np.bool_]
    row: NDArray[np.int64]


def typical_round(result: RunResult) -> int:
    """Return the round that stands for a run (`limits.typical_round`)."""
    if result.rounds.empty:
        raise InputError(f"{name_of(result)}: has no rounds")
    return limits.typical_round(result.traced_rounds)


def timeline_figure(
    result: RunResult,
    round_number: int,
    *,
    lanes: LanesBy = "sensors",
    most_spans: int = MOST_SPANS,
) -> Figure:
    """Return what happened in a round, a lane for each sensor or for each direction of each cell.

    Of more than `most_spans` spans, those of the critical path and the longest others stay, and the note says so.
    """
    started_s, length_s, phase = _round(result, round_number)
    transfers = result.transfers[result.transfers["round"] == round_number]
    work = result.work[result.work["round"] == round_number]
    found = lanes_of(result.scenario, transfers, work, lanes)
    on_path = _steps(result.limits.path, round_number)
    sent, waiting = _transfer_bars(transfers, found.of_transfers, on_path)
    bars = {"sent": sent, "waiting": waiting, "work": _work_bars(work, found.of_work, on_path)}
    count = sum(len(each.lane) for each in bars.values())
    if not count:
        if not (thinning := thinning_of(result.scenario)).keeps(round_number):
            raise InputError(f"{name_of(result)}: round {round_number} is left out of its trace, which is {thinning}")
        raise InputError(f"{name_of(result)}: round {round_number} has neither transfers nor work that takes time")
    unit = time_unit(length_s)
    spans = _spans(_thinned(bars, most_spans), transfers, work, started_s, unit)
    title = f"Round {round_number} ({phase}), {format_seconds(length_s)}"
    panel = Timeline(title, f"{unit.name} since the round began", found.names, tuple(spans), "critical path")
    what = "what its sensors did" if lanes == "sensors" else "what its cells carried"
    note = _note(len(spans), count, has_path=bool(on_path))
    return Figure("gantt", f"{result.scenario.name}: {what} in round {round_number}", (panel,), columns=1, note=note)


def _note(drawn: int, count: int, *, has_path: bool) -> str:
    thinned = f"{drawn:,} of {count:,} spans are drawn: the critical path and the longest others."
    notes = (thinned if drawn < count else "", "" if has_path else "The critical path of this round is not known.")
    return " ".join(note for note in notes if note)


def _round(result: RunResult, number: int) -> tuple[float, float, str]:
    """Return when a round began, how long it took, and its phase."""
    rounds = result.rounds
    row = rounds[rounds["round"] == number]
    if row.empty:
        have = f"it has rounds 1 to {int(rounds['round'].max())}" if len(rounds) else "it has none"
        raise InputError(f"{name_of(result)}: no round {number}, {have}")
    start_s, end_s, phase = row[["start_s", "end_s", "phase"]].iloc[0]
    return float(start_s), float(end_s) - float(start_s), str(phase)


def _steps(path: CriticalPath, round_number: int) -> set[tuple[Any, ...]]:
    """Return what tells the steps of the critical path from other rows."""
    return {
        (step.what, step.group, step.sensor, step.end_s, *((step.link.cell, step.link.direction) if step.link else ()))
        for step in path.steps(round_number)
        if step.kind != "end"
    }


def _transfer_bars(
    transfers: pd.DataFrame, lane: NDArray[np.int64], on_path: set[tuple[Any, ...]]
) -> tuple[_Bars, _Bars]:
    """Return the transfers as they were on the air, and their waiting before."""
    names = ("payload", "group", "sensor", "end_s", "cell", "direction")
    keys = zip(*(transfers[name].tolist() for name in names), strict=True)
    marked = np.array([key in on_path for key in keys], dtype=bool)
    kind = np.where(_failed(transfers), _LOST, transfers["direction"].map(_KINDS).to_numpy(dtype=object))
    ready_s, start_s, end_s = (transfers[name].to_numpy(dtype=float) for name in ("ready_s", "start_s", "end_s"))
    row = np.arange(len(transfers))
    waited = np.flatnonzero(start_s > ready_s)
    sent = np.flatnonzero(end_s > start_s)
    on_air = _Bars(lane[sent], start_s[sent], end_s[sent], kind[sent], marked[sent], row[sent])
    words = np.full(len(waited), "waiting", dtype=object)
    return on_air, _Bars(lane[waited], ready_s[waited], start_s[waited], words, marked[waited], row[waited])


def _work_bars(work: pd.DataFrame, lane: NDArray[np.int64], on_path: set[tuple[Any, ...]]) -> _Bars:
    keys = zip(*(work[name].tolist() for name in ("kind", "group", "sensor", "end_s")), strict=True)
    marked = np.array([key in on_path for key in keys], dtype=bool)
    start_s, end_s = (work[name].to_numpy(dtype=float) for name in ("start_s", "end_s"))
    kind = np.where(_failed(work), _LOST, "work").astype(object)
    rows = np.flatnonzero((end_s > start_s) & (lane >= 0))
    return _Bars(lane[rows], start_s[rows], end_s[rows], kind[rows], marked[rows], rows)


def _failed(rows: pd.DataFrame) -> NDArray[np.bool_]:
    outcome = rows["outcome"]
    return np.asarray(outcome.notna() & (outcome != "ok"), dtype=bool)


def _thinned(bars: dict[str, _Bars], most: int) -> dict[str, _Bars]:
    """Return the marked bars and the longest others, `most` in all; more if more are marked."""
    lengths = np.concatenate([each.end_s - each.start_s for each in bars.values()])
    if len(lengths) <= most:
        return bars
    marked = np.concatenate([each.is_marked for each in bars.values()])
    order = np.lexsort((np.arange(len(lengths)), -lengths, ~marked))
    kept = np.zeros(len(lengths), dtype=bool)
    kept[order[: max(most, int(marked.sum()))]] = True
    ends = np.cumsum([len(each.lane) for each in bars.values()])[:-1]
    parts = zip(bars.items(), np.split(kept, ends), strict=True)
    return {name: _Bars(*(column[own] for column in each)) for (name, each), own in parts}


def _spans(
    bars: dict[str, _Bars], transfers: pd.DataFrame, work: pd.DataFrame, started_s: float, unit: Unit
) -> list[Span]:
    texts = {
        "sent": [_transfer_text(row) for row in transfers.iloc[bars["sent"].row].itertuples()],
        "waiting": [f"waiting: {_transfer_words(row)}" for row in transfers.iloc[bars["waiting"].row].itertuples()],
        "work": [_work_text(row) for row in work.iloc[bars["work"].row].itertuples()],
    }
    spans: list[Span] = []
    for name, each in bars.items():
        start, end = (unit.of((moments - started_s).tolist()) for moments in (each.start_s, each.end_s))
        lengths_s = (each.end_s - each.start_s).tolist()
        said = [f"{text}, {format_seconds(length_s)}" for text, length_s in zip(texts[name], lengths_s, strict=True)]
        spans += map(Span, each.lane.tolist(), start, end, each.kind.tolist(), said, each.is_marked.tolist())
    return sorted(spans)


def _transfer_text(row: Any) -> str:
    return _transfer_words(row) if row.outcome in ("ok", None) else f"{_transfer_words(row)}, {row.outcome}"


def _transfer_words(row: Any) -> str:
    source, target = _called(row.source, row.cell), _called(row.target, row.cell)
    return f"{row.payload}, {format_bytes(row.bytes)}, {source} to {target}"


def _work_text(row: Any) -> str:
    said = f"{row.kind}, {row.samples} samples, sensor {row.sensor}"
    return said if row.outcome in ("ok", None) else f"{said}, {row.outcome}"


def _called(number: int, cell: str) -> str:
    known = {SERVER: "server", EVERYONE: f"everybody in {cell}", STATION: f"base station {cell}"}
    return known.get(number, f"sensor {number}")
