"""One federated round as plain data, shared by the world and the learning side.

A `Plan` says what is meant to happen, before the clock runs: ordered chains of sensors, what each hop carries, what
each sensor computes, who gets the result. A `RoundRecord` says what did happen. Neither knows seconds per byte or
tensors.

The lineage is a hash chain over the records: two runs with the same lineage have learnt the same thing, whatever
their radios. Times, profiles and the number of rounds are not part of it.

Where there is no barrier a round is a window: it is closed after a number of arrivals, and a chain under way then goes
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
    """Sensors that are planned together: a chain, in which they train one after the other, in this order.

    In a plan with `edge_rounds` it is a team (HierFAVG), whose sensors train side by side.
    """

    number: int
    sensors: tuple[int, ...]


class Singles(Sequence[Group]):
    """Groups of one sensor each. Each is made when it is asked for: a million may stand by, and few are asked for."""

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
    """A computation that each participant does: over its batch, over what it keeps in memory, or over both."""

    kind: WorkKind
    multiply_adds_per_sample: int
    over_batch: bool = True
    over_memory: bool = False
    needs_memory: bool = False
    """Whether a sensor whose memory is empty leaves it out."""
    needs_stored_cycle: bool = False
    """Whether a sensor that has never stored a cycle (`Plan.never_stored`) leaves it out."""
    is_once_a_cycle: bool = False
    """Whether a sensor does it only when it calibrates for the first time in the cycle (`Plan.first_calibrations`)."""

    def samples(
        self, captured: int, memory: int, has_never_stored: bool = False, is_first_calibration: bool = False
    ) -> int:
        """Return over how many samples a sensor computes, given how many it has captured and how many it remembers."""
        if (self.needs_memory and not memory) or (self.needs_stored_cycle and has_never_stored):
            return 0
        if self.is_once_a_cycle and not is_first_calibration:
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
    """M, the number of groups that `groups` is drawn from. Where everybody trains alone, each sensor that can take part
    is a group."""
    payload: Payload
    """What the server sends."""
    work: tuple[WorkStep, ...]
    memory_fill: Mapping[int, int]
    """How many semantic vectors each sensor holds when the round is planned (raw samples with `scc: oracle`); a sensor
    that is not in it holds none."""
    reuse_batch: bool
    """Whether sensors work on what they captured at the cycle's full round, instead of a new batch."""
    scatter: Scatter | None
    """What is sent after the merge, where calibration rounds follow."""
    trained_parameters: int
    """How many parameters each participant trains: all, or the classifier's."""
    group_distance: int | None = None
    """How unlike the groups are in the classes that they hold (z of inter-cluster grouping). None unless the groups
    were formed by class counts for this very round."""
    extra_uplink_bytes: int = 0
    """What comes back to the server besides the model."""
    formed: tuple[tuple[int, ...], ...] = ()
    """All the groups that `groups` was drawn from. Empty unless later rounds draw from them again."""
    never_stored: frozenset[int] = frozenset()
    """Participants that have not stored a cycle in this run so far. Empty unless such sensors do not calibrate
    (`first_time: skip`)."""
    counts: NDArray[np.int64] | None = None
    """The class counts that the groups were formed by: sensors x classes, with -1 in the rows of sensors that have not
    reported. None unless later cycles form their groups by the same counts."""
    closes_after: int | None = None
    """How many groups have to arrive until the round is closed; None: all."""
    first_calibrations: frozenset[int] = frozenset()
    """Participants that have not calibrated in this cycle so far. They also do the work steps that are done once a
    cycle, such as the extraction with the backup extractor."""
    relay_bytes: int | None = None
    """The size of what a sensor hands to the next; None: as `payload`."""
    uplink_bytes: int | None = None
    """The size of the model that comes back to the server; None: as `payload`."""
    carries_over: bool = False
    """Whether the round is a window: chains that are under way when it is closed go on. Else they are cut off."""
    standby: Sequence[Group] = ()
    """Groups that wait for their start. Each time a chain ends while the window is open, the first group whose sensors
    are all idle starts."""
    edge_rounds: int = 0
    """If not 0, a group is no chain but a team: the sensors of one cell. They train side by side from the model of
    their base station, which then averages what they made. It does so `edge_rounds` times before its model goes to
    the server."""

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
"""Some of a sensor's samples, as ranges of its arrival path: (first arrival index, how many), ascending. There may be
gaps between the ranges."""


