"""How long transfers take, by payload and direction: in company from ready to end, and alone, as airtime.

A box is given by five numbers, not by all its values: both ends of its whiskers, the quartiles and the median. They
have the very box plot of all values, and a run of a million transfers stays a small figure.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Boxes, Figure
from hfedms_sim.report.five_numbers import FiveNumbers, five_numbers
from hfedms_sim.report.run_labels import RunSet, name_of, run_sets, scenarios_of
from hfedms_sim.report.views.scales import Unit, time_unit
from hfedms_sim.result import RunResult

Floats = NDArray[np.float64]
Kind = tuple[str, str]
"""Payload and direction."""

_MEASURES = {"taken": "from ready to end", "airtime": "airtime alone"}


def transfers_figure(results: Sequence[RunResult]) -> Figure:
    """Return boxes of the seconds of transfers that arrived, beside those of their airtime.

    Of one run, or of runs that differ in the seed alone, there is a box for each payload and direction; of several,
    two panels for each payload and direction, with a box for each of them.
    """
    sets = run_sets(results)
    durations = [_durations_s(runs) for runs in sets]
    kinds = sorted({kind for each in durations for kind in each})
    if not kinds:
        raise InputError(f"{name_of(results[0])}: nothing to plot, no transfer has arrived")
    labels = [runs.label for runs in sets]
    if len(sets) == 1:
        values = [(_called(kind), durations[0][kind]) for kind in kinds]
        panels = tuple(_panel(words[0].upper() + words[1:], values, measure) for measure, words in _MEASURES.items())
    else:
        panels = tuple(
            _panel(f"{_called(kind)}: {words}", _of_kind(kind, labels, durations), measure)
            for kind in kinds
            for measure, words in _MEASURES.items()
        )
    count = sum(len(own["taken"]) for each in durations for own in each.values())
    note = f"{count:,} transfers that arrived. Boxes are quartiles, whiskers reach 1.5 interquartile ranges."
    return Figure("transfers", f"{scenarios_of(results)}: how long transfers take", panels, note=note)


def _durations_s(runs: RunSet) -> dict[Kind, dict[str, Floats]]:
    """Return by payload and direction how long transfers took, in company and alone."""
    found: dict[Kind, dict[str, list[Floats]]] = {}
    for result in runs.results:
        transfers = result.transfers
        arrived = transfers[transfers["outcome"].isna() | (transfers["outcome"] == "ok")]
        for kind, own in arrived.groupby(["payload", "direction"]):
            taken_s = (own["end_s"] - own["ready_s"]).to_numpy(dtype=float)
            lists = found.setdefault((str(kind[0]), str(kind[1])), {"taken": [], "airtime": []})
            lists["taken"].append(taken_s)
            lists["airtime"].append(own["airtime_s"].to_numpy(dtype=float))
    return {kind: {name: np.concatenate(parts) for name, parts in own.items()} for kind, own in found.items()}


def _of_kind(
    kind: Kind, labels: Sequence[str], durations: Sequence[Mapping[Kind, Mapping[str, Floats]]]
) -> list[tuple[str, Mapping[str, Floats]]]:
    """Return the durations of one kind, of the sets that have any."""
    return [(label, own[kind]) for label, own in zip(labels, durations, strict=True) if kind in own]


def _panel(title: str, values: Sequence[tuple[str, Mapping[str, Floats]]], measure: str) -> Boxes:
    boxes = [(label, five_numbers(own[measure])) for label, own in values]
    unit = _unit(boxes)
    groups = tuple((label, unit.of(box)) for label, box in boxes)
    counts = tuple(len(own[measure]) for _, own in values)
    return Boxes(title, unit.name, groups, all(value > 0 for _, box in boxes for value in box), counts)


def _unit(boxes: Sequence[tuple[str, FiveNumbers]]) -> Unit:
    """Return the unit in which the highest median is a handy number."""
    return time_unit(max(box[2] for _, box in boxes))


def _called(kind: Kind) -> str:
    payload, direction = kind
    return f"{payload} {direction}"
