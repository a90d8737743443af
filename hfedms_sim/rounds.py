"""One federated round as plain data, shared by the world and the learning side.

A `Plan` says what is meant to happen, before the clock runs: ordered chains of sensors, what each hop carries, what
each sensor computes, who gets the result. A `RoundRecord` says what did happen. Neither knows seconds per byte or
tensors.

The lineage is a hash chain over the records: two runs with the same lineage have learnt the same thing, whatever
their radios. Times, profiles and the number of rounds are not part of it.

Where there is no barrier a round is a window: it is closed after so many arrivals, and whoever is under way then goes
on and arrives in a later one. The model of round r is made when it is closed, and a chain that starts in round r starts
from the model of round r - 1, its version; 0 is the initial model.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.scenario.base import Direction as Direction  # the world's and the strategies' word too

SERVER = -1  # as source or target of a transfer
EVERYONE = -2  # as target: one broadcast to all receivers in a cell
STATION = -3  # as source or target: the base station, where it averages what its sensors make

Phase = Literal["full", "calibration"]
PayloadKind = Literal["model", "classifier", "report", "scatter"]
WorkKind = Literal["train", "extract", "calibrate"]
ScatterMode = Literal["unicast", "broadcast"]


class Payload(NamedTuple):
    kind: PayloadKind
    size_bytes: int


class Hop(NamedTuple):
    """One step of a chain: the model goes from `source` to `target`; hop 0 leaves the server."""

    number: int
    source: int
    target: int


class Group(NamedTuple):
    """A chain: the sensors train one after the other, in this order."""

    number: int
    sensors: tuple[int, ...]


class Singles(Sequence[Group]):
    """Groups of one sensor each, made when they are asked for: there may be a million, of which few are."""

    def __init__(self, sensors: NDArray[np.int64], first_number: int = 0) -> None:
        self._sensors = sensors
        self._first_number = first_number

    def __len__(self) -> int:
        return len(self._sensors)

    @overload
    def __getitem__(self, place: int) -> Group: ...
    @overload
    def __getitem__(self, place: slice) -> "tuple[Group, ...]": ...
    def __getitem__(self, place: int | slice) -> "Group | tuple[Group, ...]":
        if isinstance(place, slice):
            return tuple(self[each] for each in range(*place.indices(len(self))))
        return Group(self._first_number + range(len(self))[place], (int(self._sensors[place]),))


class WorkStep(NamedTuple):
    """A computation each participant does: over its batch, over what it keeps in memory, or both."""

    kind: WorkKind
    multiply_adds_per_sample: int
    over_batch: bool = True
    over_memory: bool = False
    needs_memory: bool = False
    skips_newcomers: bool = False
    is_for_beginners: bool = False

    def samples(self, captured: int, memory: int, newcomer: bool = False, beginner: bool = False) -> int:
        """Return over how many samples a sensor computes that has captured so many and keeps so many in memory."""
        if (self.needs_memory and not memory) or (self.skips_newcomers and newcomer):
            return 0
        if self.is_for_beginners and not beginner:
            return 0
        return captured * self.over_batch + memory * self.over_memory


class Scatter(NamedTuple):
    """After the merge the server sends the new model to every participant, who then does `work`."""

    payload: Payload
    mode: ScatterMode
    work: tuple[WorkStep, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is meant to happen in a round."""

    round: int
    cycle: int
    phase: Phase
    groups: tuple[Group, ...]
    total_groups: int
    """M, how many there are to draw from; where everybody trains alone, each sensor that can take part is one."""
    payload: Payload
    """What the server sends."""
    work: tuple[WorkStep, ...]
    memory_fill: Mapping[int, int]
    """How many samples of earlier cycles a sensor keeps, if any."""
    reuse_batch: bool
    """Whether sensors work on what they captured at the cycle's full round, instead of a new batch."""
    scatter: Scatter | None
    """What is sent after the merge, where calibration rounds follow."""
    trained_parameters: int
    """How many parameters each participant trains: all, or the classifier's."""
    group_distance: int | None = None
    """How unlike groups are in what they hold, where they were just formed by it (z of inter-cluster grouping)."""
    extra_uplink_bytes: int = 0
    """What comes back to the server besides the model."""
    formed: tuple[tuple[int, ...], ...] = ()
    """All the groups from which these were drawn, where later rounds draw from them again."""
    newcomers: frozenset[int] = frozenset()
    """Participants that have not stored a cycle yet, where they work less."""
    counts: NDArray[np.int64] | None = None
    """The class counts that the groups were formed by, where later cycles form theirs by the same: sensors x classes,
    with -1 in the rows of who has not reported."""
    closes_after: int | None = None
    """How many groups have to arrive until the round is closed; None: all."""
    beginners: frozenset[int] = frozenset()
    """Participants that calibrate for the first time in this cycle, where they work more."""
    relay_bytes: int | None = None
    """The size of what a sensor hands to the next; None: as `payload`."""
    uplink_bytes: int | None = None
    """The size of the model that comes back to the server; None: as `payload`."""
    carries_over: bool = False
    """Whether the round is a window, and whoever is under way when it is closed goes on; else they are cut off."""
    standby: Sequence[Group] = ()
    """For each chain that ends while a window is open, the first of these starts whose sensors are all idle."""
    edge_rounds: int = 0
    """If not 0, a group is no chain but a team, the sensors of one cell: they train side by side from the model of
    their base station, which averages what they make, so many times before it goes to the server."""

    @property
    def participants(self) -> int:
        return sum(len(group.sensors) for group in self.groups)

    @property
    def relay_payload(self) -> Payload:
        """What goes from one sensor of a chain to the next."""
        kind, size_bytes = self.payload
        return Payload(kind, size_bytes if self.relay_bytes is None else self.relay_bytes)

    @property
    def uplink_payload(self) -> Payload:
        """What goes from the last sensor of a chain to the server, or from a sensor of a team to its base station."""
        kind, size_bytes = self.payload
        sent_bytes = size_bytes if self.uplink_bytes is None else self.uplink_bytes
        return Payload(kind, sent_bytes + self.extra_uplink_bytes)


