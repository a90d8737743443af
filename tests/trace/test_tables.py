"""A column is a named field: what is written under a name is read under it, whatever its place."""

from typing import Annotated, Literal, NamedTuple

import pyarrow as pa
import pytest

from hfedms_sim.lineage import Metrics
from hfedms_sim.rounds import Hop, Payload
from hfedms_sim.trace import TABLES, FaultRow, Table, Trace, arrow_schema
from hfedms_sim.trace.tables import Column
from hfedms_sim.transfers import Demand, Timeline, Transfer
from hfedms_sim.world.invariants import Invariants
from hfedms_sim.world.transfer_log import TransferLog


class _Row(NamedTuple):
    name: Annotated[str, "who"]
    colour: Annotated[Literal["red", "blue"] | None, "red or blue"]
    weight_kg: Annotated[float | None, "on the scale"]
    is_new: Annotated[bool, "whether it is"]


def test_columns_are_the_fields_with_their_types_and_meanings() -> None:
    table = Table("things", _Row)
    assert table.columns == (
        Column("name", "string", "who", is_nullable=False),
        Column("colour", "string", "red or blue", is_nullable=True, words=("red", "blue")),
        Column("weight_kg", "float64", "on the scale", is_nullable=True),
        Column("is_new", "bool", "whether it is", is_nullable=False),
    )
    assert arrow_schema(table).field("weight_kg").type == pa.float64()


@pytest.mark.parametrize("name", TABLES)
def test_every_column_has_a_meaning(name: str) -> None:
    assert all(column.meaning for column in TABLES[name].columns)


def test_rows_are_written_by_name() -> None:
    trace = Trace()
    trace.faults.append(FaultRow(detail="more", round=3, entity="sensor 1", kind="broken", time_s=2.5))
    assert trace.faults.gathered().to_pylist() == [
        {"time_s": 2.5, "kind": "broken", "entity": "sensor 1", "round": 3, "detail": "more"}
    ]


def test_every_value_of_a_transfer_is_in_the_column_of_its_name() -> None:
    """The one row that is made by position: no two of its values are alike, so none can change places."""
    trace = Trace()
    log = TransferLog(trace, sensors=9, invariants=Invariants(seed=1))
    log.round = 1
    transfer = Transfer(1, 16, 2, Hop(3, 4, 5), "up", Payload("report", 6), 7, (7,))
    for _ in range(2):
        timeline = Timeline(8.0, 9.0, 10.0, 0.25, 0.5)
        log.note(transfer, "hall", timeline, Demand(11.0, 12, 13.0, 14.0), 15.0, "aborted")
    assert trace.transfers.gathered().to_pylist()[1] == {
        "transfer": 1, "round": 1, "group": 2, "hop": 3, "direction": "up", "payload": "report", "source": 4,
        "target": 5, "sensor": 7, "cell": "hall", "bytes": 6, "ready_s": 8.0, "start_s": 9.0, "end_s": 10.0,
        "airtime_s": 11.0, "retransmitted_bytes": 12, "energy_j": 15.0, "outcome": "aborted",
        "held_s": 0.25, "paused_s": 0.5, "version": 16,
    }  # fmt: skip


def test_what_a_model_measures_is_a_column_of_rounds() -> None:
    assert set(Metrics._fields) <= {column.name for column in TABLES["rounds"].columns}
