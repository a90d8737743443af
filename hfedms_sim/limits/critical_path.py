"""The critical path of each round: the chain of steps that ended last, and where its seconds went.

A round has up to three stages, each of which begins when the last process of the one before has ended: reports, chains,
scatter. So the path of a round goes through the report that arrived last, the chain that ended last and the receiver
that was done last, each walked back step by step to what enabled it: the transfer that brought the model, the wait
for samples, the work, the transfer that took it on. A step begins where the one before it ended, so the steps of a
round add up to its length.

Of a team, whose sensors train side by side in its edge rounds, the path goes through the last in each (teams.py).

In a window (rounds.py) the path is that of the chain whose arrival closed it; before that, if it started within the
window, of the chain whose place it took; and so on to where the window begins. Of a step that began before it counts
the share that lies within.

Where something goes wrong, the path goes through all tries of that report and of that receiver. A round that was closed
because enough chains had arrived has the last of those on its path, one that was closed by its deadline the late chain
that was heard of last.

What the seconds of a transfer are split into is in transfer_seconds.py, what went on between two steps in gaps.py.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.limits.columns import PAYLOADS, WORKS, Array, Columns, TraceColumns
from hfedms_sim.limits.gaps import split_gaps
from hfedms_sim.limits.links import Link, figures
from hfedms_sim.limits.occupation import Occupation, times_of
from hfedms_sim.limits.teams import slowest_of_teams
from hfedms_sim.limits.transfer_seconds import split_transfers
from hfedms_sim.rounds import EVERYONE, SERVER, STATION

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
    lost_s: float
    """Seconds of transfers and work that were lost or aborted, and of transfers that were off the air in an outage."""
    outage_s: float
    """Before the step, waiting for what was down."""


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
    """How many sensors of the step's chain handed over; 0 outside any, as in a team."""
    failed: Ints
    """The sensor that failed last before the step, where it waited for what was down; -1: none is known."""
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
    seconds_of = {name: seconds[:, column] for column, name in enumerate(Seconds._fields)}  # views: written through
    is_transfer, is_work = steps["kind"] == 0, steps["kind"] == 1
    for name, values in split_gaps(steps, columns.faults).items():
        seconds_of[name][:] = values
    worked_s = np.where(is_work, steps["end_s"] - steps["start_s"], 0.0)
    seconds_of["compute_s"][:] = np.where(steps["is_ok"], worked_s, 0.0)
    seconds_of["lost_s"][:] = np.where(steps["is_ok"], 0.0, worked_s)
    rows = steps["row"][is_transfer]
    taken = {name: values[rows] for name, values in columns.transfers.items()}
    taken["begin_s"], taken["air_end_s"] = times_of(taken, links)
    taken["contended_s"] = occupied.contended_s[rows]
    is_same = (taken["sensor"] == np.roll(taken["sensor"], 1)) & (taken["ready_s"] >= np.roll(taken["end_s"], 1))
    inactive_s = taken["ready_s"] - np.roll(taken["end_s"], 1)
    taken["was_active"] = is_same & (inactive_s <= figures(links, "inactivity_s")[taken["link"]])
    for name, values in split_transfers(taken, links).items():
        seconds_of[name][is_transfer] += values
    seconds *= _share_within(steps)[:, None]
    names = ("round", "kind", "what", "group", "sensor", "link", "chain_sensors", "failed", "begin_s", "end_s")
    return CriticalPath(links=tuple(links), seconds=seconds, **{name: steps[name] for name in names})


def _share_within(steps: dict[str, Array]) -> Floats:
    """Return the share of each step that lies within its round: all of it, but for what began in an earlier window."""
    whole_s, within_s = steps["end_s"] - steps["start_s"], steps["end_s"] - steps["begin_s"]
    began_before = steps["is_first"] & (steps["start_s"] < steps["begin_s"]) & (whole_s > 0)
    return np.where(began_before, within_s / np.where(began_before, whole_s, 1.0), 1.0)


def _chosen(columns: TraceColumns) -> tuple[Ints, Ints]:
    """Return the rows of the transfers and of the work on the paths."""
    stages = _stages_of(columns)
    reports = _all_tries(columns.transfers, stages.of_round, stages.is_report)
    hops, chain_work = _chains_on_paths(columns, stages)
    scatters, scatter_work = _last_scatter(columns, stages)
    return np.concatenate([reports, hops, scatters]), np.concatenate([chain_work, scatter_work])


class _Stages(NamedTuple):
    """The stage and the round that each transfer and each piece of work belongs to.

    A round is its index in the table of rounds; rows of a round that was not played to its end have the next index.
    """

    of_round: Ints
    is_report: Array
    is_chain: Array
    is_scatter: Array
    of_work: Ints
    is_chain_work: Array
    is_scatter_work: Array