def empty_plan(round_number: int, cycle: int) -> Plan:
    """Return the plan of a full round in which nobody takes part."""
    return Plan(
        round=round_number,
        cycle=cycle,
        phase="full",
        groups=(),
        total_groups=0,
        payload=Payload("model", 1),
        work=(),
        memory_fill={},
        reuse_batch=False,
        scatter=None,
        trained_parameters=0,
    )


Samples = tuple[tuple[int, int], ...]
"""Some of a sensor's samples: (first arrival index, how many), ascending. Old and new may have others between them."""


class Participation(NamedTuple):
    """What one sensor of a chain did, and on which samples of its own arrival path."""

    sensor: int
    samples: Samples
    trained: bool
    handed_over: bool
    """True: who does not hand over is in no chain. It is part of every lineage, so it stays."""
    got_scatter: bool

    @property
    def captured(self) -> int:
        return sum(count for _, count in self.samples)


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """The round as it happened: all the learner needs to know of the world.

    In a window the chains are those that ended in it, in the order in which the server heard of them. Of a team
    (`Plan.edge_rounds`) there is a chain for each of its edge rounds, with those that handed over in it.
    """

    round: int
    cycle: int
    phase: Phase
    chains: tuple[tuple[Participation, ...], ...]
    """Those that handed over, in their order, of each of the plan's groups."""
    arrived: tuple[bool, ...]
    """Whether what a chain made counts at the server; none does in a void round."""
    start_s: float
    end_s: float
    arrivals: int = 0
    """How many chains came to the server, whether or not they counted."""
    late: int = 0
    """How many were cut off when the round was closed."""
    participants: int = 0
    """The sensors of these chains, whether or not they handed over."""
    started: tuple[int, ...] = ()
    """The rounds in which the chains started; empty: all in this one."""
    under_way: tuple[int, ...] = ()
    """The rounds in which those started that go on, each once and ascending: their versions are still needed."""
    numbers: tuple[int, ...] = ()
    """Those of the chains' groups."""
    models_since: tuple[int, ...] = ()
    """How many models the server has made since each started; void windows make none. Empty: one in each round."""

    @property
    def staleness(self) -> tuple[int, ...]:
        """Return for each chain how many newer models the server has than the one it started from."""
        return self.models_since or self.ages

    @property
    def ages(self) -> tuple[int, ...]:
        """Return for each chain how many rounds ago it started."""
        return tuple(self.round - each for each in self.started) or (0,) * len(self.chains)

    @property
    def is_void(self) -> bool:
        """Whether nothing arrived, so that the model stays as it was."""
        return not any(self.arrived)

    @property
    def participations(self) -> Iterator[Participation]:
        return (participation for chain in self.chains for participation in chain)


