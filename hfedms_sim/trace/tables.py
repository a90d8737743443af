"""The tables of a run: a record type each, whose fields are the columns. Other programs read them, so names, order and
types are a contract.

To add a column, add a field here and a value of that name where the row is made. It has to be `| None`: directories of
earlier versions lack it, and whoever reads one gets null. A column that is not `| None` is in every run's table.

Rows of transfers, work and captures are made by position, each in one place: there may be millions of them, and
eighteen names would take as long as two of SimPy's events.
"""

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from hfedms_sim.rounds import Direction, PayloadKind, Phase, Plan, RoundRecord, WorkKind
from hfedms_sim.transfers import Demand, Timeline, Transfer

Outcome = Literal["ok", "lost", "aborted"]
Figures = Mapping[str, Any]


class RoundRow(NamedTuple):
    round: Annotated[int, "from 1"]
    cycle: Annotated[int, "from 1; a cycle starts with a full synchronisation"]
    phase: Annotated[Phase, "full or calibration"]
    start_s: Annotated[float, "simulated seconds"]
    end_s: Annotated[float, "when the last transfer and the last work ended"]
    groups: Annotated[int, "chains that ran in parallel; of a window those that ended in it"]
    total_groups: Annotated[int | None, "groups that were formed, from which these chains were drawn"]
    participants: Annotated[int, "sensors in these chains"]
    skipped: Annotated[int, "participants that trained nothing"]
    group_distance: Annotated[float | None, "sum of squared distances between the groups' class counts"]
    uplink_bytes: Annotated[int, "payload, reports included"]
    downlink_bytes: Annotated[int, "payload"]
    retransmitted_bytes: Annotated[int, "beside the payload"]
    energy_j: Annotated[float | None, "transfers, work and baseline; the sum of the states below"]
    baseline_energy_j: Annotated[float | None, "of the radios beside transfers: connected, set-up, idle and sleep"]
    transmit_j: Annotated[float | None, "transmitter on"]
    receive_j: Annotated[float | None, "receiving airtime"]
    connected_j: Annotated[float | None, "connected without airtime"]
    setup_j: Annotated[float | None, "setting up connections"]
    idle_j: Annotated[float | None, "released, listening or hearing a page now and then"]
    sleep_j: Annotated[float | None, "released, asleep"]
    compute_j: Annotated[float | None, "of the processors"]
    updated_parameters: Annotated[int, "trained in this round, summed over sensors"]
    accuracy: Annotated[float | None, "on all test data"]
    loss: Annotated[float | None, "on all test data"]
    accuracy_p10: Annotated[float | None, "10th percentile over sensors"]
    accuracy_p50: Annotated[float | None, "median over sensors"]
    accuracy_p90: Annotated[float | None, "90th percentile over sensors"]
    probe_accuracy: Annotated[float | None, "on the batches of the probe round"]
    lineage: Annotated[str, "hash of everything learnt so far"]
    arrived: Annotated[int | None, "chains whose model came to the server"]
    deadline_missed: Annotated[int | None, "chains that were cut off when the round was closed"]
    void: Annotated[bool | None, "whether too few arrived, so that the model stayed as it was"]
    staleness: Annotated[float | None, "of the chains that arrived: models made since the one each began with; mean"]
    under_way: Annotated[int | None, "chains that go on after a window; null where there is a barrier"]

    @staticmethod
    def of(
        plan: Plan, record: RoundRecord, spent: Figures, measured: Figures, lineage: str, under_way: int | None
    ) -> "RoundRow":
        """Return the row of a round that was played; `spent` and `measured` are columns as they are."""
        trained = sum(participation.trained for participation in record.participations)
        staleness = [each for each, counts in zip(record.staleness, record.arrived, strict=True) if counts]
        return RoundRow(
            round=record.round,
            cycle=record.cycle,
            phase=record.phase,
            start_s=record.start_s,
            end_s=record.end_s,
            groups=len(record.chains) // max(1, plan.edge_rounds),
            total_groups=plan.total_groups,
            participants=record.participants,
            skipped=record.participants - trained,
            group_distance=plan.group_distance,
            **spent,
            updated_parameters=trained * plan.trained_parameters,
            **measured,
            lineage=lineage,
            arrived=record.arrivals,
            deadline_missed=record.late,
            void=record.is_void,
            staleness=sum(staleness) / len(staleness) if staleness else None,
            under_way=under_way,
        )


