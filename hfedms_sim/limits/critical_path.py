"""The critical path of each round: the chain of steps that ended last, and where its seconds went.

A round has up to three phases, each of which begins when the last process of the one before has ended: reports, chains,
scatter. So the path of a round goes through the report that arrived last, the chain that ended last and the receiver
that was done last, each walked back step by step to what enabled it: the transfer that brought the model, the wait
for samples, the work, the transfer that took it on. A step begins where the one before it ended, so the steps of a
round add up to its length.

What the seconds of a transfer are split into is in transfer_seconds.py.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.limits.columns import PAYLOADS, WORKS, Array, Columns, TraceColumns
from hfedms_sim.limits.links import Link, figures
from hfedms_sim.limits.occupation import Occupation, times_of
from hfedms_sim.limits.transfer_seconds import split_transfers
from hfedms_sim.rounds import EVERYONE

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
StepKind = Literal["transfer", "work", "end"]

NOWHERE = -1  # the link of work and of the end, and the group of reports and scatter
_REPORT, _SCATTER = PAYLOADS.index("report"), PAYLOADS.index("scatter")


class Seconds(NamedTuple):
    """Where the seconds of a step went."""

    setup_s: float
    waiting_s: float
    shared_airtime_s: float
    slow_rate_s: float
    airtime_s: float
    silence_s: float
    latency_s: float
    backbone_s: float
    compute_s: float
    samples_s: float


class PathStep(NamedTuple):
    """One step of a round's critical path, from the end of the step before it to its own."""

    round: int
    kind: StepKind
    what: str
    """The payload of a transfer, the kind of work; empty at the end of a round, which is the backbone's."""
    group: int
    """The chain; -1 outside any."""
    sensor: int
    """-2: everybody in the cell; -1 at the end of a round."""
    link: Link | None
    begin_s: float
    end_s: float
    seconds: Seconds


@dataclass(frozen=True)
class CriticalPath:
    """The steps of all rounds that were looked at, in order, as columns: `seconds` has a row for each step."""

    links: tuple[Link, ...]
    round: Ints
    kind: Ints
    """0: transfer, 1: work, 2: the end of the round."""
    what: Ints
    group: Ints
    sensor: Ints
    link: Ints
    """-1 where there is none."""
    chain_sensors: Ints
    """How many sensors the step's chain has; 0 outside any."""
    begin_s: Floats
    end_s: Floats
    seconds: Floats

    def __len__(self) -> int:
        return len(self.round)

    def of(self, name: str) -> Floats:
        """Return one of the columns of `Seconds`."""
        column: Floats = self.seconds[:, Seconds._fields.index(name)]
        return column

    def steps(self, round_number: int) -> Iterator[PathStep]:
        """Yield the path of one round from its start to its end."""
        texts: tuple[tuple[StepKind, Sequence[str]], ...] = (("transfer", PAYLOADS), ("work", WORKS), ("end", ("",)))
        for row in np.flatnonzero(self.round == round_number).tolist():
            kind, words = texts[self.kind[row]]
            link = None if self.link[row] == NOWHERE else self.links[self.link[row]]
            yield PathStep(
                round_number, kind, words[self.what[row]], int(self.group[row]), int(self.sensor[row]), link,
                float(self.begin_s[row]), float(self.end_s[row]), Seconds(*self.seconds[row].tolist()),
            )  # fmt: skip


def critical_path(columns: TraceColumns, links: Sequence[Link], occupied: Occupation) -> CriticalPath:
    """Return the critical paths of all rounds."""
    transfers, work = _chosen(columns)
    steps = _in_order(columns, transfers, work)
    seconds = np.zeros((len(steps["round"]), len(Seconds._fields)))
    place = {name: seconds[:, column] for column, name in enumerate(Seconds._fields)}
    is_transfer = steps["kind"] == 0
    _split_gaps(steps, place)
    place["compute_s"][:] = np.where(steps["kind"] == 1, steps["end_s"] - steps["start_s"], 0.0)
    rows = steps["row"][is_transfer]
    taken = {name: values[rows] for name, values in columns.transfers.items()}
    taken["begin_s"], taken["air_end_s"] = times_of(taken, links)
    taken["contended_s"] = occupied.contended_s[rows]
    is_same = (taken["sensor"] == np.roll(taken["sensor"], 1)) & (taken["ready_s"] >= np.roll(taken["end_s"], 1))
    inactive_s = taken["ready_s"] - np.roll(taken["end_s"], 1)
    taken["was_active"] = is_same & (inactive_s <= figures(links, "inactivity_s")[taken["link"]])
    for name, values in split_transfers(taken, links).items():
        place[name][is_transfer] += values
    names = ("round", "kind", "what", "group", "sensor", "link", "chain_sensors", "begin_s", "end_s")
    return CriticalPath(links=tuple(links), seconds=seconds, **{name: steps[name] for name in names})