@dataclass(frozen=True, slots=True)
class NetworkView:
    """What a server could know of the network before a round: arrays by sensor number, and by cell where it says so.

    Not a number is what it does not know (yet): rates of sensors out of coverage, durations before the first.
    """

    cell: NDArray[np.int64]
    """The cell that each sensor uses."""
    uplink_bps: NDArray[np.float64]
    """Its rate alone in the cell."""
    downlink_bps: NDArray[np.float64]
    coverage_class: NDArray[np.float64]
    last_uplink_s: NDArray[np.float64]
    """How long its last uplink took, from ready to delivered."""
    last_downlink_s: NDArray[np.float64]
    last_work_s: NDArray[np.float64]
    """How long it worked when it last took part."""
    uplink_channels: NDArray[np.float64]
    """By cell: how many sensors it serves at their full rate."""
    downlink_channels: NDArray[np.float64]
    battery_share: NDArray[np.float64] | None = None
    """What is left of each battery; None where batteries do not empty."""
    here_until_s: NDArray[np.float64] | None = None
    """Until when each sensor is announced to be there, now if it is away; None where nobody is announced to go."""


_NOBODY: NDArray[np.int64] = np.zeros(0, dtype=np.int64)


class PlanContext(NamedTuple):
    """What a strategy may look at when it plans a round."""

    counts: NDArray[np.int64] | None
    """Class counts of the report, sensors x classes; None if it asked for none."""
    network: Callable[[], NetworkView]
    """The network as it is now; worked out when asked for."""
    sensors: NDArray[np.int64]
    """Who can be asked to take part, ascending: not announced to be away, has reported if that was asked for, idle."""
    under_way: NDArray[np.int64] = _NOBODY
    """Who takes part in a chain of an earlier round that goes on, ascending; not who is announced to be away by now."""
    chains_under_way: int = 0
    """How many such chains there are."""
    metrics: Mapping[str, float | None] = MappingProxyType({})
    """What the model measured when it was last tested, by the columns of `rounds`; empty before that, and for
    strategies that do not say that they need it."""


def lineage_root(settings: Mapping[str, Any]) -> str:
    """The hash a run starts from: everything but the rounds themselves that decides what is learnt."""
    return sha256(json.dumps(settings, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def lineage_after(parent: str, record: RoundRecord) -> str:
    """The hash after one more round. Columns are hashed as little-endian 64-bit integers.

    A chain in which nobody handed over is as if it had not been planned: nothing is learnt from it. Versions are hashed
    where one is older than the round, or is kept for a chain under way.
    """
    participations = list(record.participations)
    each_chain = zip(record.chains, record.arrived, record.ages, strict=True)
    chains = [(len(chain), arrived, age) for chain, arrived, age in each_chain if chain]
    columns: list[list[Any]] = [
        [length for length, _, _ in chains],
        [arrived for _, arrived, _ in chains],
        [(p.sensor, p.trained, p.handed_over, p.got_scatter, len(p.samples)) for p in participations],
        [span for p in participations for span in p.samples],
    ]
    if record.under_way or any(record.ages):
        columns += [[age for _, _, age in chains], [record.round - each for each in record.under_way]]
    digest = sha256(f"{parent}/{record.phase}".encode())
    for column in columns:
        digest.update(len(column).to_bytes(8, "little"))
        digest.update(np.array(column, dtype="<i8").tobytes())
    return digest.hexdigest()