def _stages_of(columns: TraceColumns) -> _Stages:
    transfers, work, rounds = columns.transfers, columns.work, columns.rounds
    of_round, of_work = (np.searchsorted(rounds["round"], rows["round"]) for rows in (transfers, work))
    start_s = np.append(rounds["start_s"], np.inf)  # roll calls that nobody answered are before it
    goes_on = np.append(rounds["is_window"], False)[of_round] & (transfers["end_s"] > start_s[of_round])
    is_played = goes_on | (transfers["ready_s"] >= start_s[of_round])
    is_report, is_scatter = (is_played & (transfers["payload"] == payload) for payload in (_REPORT, _SCATTER))
    scatter_s = np.full(len(start_s), np.inf)
    np.minimum.at(scatter_s, of_round[is_scatter], transfers["ready_s"][is_scatter])
    is_scatter_work = work["start_s"] >= scatter_s[of_work]
    is_chain_work = ~is_scatter_work & (work["end_s"] >= start_s[of_work])
    is_chain = is_played & (transfers["group"] >= 0)
    return _Stages(of_round, is_report, is_chain, is_scatter, of_work, is_chain_work, is_scatter_work)


def _chains_on_paths(columns: TraceColumns, stages: _Stages) -> tuple[Ints, Ints]:
    """Return the transfers and the work of the chain that closed each round, and in windows of those before it."""
    transfers, work, count = columns.transfers, columns.work, len(columns.rounds["round"])
    may_be_last = _awaited(columns, stages) & _may_close(columns, stages)
    chains = _followed_back(columns, stages, _last_of_rounds(stages.of_round, may_be_last))
    hops = stages.is_chain & np.isin(_key(transfers["chain"], stages.of_round, count), chains)
    worked = stages.is_chain_work & np.isin(_key(work["chain"], stages.of_work, count), chains)
    return slowest_of_teams(transfers, np.flatnonzero(hops), work, np.flatnonzero(worked))


def _awaited(columns: TraceColumns, stages: _Stages) -> Array:
    """Return which transfers are of chains that their round waited for until it was closed."""
    faults, rounds, transfers = columns.faults, columns.rounds, columns.transfers
    if faults is None or not len(faults.late_round):
        return stages.is_chain
    is_late = stages.is_chain & faults.is_late(transfers["round"], transfers["group"])
    awaits_late = np.append(faults.closed_by_deadline(rounds["round"], rounds["start_s"]), False)
    awaits_late &= np.bincount(stages.of_round[is_late], minlength=len(awaits_late)) > 0
    is_awaited: Array = is_late == awaits_late[stages.of_round]
    return stages.is_chain & is_awaited


def _may_close(columns: TraceColumns, stages: _Stages) -> Array:
    """Return which transfers may have closed their round: in a window those that brought the server a model, if any."""
    brought = _arrivals(columns, stages)
    awaits_arrival = np.append(columns.rounds["is_window"], False)
    awaits_arrival &= np.bincount(stages.of_round[brought], minlength=len(awaits_arrival)) > 0
    may_close: Array = brought | ~awaits_arrival[stages.of_round]
    return may_close


def _arrivals(columns: TraceColumns, stages: _Stages) -> Array:
    """Return which transfers brought the server a chain's model."""
    arrived: Array = stages.is_chain & columns.transfers["is_ok"] & (columns.transfers["target"] == SERVER)
    return arrived


def _followed_back(columns: TraceColumns, stages: _Stages, last_hop: Ints) -> Ints:
    """Return the chains on the paths, as keys: the one that closed each round, and in windows those before it.

    A chain that started within a window has taken the place of one that had arrived just then.
    """
    transfers, rounds, count = columns.transfers, columns.rounds, len(columns.rounds["round"])
    of_round = stages.of_round
    last_hop = last_hop[of_round[last_hop] < count]  # not of a round that was not played to its end
    keys = _key(transfers["chain"][last_hop], of_round[last_hop], count).tolist()
    if not rounds["is_window"].any():
        return np.array(keys, dtype=np.int64)
    begun_s: dict[int, float] = {}
    known = (transfers[name][stages.is_chain].tolist() for name in ("chain", "ready_s"))
    for chain, ready_s in zip(*known, strict=True):
        begun_s[chain] = min(ready_s, begun_s.get(chain, ready_s))
    arrived = np.flatnonzero(_arrivals(columns, stages))
    ends = np.searchsorted(arrived, last_hop)  # indices into the arrivals; rows are in the order of their ends
    for index, row in zip(ends.tolist(), last_hop.tolist(), strict=True):
        number, chain = int(of_round[row]), int(transfers["chain"][row])
        while index > 0 and rounds["is_window"][number] and begun_s[chain] > rounds["start_s"][number]:
            index -= 1
            before = arrived[index]
            if of_round[before] < number:
                break
            if transfers["end_s"][before] <= begun_s[chain]:
                chain = int(transfers["chain"][before])
                keys.append(int(_key(np.array(chain), np.array(number), count)))
    return np.array(keys, dtype=np.int64)


