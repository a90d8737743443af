"""Plans played out by hand: who sends what when, over which cells."""

from typing import Any

import numpy as np
import pytest

from hfedms_sim.rounds import EVERYONE, SERVER, Group, Payload, Plan, RoundRecord, Scatter, WorkStep
from hfedms_sim.trace import Trace
from hfedms_sim.world.world import World
from tests.conftest import FAST, tiny_scenario

KILOBYTE = Payload("model", 1_000)  # a second on the FAST profile, in both directions
TRAIN = WorkStep("train", 10)


def make_plan(*chains: tuple[int, ...], **changes: Any) -> Plan:
    fields: dict[str, Any] = {
        "round": 1,
        "cycle": 1,
        "phase": "full",
        "groups": tuple(Group(number, sensors) for number, sensors in enumerate(chains)),
        "total_groups": len(chains),
        "payload": KILOBYTE,
        "work": (TRAIN,),
        "memory_fill": {},
        "reuse_batch": False,
        "scatter": None,
        "trained_parameters": 1,
    }
    return Plan(**(fields | changes))


def play(
    plan: Plan, report: Payload | None = None, sizes: Any = None, **scenario: Any
) -> tuple[RoundRecord, dict[str, list[dict[str, Any]]]]:
    """The record, and the tables as lists of rows."""
    with Trace() as trace:
        world = World(tiny_scenario(**scenario), trace, sizes)
        world.begin_round(plan.round)
        if report is not None:
            world.report(report)
        record = world.play(plan)
    return record, {recorder.table.name: recorder.gathered().to_pylist() for recorder in trace.recorders}


def legs(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(row["direction"], row["source"], row["target"], row["start_s"], row["end_s"]) for row in rows]


def cells(count: int, **profile: Any) -> list[dict[str, Any]]:
    return [{"name": f"cell{number}", "profile": FAST | profile} for number in range(count)]


def test_a_chain_goes_from_the_server_through_its_sensors_and_back() -> None:
    record, tables = play(make_plan((3, 5)))
    assert legs(tables["transfers"]) == [
        ("down", SERVER, 3, 0.0, 1.0),
        ("up", 3, 5, 1.0, 2.0),
        ("down", 3, 5, 2.0, 3.0),
        ("up", 5, SERVER, 3.0, 4.0),
    ]
    assert [row["sensor"] for row in tables["transfers"]] == [3, 3, 5, 5]
    assert [row["hop"] for row in tables["transfers"]] == [0, 1, 1, 2]
    assert (record.start_s, record.end_s, record.arrived) == (0.0, 4.0, (True,))


def test_chains_meet_only_where_they_share_airtime() -> None:
    """Two chains of one: downlinks share a pool for 2 s, then uplinks share the other for 2 s."""
    _, tables = play(make_plan((0,), (1,)))
    assert [row["end_s"] for row in tables["transfers"]] == [2.0, 2.0, 4.0, 4.0]
    _, apart = play(make_plan((0,), (1,)), cells=cells(2))
    assert [row["end_s"] for row in apart["transfers"]] == [1.0, 1.0, 2.0, 2.0]


def test_the_backbone_is_crossed_to_the_server_and_between_cells_but_not_within_one() -> None:
    within, _ = play(make_plan((0, 2)), cells=cells(2), backbone={"latency_s": 10.0})
    across, tables = play(make_plan((0, 1)), cells=cells(2), backbone={"latency_s": 10.0})
    assert within.end_s == 4.0 + 2 * 10.0
    assert across.end_s == 4.0 + 3 * 10.0
    assert [row["cell"] for row in tables["transfers"]] == ["cell0", "cell0", "cell1", "cell1"]
    assert [row["ready_s"] for row in tables["transfers"]] == [10.0, 11.0, 22.0, 23.0]


def test_radio_latency_comes_after_the_airtime_of_every_leg() -> None:
    record, tables = play(make_plan((0, 1)), cells=cells(1, latency_s=0.25))
    assert record.end_s == 4 * 1.25
    assert all(row["airtime_s"] == 1.0 for row in tables["transfers"])


def test_a_sensor_captures_when_the_model_reaches_it_and_then_works() -> None:
    _, tables = play(make_plan((3, 5)))
    assert [(row["sensor"], row["time_s"], row["captured"]) for row in tables["captures"]] == [
        (3, 1.0, 50),
        (5, 3.0, 50),
    ]
    assert [(row["sensor"], row["kind"], row["samples"], row["start_s"]) for row in tables["work"]] == [
        (3, "train", 50, 1.0),
        (5, "train", 50, 3.0),
    ]


def test_with_reports_everyone_captures_at_the_start_and_trains_on_that_batch() -> None:
    record, tables = play(make_plan((3, 5)), report=Payload("report", 250))
    assert [(row["sensor"], row["time_s"]) for row in tables["captures"]] == [(sensor, 0.0) for sensor in range(8)]
    reports = [row for row in tables["transfers"] if row["payload"] == "report"]
    assert [row["sensor"] for row in reports] == list(range(8))
    assert {row["end_s"] for row in reports} == {8 * 0.25}
    assert record.start_s == 0.0
    assert record.end_s == 2.0 + 4.0