def _chosen(columns: TraceColumns) -> tuple[Ints, Ints]:
    """Return the rows of the transfers and of the work on the paths."""
    transfers, work, rounds = columns.transfers, columns.work, columns.rounds["round"]
    first, count = (int(rounds[0]) if len(rounds) else 1), len(rounds)
    of_round, of_work = transfers["round"] - first, work["round"] - first
    is_scatter, is_chain = transfers["payload"] == _SCATTER, transfers["group"] >= 0
    reports = _last_of_rounds(of_round, transfers["payload"] == _REPORT)
    last_hop = _last_of_rounds(of_round, is_chain)
    group = np.full(count, NOWHERE)
    group[of_round[last_hop]] = transfers["group"][last_hop]
    scatter_s = np.full(count, np.inf)
    np.minimum.at(scatter_s, of_round[is_scatter], transfers["ready_s"][is_scatter])
    is_after = work["start_s"] >= scatter_s[of_work]
    scatters, last_works = _last_scatter(columns, of_round, of_work, is_scatter, is_after)
    in_chain = np.flatnonzero(is_chain & (transfers["group"] == group[of_round]))
    work_in_chain = np.flatnonzero(~is_after & (work["group"] == group[of_work]))
    return np.concatenate([reports, in_chain, scatters]), np.concatenate([work_in_chain, last_works])


def _last_scatter(
    columns: TraceColumns, of_round: Ints, of_work: Ints, is_scatter: Array, is_after: Array
) -> tuple[Ints, Ints]:
    """Return of each round the scatter that ended last, or the one that led to the work that did, and that work."""
    transfers, work, count = columns.transfers, columns.work, len(columns.rounds["round"])
    scatters, works = _last_of_rounds(of_round, is_scatter), _last_of_rounds(of_work, is_after)
    arrived_s = np.full(count, np.inf)
    arrived_s[of_round[scatters]] = transfers["end_s"][scatters]
    works = works[work["end_s"][works] > arrived_s[of_work[works]]]
    worker, cell = np.full(count, NOWHERE), np.full(count, NOWHERE)
    worker[of_work[works]] = work["sensor"][works]
    is_worker = transfers["sensor"] == worker[of_round]  # no transfer has NOWHERE
    cell[of_round[is_worker]] = transfers["link"][is_worker] // 2
    is_to_all = (transfers["sensor"] == EVERYONE) & (transfers["link"] // 2 == cell[of_round])
    led_to_work = np.flatnonzero(is_scatter & (is_worker | is_to_all))
    ended_last = scatters[worker[of_round[scatters]] == NOWHERE]
    after_it = np.flatnonzero(is_after & (work["sensor"] == worker[of_work]))
    return np.concatenate([ended_last, led_to_work]), after_it


def _last_of_rounds(of_round: Ints, chosen: Array) -> Ints:
    """Return the last of the chosen rows of each round."""
    rows = np.flatnonzero(chosen)
    return rows[np.append(np.diff(of_round[rows]) > 0, True)] if len(rows) else rows


def _in_order(columns: TraceColumns, transfers: Ints, work: Ints) -> dict[str, Array]:
    """Return the steps of all rounds in order, each with the end of the step before it, as `begin_s`.

    Each round ends with a step for the rest of it: the backbone, behind the last uplink.
    """
    rounds, count = columns.rounds, len(columns.rounds["round"])
    sent, worked = columns.transfers, columns.work
    none = np.full(count, NOWHERE)
    steps = {
        "round": np.concatenate([sent["round"][transfers], worked["round"][work], rounds["round"]]),
        "kind": np.repeat([0, 1, 2], [len(transfers), len(work), count]),
        "what": np.concatenate([sent["payload"][transfers], worked["kind"][work], np.zeros(count, dtype=np.int64)]),
        "group": np.concatenate([sent["group"][transfers], worked["group"][work], none]),
        "sensor": np.concatenate([sent["sensor"][transfers], worked["sensor"][work], none]),
        "link": np.concatenate([sent["link"][transfers], np.full(len(work), NOWHERE), none]),
        "row": np.concatenate([transfers, work, none]),
        "start_s": np.concatenate([sent["ready_s"][transfers], worked["start_s"][work], rounds["end_s"]]),
        "end_s": np.concatenate([sent["end_s"][transfers], worked["end_s"][work], rounds["end_s"]]),
    }
    order = np.lexsort((steps["kind"] == 2, steps["end_s"], steps["start_s"], steps["round"]))
    steps = {name: values[order] for name, values in steps.items()}
    of_round = steps["round"] - (rounds["round"][0] if count else 1)
    is_first = np.append(True, np.diff(of_round) > 0)[: len(of_round)]
    steps["begin_s"] = np.where(is_first, rounds["start_s"][of_round], np.roll(steps["end_s"], 1))
    steps["chain_sensors"] = _chain_sensors(steps, sent, of_round, count)
    return steps


def _chain_sensors(steps: dict[str, Array], sent: Columns, of_round: Ints, count: int) -> Ints:
    """Return how many sensors each step's chain has: the number of its last hop."""
    is_hop = (steps["kind"] == 0) & (steps["group"] >= 0)
    sensors = np.zeros(count, dtype=np.int64)
    np.maximum.at(sensors, of_round[is_hop], sent["hop"][steps["row"][is_hop]])
    chained: Ints = np.where(steps["group"] >= 0, sensors[of_round], 0)
    return chained


def _split_gaps(steps: dict[str, Array], place: dict[str, Floats]) -> None:
    """Say what went on between two steps: after a model has come down its sensor waits for samples, else backbone."""
    gap_s = np.maximum(0.0, steps["start_s"] - steps["begin_s"])
    is_up = (steps["kind"] == 0) & (steps["link"] % 2 == 0)
    at_sensor = (steps["group"] >= 0) & (is_up | (steps["kind"] == 1))
    place["samples_s"][:] = np.where(at_sensor, gap_s, 0.0)
    place["backbone_s"][:] = np.where(at_sensor, 0.0, gap_s)
