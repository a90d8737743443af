"""Who used the air, and when: the cells over the whole run, and one round step by step."""

from collections.abc import Iterator, Sequence

import numpy as np

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Figure
from hfedms_sim.report.page.blocks import Prose, Section, Switch, drawings
from hfedms_sim.report.views.lanes import LanesBy
from hfedms_sim.report.views.rounds_timeline import timeline_figure, typical_round
from hfedms_sim.report.views.transfers import transfers_figure
from hfedms_sim.report.views.utilisation import utilisation_figure
from hfedms_sim.result import RunResult

MOST_SPANS = 1_500
"""How many spans of one round are drawn; a screen has no room for more."""
_LEAST = 4  # rounds that are there in any case


def air_section(result: RunResult) -> Section | None:
    """Return how busy the cells were and how long transfers took; None if neither is known."""
    drawn = drawings(lambda: utilisation_figure(result), lambda: transfers_figure([result]))
    return Section("air", "The air", drawn) if drawn else None


def round_section(result: RunResult, most_rounds: int) -> Section | None:
    """Return the timelines of rounds to choose from; None if nothing took time in any."""
    if not len(result.rounds):
        return None
    numbers = chosen_rounds(result, most_rounds)
    switches = [_switch(result, numbers, lanes) for lanes in ("sensors", "cells")]
    drawn = [switch for switch in switches if switch is not None]
    if not drawn:
        return None
    told: list[Prose] = []
    if len(numbers) < len(result.rounds):
        which = f"{len(numbers)} of {len(result.rounds):,} rounds are in this page: the first, the last, the longest"
        told = [Prose((f"{which}, a typical one{', and others between' if len(numbers) > _LEAST else ''}.",))]
    return Section("round", "A round", (*told, *drawn))


def _switch(result: RunResult, numbers: Sequence[int], lanes: LanesBy) -> Switch | None:
    """Return the rounds in which anything took time, the typical one chosen; None if there is none."""
    options = tuple((str(number), figure) for number, figure in _timelines(result, numbers, lanes))
    names = [name for name, _ in options]
    typical = str(typical_round(result))
    chosen = names.index(typical) if typical in names else 0
    return Switch(f"by {lanes[:-1]}, round", options, chosen, is_long=True) if options else None


def _timelines(result: RunResult, numbers: Sequence[int], lanes: LanesBy) -> Iterator[tuple[int, Figure]]:
    for number in numbers:
        try:
            yield number, timeline_figure(result, number, lanes=lanes, most_spans=MOST_SPANS)
        except InputError:  # nothing in it took time
            continue


def chosen_rounds(result: RunResult, most: int) -> list[int]:
    """Return which traced rounds to show: all, or the first, last, longest and typical one and some between."""
    rounds = result.traced_rounds
    numbers = rounds["round"].to_numpy()
    if len(numbers) <= most:
        return [int(number) for number in numbers]
    lengths_s = (rounds["end_s"] - rounds["start_s"]).to_numpy()
    needed = {int(numbers[0]), int(numbers[-1]), int(numbers[lengths_s.argmax()]), typical_round(result)}
    between = numbers[np.linspace(0, len(numbers) - 1, max(0, most - len(needed)) + 2).astype(int)[1:-1]]
    return sorted(needed | {int(number) for number in between})