def test_a_reused_batch_is_the_reported_one_and_no_capture() -> None:
    with Trace() as trace:
        world = World(tiny_scenario(), trace)
        world.begin_round(1)
        world.report(Payload("report", 250))
        first = world.play(make_plan((3, 5)))
        world.begin_round(2)
        reused = world.play(make_plan((3, 5), round=2, reuse_batch=True))
        world.begin_round(3)
        fresh = world.play(make_plan((3, 5), round=3))
    batches = [[p.samples[0][0] for p in record.participations] for record in (first, reused, fresh)]
    assert batches == [[0, 0], [0, 0], [100, 100]]
    assert trace.captures.gathered().num_rows == 8 + 2


def test_static_data_is_the_same_set_every_time() -> None:
    sizes = np.array([10, 20, 30, 40, 50, 60, 70, 80])
    record, _ = play(make_plan((3,), (5,), round=7), sizes=sizes, stream={"arrival": "static"})
    assert [p.samples for p in record.participations] == [((0, 40),), ((0, 60),)]


def test_a_sensor_with_fewer_samples_than_a_batch_uses_what_it_has() -> None:
    sizes = np.array([10, 20, 30, 40, 50, 60, 70, 80])
    record, tables = play(make_plan((3,), (5,), round=7), sizes=sizes)
    assert [p.samples for p in record.participations] == [((300, 40),), ((300, 50),)]
    assert [(row["captured"], row["overflowed"]) for row in tables["captures"]] == [(40, 0), (50, 0)]


@pytest.mark.parametrize(("mode", "downlinks", "end_s"), [("unicast", 3, 3.0), ("broadcast", 1, 1.0)])
def test_the_scatter_reaches_every_participant_after_the_last_chain(mode: Any, downlinks: int, end_s: float) -> None:
    scatter = Scatter(Payload("scatter", 1_000), mode, work=(WorkStep("extract", 1),))
    record, tables = play(make_plan((0, 1), (2,), scatter=scatter))
    sent = [row for row in tables["transfers"] if row["payload"] == "scatter"]
    merged_s = max(row["end_s"] for row in tables["transfers"] if row["target"] == SERVER)
    assert len(sent) == downlinks
    assert all(row["ready_s"] == merged_s and row["source"] == SERVER for row in sent)
    assert record.end_s == merged_s + end_s
    assert all(participation.got_scatter for participation in record.participations)
    extracted = {row["sensor"] for row in tables["work"] if row["kind"] == "extract"}
    assert extracted == {0, 1, 2}
    if mode == "broadcast":
        assert [(row["target"], row["sensor"]) for row in sent] == [(EVERYONE, EVERYONE)]


def test_a_broadcast_is_sent_once_in_every_cell_with_participants() -> None:
    scatter = Scatter(Payload("scatter", 1_000), "broadcast", work=())
    _, tables = play(make_plan((0, 1), (3,), scatter=scatter), cells=cells(3))
    assert [row["cell"] for row in tables["transfers"] if row["payload"] == "scatter"] == ["cell0", "cell1"]


def test_work_over_memory_is_done_by_those_who_have_one() -> None:
    work = (WorkStep("extract", 1), WorkStep("calibrate", 1, over_memory=True, needs_memory=True))
    record, tables = play(make_plan((3, 5), work=work, memory_fill={5: 70}))
    assert [(row["sensor"], row["kind"], row["samples"]) for row in tables["work"]] == [
        (3, "extract", 50),
        (5, "extract", 50),
        (5, "calibrate", 120),
    ]
    assert [participation.trained for participation in record.participations] == [False, True]


def test_work_takes_multiply_adds_over_the_devices_rate_at_its_power() -> None:
    """50 samples of 20 million multiply-adds at 0.2e9 a second and 0.5 W."""
    work = (WorkStep("train", 20_000_000),)
    record, tables = play(make_plan((3,), work=work), compute={"device": "mcu"})
    (row,) = tables["work"]
    assert (row["start_s"], row["end_s"], row["energy_j"]) == (1.0, 6.0, 2.5)
    assert record.end_s == 7.0


def test_set_up_delays_the_first_transfer_of_a_sensor_only() -> None:
    record, tables = play(make_plan((3,)), cells=cells(1, setup_s=0.5, inactivity_s=10.0))
    assert [(row["ready_s"], row["start_s"], row["end_s"]) for row in tables["transfers"]] == [
        (0.0, 0.5, 1.5),
        (1.5, 1.5, 2.5),
    ]
    assert record.end_s == 2.5


def test_every_listener_of_a_broadcast_pays_for_it() -> None:
    currents = {"voltage_v": 1.0, "sleep_ma": 0.0, "idle_ma": 0.0, "receive_ma": 1000.0, "transmit_ma": 0.0}
    scatter = Scatter(Payload("scatter", 1_000), "broadcast", work=())
    _, tables = play(make_plan((0, 1), (2,), scatter=scatter), cells=cells(1, energy=currents))
    (sent,) = [row for row in tables["transfers"] if row["payload"] == "scatter"]
    assert sent["energy_j"] == pytest.approx(3.0)