class TransferRow(NamedTuple):
    transfer: Annotated[int, "from 0, in the order they ended"]
    round: Annotated[int, "as in rounds: the one in which it ended"]
    group: Annotated[int, "index of the chain among those of its version; -1 for reports and scatter"]
    hop: Annotated[int, "place in the chain, 0 leaves the server; -1 for reports and scatter"]
    direction: Annotated[Direction, "up or down"]
    payload: Annotated[PayloadKind, "model, classifier, report or scatter"]
    source: Annotated[int, "sensor; -1 is the server, -3 the base station"]
    target: Annotated[int, "sensor; -1 is the server, -2 everybody in the cell, -3 the base station"]
    sensor: Annotated[int, "the one on the radio; -2 everybody in the cell"]
    cell: Annotated[str, "name of the base station"]
    bytes: Annotated[int, "payload"]
    ready_s: Annotated[float, "when the sender had it"]
    start_s: Annotated[float, "when its airtime began"]
    end_s: Annotated[float, "when the receiver had it"]
    airtime_s: Annotated[float, "airtime it needs when alone"]
    retransmitted_bytes: Annotated[int, "beside the payload"]
    energy_j: Annotated[float | None, "of the sensor's radio"]
    outcome: Annotated[Outcome, "ok, lost or aborted"]
    held_s: Annotated[float | None, "of the time before it began, in which its cell or its sensor's radio was down"]
    paused_s: Annotated[float | None, "the same, after it began"]
    version: Annotated[int | None, "round that made the model it carries or was made from; 0: the initial one"]

    @staticmethod
    def of(
        number: int,
        in_round: int,
        transfer: Transfer,
        cell: str,
        timeline: Timeline,
        sent: Demand,
        energy_j: float | None,
        outcome: Outcome,
    ) -> "TransferRow":
        """Return the row of a transfer that has ended."""
        ready_s, start_s, end_s, held_s, paused_s = timeline
        _, version, group, (hop, source, target), direction, (payload, size_bytes), sensor, _ = transfer
        return TransferRow(
            number, in_round, group, hop, direction, payload, source, target, sensor, cell, size_bytes,
            ready_s, start_s, end_s, sent.airtime_s, sent.retransmitted_bytes, energy_j, outcome, held_s, paused_s,
            version,
        )  # fmt: skip


class WorkRow(NamedTuple):
    round: Annotated[int, "as in transfers"]
    group: Annotated[int, "as in transfers"]
    hop: Annotated[int, "the sensor's place in the chain, from 0"]
    sensor: Annotated[int, "who computes"]
    kind: Annotated[WorkKind, "train, extract or calibrate"]
    samples: Annotated[int, "how many it works on"]
    start_s: Annotated[float, "simulated seconds"]
    end_s: Annotated[float, "simulated seconds"]
    energy_j: Annotated[float, "of the sensor's processor"]
    outcome: Annotated[Outcome | None, "ok or aborted"]
    version: Annotated[int | None, "as in transfers"]


class CaptureRow(NamedTuple):
    round: Annotated[int, "as in rounds"]
    sensor: Annotated[int, "who captures"]
    time_s: Annotated[float, "when"]
    first_arrival: Annotated[int, "index of the first sample taken, on the sensor's own arrival path"]
    arrived: Annotated[int, "samples since the last capture; of a saturated or static stream those it takes"]
    overflowed: Annotated[int, "of these, lost because the buffer was full"]
    captured: Annotated[int, "samples taken"]