def _key(chain: Ints, of_round: Ints, count: int) -> Ints:
    """Return a number for each chain in each round; negative outside any chain."""
    return np.where(chain >= 0, chain * (count + 1) + of_round, -1)


def _all_tries(transfers: Columns, of_round: Ints, chosen: Array) -> Ints:
    """Return of each round the chosen transfer that ended last, and the earlier tries of the same."""
    last, rows = _last_of_rounds(of_round, chosen), np.flatnonzero(chosen)
    which = np.searchsorted(of_round[last], of_round[rows])
    is_same = [transfers[name][rows] == transfers[name][last][which] for name in ("sensor", "link")]
    tries: Ints = rows[np.logical_and(*is_same)]
    return tries


def _last_scatter(columns: TraceColumns, stages: _Stages) -> tuple[Ints, Ints]:
    """Return of each round the scatter that ended last, or the one that led to the work that did, and that work."""
    transfers, work, count = columns.transfers, columns.work, len(columns.rounds["round"]) + 1
    of_round, of_work, is_scatter = stages.of_round, stages.of_work, stages.is_scatter
    scatters, works = _last_of_rounds(of_round, is_scatter), _last_of_rounds(of_work, stages.is_scatter_work)
    arrived_s = np.full(count, np.inf)
    arrived_s[of_round[scatters]] = transfers["end_s"][scatters]
    works = works[work["end_s"][works] > arrived_s[of_work[works]]]
    worker, cell = np.full(count, NOWHERE), np.full(count, NOWHERE)
    worker[of_work[works]] = work["sensor"][works]
    is_worker = transfers["sensor"] == worker[of_round]  # no transfer has NOWHERE
    cell[of_round[is_worker]] = transfers["link"][is_worker] // 2
    is_to_all = (transfers["sensor"] == EVERYONE) & (transfers["link"] // 2 == cell[of_round])
    led_to_work = np.flatnonzero(is_scatter & (is_worker | is_to_all))
    ended_last = _all_tries(transfers, of_round, is_scatter & (worker[of_round] == NOWHERE))
    after_it = np.flatnonzero(stages.is_scatter_work & (work["sensor"] == worker[of_work]))
    return np.concatenate([ended_last, led_to_work]), after_it


def _last_of_rounds(of_round: Ints, chosen: Array) -> Ints:
    """Return the last of the chosen rows of each round."""
    rows = np.flatnonzero(chosen)
    return rows[np.append(np.diff(of_round[rows]) > 0, True)] if len(rows) else rows


def _in_order(columns: TraceColumns, transfers: Ints, work: Ints) -> dict[str, Array]:
    """Return the steps of all rounds in order, each with the end of the step before it, as `begin_s`.

    Each round ends with a step for the rest of it: the backbone, behind the last uplink, or a wait for what is down.
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
        "chain": np.concatenate([sent["chain"][transfers], worked["chain"][work], none]),
        "target": np.concatenate([sent["target"][transfers], np.full(len(work), NOWHERE), none]),
        "is_ok": np.concatenate([sent["is_ok"][transfers], worked["is_ok"][work], np.ones(count, dtype=bool)]),
        "start_s": np.concatenate([sent["ready_s"][transfers], worked["start_s"][work], rounds["end_s"]]),
        "end_s": np.concatenate([sent["end_s"][transfers], worked["end_s"][work], rounds["end_s"]]),
    }
    order = np.lexsort((steps["kind"] == 2, steps["end_s"], steps["start_s"], steps["round"]))
    steps = {name: values[order] for name, values in steps.items()}
    of_round = np.searchsorted(rounds["round"], steps["round"])
    is_first = steps["is_first"] = np.append(True, np.diff(of_round) > 0)[: len(of_round)]
    steps["begin_s"] = np.where(is_first, rounds["start_s"][of_round], np.roll(steps["end_s"], 1))
    steps["chain_sensors"] = _chain_sensors(steps)
    steps["failed"] = np.full(len(of_round), NOWHERE)
    if columns.faults is not None:
        steps["failed"] = columns.faults.failed_between(steps["begin_s"], steps["start_s"])
    return steps


def _chain_sensors(steps: dict[str, Array]) -> Ints:
    """Return how many sensors of each step's chain handed over on the path."""
    is_up = (steps["kind"] == 0) & (steps["group"] >= 0) & (steps["link"] % 2 == 0)
    is_handed_over = is_up & steps["is_ok"] & (steps["target"] != STATION)
    chains, which = np.unique(np.stack([steps["round"], steps["chain"]]), axis=1, return_inverse=True)
    sensors = np.bincount(which.ravel()[is_handed_over], minlength=chains.shape[1])
    chained: Ints = np.where(steps["group"] >= 0, sensors[which.ravel()], 0)
    return chained