class Participation(NamedTuple):
    """What one sensor of a chain did, and on which samples of its own arrival path.

    A sensor that did not hand over is in no chain of a record.
    """

    sensor: int
    samples: Samples
    trained: bool
    got_scatter: bool

    @property
    def captured(self) -> int:
        return sum(count for _, count in self.samples)


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """The round as it happened: all that the learner needs to know of the world.

    In a window the chains are those that ended in it, in the order in which the server heard of them. A team
    (`Plan.edge_rounds`) has a chain for each of its edge rounds: the sensors that handed over in it.
    """

    round: int
    cycle: int
    phase: Phase
    chains: tuple[tuple[Participation, ...], ...]
    """For each of the plan's groups the sensors that handed over, in their order."""
    arrived: tuple[bool, ...]
    """Whether what a chain made counts at the server; none does in a void round."""
    start_s: float
    end_s: float
    arrivals: int = 0
    """How many chains came to the server, whether or not they counted."""
    late: int = 0
    """How many chains were cut off when the round was closed."""
    participants: int = 0
    """The sensors of these chains, whether or not they handed over."""
    started: tuple[int, ...] = ()
    """The rounds in which the chains started; empty: all in this one."""
    under_way: tuple[int, ...] = ()
    """The rounds in which the chains that go on have started, each once and ascending: the models that these chains
    started from are still needed."""
    numbers: tuple[int, ...] = ()
    """The number of each chain's group."""
    models_since: tuple[int, ...] = ()
    """How many models the server has made since each chain started; void windows make none. Empty: one in each
    round."""

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

    What the server does not know (yet) is NaN: rates of sensors out of coverage, durations before the first transfer or
    work.
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
    has_one_airtime: NDArray[np.bool_]
    """By cell: whether its uplinks and downlinks take turns, so that its channels are those of both together."""
    can_multicast: NDArray[np.bool_]
    """By cell: whether its base station can send a model once to all that listen."""
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
    """The sensors that can be asked to take part, ascending: idle, not announced to be away, and heard from if a report
    was asked for."""
    under_way: NDArray[np.int64] = _NOBODY
    """The sensors of chains of earlier rounds that go on, ascending, without those that are announced to be away by
    now."""
    chains_under_way: int = 0
    """How many such chains there are."""
    metrics: Mapping[str, float | None] = MappingProxyType({})
    """What the model measured when it was last tested, by the columns of `rounds`; empty before that, and for
    strategies that do not say that they need it."""


def lineage_root(settings: Mapping[str, Any]) -> str:
    """Return the hash that a run starts from. `settings` decide what is learnt, together with the rounds themselves."""
    return sha256(json.dumps(settings, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


_HANDED_OVER = True  # of every sensor in a record: once a field of it, and still hashed, so that lineages stay known


def lineage_after(parent: str, record: RoundRecord) -> str:
    """Return the hash after one more round. Columns are hashed as little-endian 64-bit integers.

    A chain in which nobody handed over is left out, as if it had not been planned: nothing is learnt from it. The ages
    of chains are hashed if a chain started before this round, or if one is still under way.
    """
    participations = list(record.participations)
    each_chain = zip(record.chains, record.arrived, record.ages, strict=True)
    chains = [(len(chain), arrived, age) for chain, arrived, age in each_chain if chain]
    columns: list[list[Any]] = [
        [length for length, _, _ in chains],
        [arrived for _, arrived, _ in chains],
        [(p.sensor, p.trained, _HANDED_OVER, p.got_scatter, len(p.samples)) for p in participations],
        [span for p in participations for span in p.samples],
    ]
    if record.under_way or any(record.ages):
        columns += [[age for _, _, age in chains], [record.round - each for each in record.under_way]]
    digest = sha256(f"{parent}/{record.phase}".encode())
    for column in columns:
        digest.update(len(column).to_bytes(8, "little"))
        digest.update(np.array(column, dtype="<i8").tobytes())
    return digest.hexdigest()