class FaultRow(NamedTuple):
    time_s: Annotated[float, "when"]
    kind: Annotated[str, "what broke"]
    entity: Annotated[str, "where"]
    round: Annotated[int, "as in rounds"]
    detail: Annotated[str, "more"]


class SensorRow(NamedTuple):
    sensor: Annotated[int, "from 0"]
    cell: Annotated[str, "name of the base station it uses, or hears best"]
    x_m: Annotated[float | None, "where it stands, along the width"]
    y_m: Annotated[float | None, "the same, along the length"]
    line_of_sight: Annotated[bool | None, "whether nothing stands between it and the base station"]
    coupling_loss_db: Annotated[float | None, "path loss, shadowing and extra loss"]
    snr_up_db: Annotated[float | None, "signal-to-noise ratio at the base station"]
    snr_down_db: Annotated[float | None, "the same at the sensor"]
    uplink_bps: Annotated[float | None, "its rate alone in the cell"]
    downlink_bps: Annotated[float | None, "the same, base station to sensor"]
    coverage_class: Annotated[int | None, "its place in the profile's repetitions, from 0"]
    covered: Annotated[bool, "whether it can take part"]
    compute: Annotated[str, "its processor"]
    transfers: Annotated[int, "transfers of its radio, broadcasts it heard included"]
    uplink_bytes: Annotated[int, "payloads of it that arrived"]
    downlink_bytes: Annotated[int, "payloads that arrived at it"]
    airtime_s: Annotated[float, "airtime that its radio sent or received"]
    transmit_j: Annotated[float | None, "sending"]
    receive_j: Annotated[float | None, "receiving"]
    connected_j: Annotated[float | None, "connected without airtime"]
    setup_j: Annotated[float | None, "setting up connections"]
    idle_j: Annotated[float | None, "released, and listening for pages"]
    sleep_j: Annotated[float | None, "asleep"]
    compute_j: Annotated[float | None, "its processor"]
    availability: Annotated[float | None, "share of the run in which it was up and could be reached"]
    faults: Annotated[int | None, "its rows in faults"]


RowT = TypeVar("RowT", bound=tuple[object, ...])


class Column(NamedTuple):
    name: str
    type: str
    """int64, float64, string or bool."""
    meaning: str
    is_nullable: bool
    """Whether a row may have null there, and a table of an earlier version lack it."""
    words: tuple[str, ...] = ()
    """All texts that it may hold; none: it may hold any."""


class Table(Generic[RowT]):
    """`row` is the record type of its rows. `is_new`: directories of earlier versions have no such table.

    `former_names` are what earlier versions called some of its columns, by their names of today.
    """

    def __init__(
        self,
        name: str,
        row: type[RowT],
        *,
        is_new: bool = False,
        former_names: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.name = name
        self.row = row
        self.is_new = is_new
        self.former_names = former_names

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Return the fields of its rows."""
        hints = get_type_hints(self.row, include_extras=True)
        return tuple(_column(name, *get_args(hint)) for name, hint in hints.items())


_TYPES: dict[Any, str] = {int: "int64", float: "float64", str: "string", bool: "bool"}


def _column(name: str, kind: Any, meaning: str) -> Column:
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    (only,) = (each for each in kinds if each is not NoneType)
    words = get_args(only) if get_origin(only) is Literal else ()
    return Column(name, "string" if words else _TYPES[only], meaning, NoneType in kinds, words)


ROUNDS = Table("rounds", RoundRow)
TRANSFERS = Table("transfers", TransferRow)
WORK = Table("work", WorkRow)
CAPTURES = Table("captures", CaptureRow)
FAULTS = Table("faults", FaultRow)
SENSORS = Table(
    "sensors", SensorRow, is_new=True, former_names={"uplink_bytes": "bytes_up", "downlink_bytes": "bytes_down"}
)

TABLES: dict[str, Table[Any]] = {table.name: table for table in (ROUNDS, TRANSFERS, WORK, CAPTURES, FAULTS, SENSORS)}
