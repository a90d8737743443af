"""Faults on the clock, by hand: what a run of a few transfers shows when something goes wrong at a given second.

The radio is exact: a model takes 4 s down, 2 s of training and 8 s up, on channels of each sensor's own. So a sensor
that is alone has the model at 4, is done at 6 and has handed over at 14, and the i-th sensor of a chain does the same
14 i seconds later. Everything follows from docs/faults.md; the arithmetic is beside each case.
"""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hfedms_sim.loading import scenario_of
from hfedms_sim.models import spec_of
from hfedms_sim.result import RunResult
from hfedms_sim.scenario import TRAINING_PASSES
from hfedms_sim.simulation import run

MODEL, BATCH = spec_of("tiny-mlp"), 50
DOWN_S, WORK_S, UP_S = 4.0, 2.0, 8.0
RATE = TRAINING_PASSES * MODEL.multiply_adds * BATCH / WORK_S  # multiply-adds a second
EXTRACT_S = MODEL.extractor_multiply_adds * BATCH / RATE
REPORT_S = 4 * MODEL.classes / MODEL.model_bytes * UP_S  # class counts of four bytes each
RADIO = {
    "name": "exact",
    "uplink_bps": 8 * MODEL.model_bytes / UP_S,
    "downlink_bps": 8 * MODEL.model_bytes / DOWN_S,
    "channels": "dedicated",
}
FEDAVG = {"name": "fedavg", "sample_ratio": 1.0}
CHAIN = {"name": "static-groups", "beta": 1}
REPORTING = {"name": "hfedms-s", "beta": 1, "sample_ratio": 1.0}
HOUR_S, DAY_S = 3600.0, 86_400.0
PATIENT = {"timeout_s": 1000.0}

Leg = tuple[str, int, float, float, str]


def by_hand(**keys: Any) -> RunResult:
    raw: dict[str, Any] = {
        "name": "by-hand",
        "rounds": 1,
        "model": "tiny-mlp",
        "compute": {"device": "exact", "devices": {"exact": {"multiply_adds_per_s": RATE, "power_w": 0.0}}},
        "strategy": FEDAVG,
    }
    return run(scenario_of(raw | keys), timing_only=True)


def played(
    *faults: dict[str, Any],
    sensors: int = 1,
    cells: tuple[str, ...] = ("hall",),
    radio: dict[str, Any] | None = None,
    **keys: Any,
) -> RunResult:
    stations = [{"name": name, "profile": RADIO | (radio or {})} for name in cells]
    return by_hand(sensors={"count": sensors}, cells=stations, faults=list(faults), **keys)


def hit(kind: str, at_s: float, for_s: float | None = None, **keys: Any) -> dict[str, Any]:
    return {"kind": kind, "at_s": at_s} | ({} if for_s is None else {"for_s": for_s}) | keys


@cache
def order(sensors: int, cells: int = 1) -> tuple[int, ...]:
    """Return the sensors of the only chain, in its order, by a run in which nothing goes wrong."""
    transfers = played(sensors=sensors, strategy=CHAIN, cells=tuple("abcd"[:cells])).transfers
    return tuple(transfers[transfers["direction"] == "down"]["sensor"].tolist())


def legs(result: RunResult, round_number: int = 1) -> list[Leg]:
    """Return the transfers of a round that were on the air, in the order in which their airtime began."""
    rows = result.transfers
    rows = rows[(rows["round"] == round_number) & (rows["airtime_s"] > 0)].sort_values(["start_s", "end_s", "sensor"])
    columns = ("direction", "sensor", "start_s", "end_s", "outcome")
    return [(d, s, round(a, 6), round(b, 6), o) for d, s, a, b, o in zip(*(rows[c] for c in columns), strict=True)]


def turn(sensor: int, begin_s: float) -> list[Leg]:
    """Return the legs of a sensor that gets the model without any trouble."""
    up_s = begin_s + DOWN_S + WORK_S
    return [
        ("down", sensor, round(begin_s, 6), round(begin_s + DOWN_S, 6), "ok"),
        ("up", sensor, round(up_s, 6), round(up_s + UP_S, 6), "ok"),
    ]


def happened(result: RunResult) -> list[tuple[float, str, str]]:
    """Return the rows of the faults table: when, what, to whom."""
    rows = result.faults
    return sorted(zip(rows["time_s"].round(6).tolist(), rows["kind"], rows["entity"], strict=True))


def ends(result: RunResult) -> list[tuple[float, float]]:
    return list(zip(result.rounds["start_s"].round(6), result.rounds["end_s"].round(6), strict=True))


def test_without_faults_a_sensor_takes_fourteen_seconds_and_a_chain_as_many_for_each() -> None:
    assert legs(played()) == turn(0, 0)
    one, two, three = order(3)
    chain = played(sensors=3, strategy=CHAIN)
    assert legs(chain) == turn(one, 0) + turn(two, 14) + turn(three, 28)
    assert ends(chain) == [(0, 42)]
    assert chain.rounds[["arrived", "deadline_missed", "void"]].iloc[0].tolist() == [1, 0, False]
    assert chain.faults.empty


# ------------------------------------------------------------------------------------- transfers through an outage

CELL = ("cell-outage", {"cell": "hall"}, "cell hall")
SENSOR = ("sensor-outage", {"sensors": [0]}, None)
either = pytest.mark.parametrize(("kind", "where", "entity"), [CELL, SENSOR], ids=["cell", "sensor"])


def noted(time_s: float, entity: str | None) -> list[tuple[float, str, str]]:
    """Return the row of an outage; sensors have none, because they come and go without anybody's knowing."""
    return [] if entity is None else [(time_s, "outage", entity)]


@either
def test_a_transfer_pauses_and_goes_on_with_what_it_lacks(kind: str, where: Any, entity: str | None) -> None:
    """Down 0-2, off the air 2-7, the other 2 s 7-9; work until 11, up until 19."""
    result = played(hit(kind, 2, 5, **where))
    assert legs(result) == [("down", 0, 0, 9, "ok"), ("up", 0, 11, 19, "ok")]
    assert result.transfers["airtime_s"].tolist() == [4, 8]
    assert result.transfers["retransmitted_bytes"].tolist() == [0, 0]
    assert happened(result) == noted(2, entity)


@either
def test_a_transfer_of_a_radio_that_restarts_sends_all_of_it_again(kind: str, where: Any, entity: str | None) -> None:
    """Down 0-2 for nothing, all 4 s of it 7-11; half of the bytes were sent twice. Work until 13, up until 21."""
    result = played(hit(kind, 2, 5, **where), radio={"on_outage": "restart"})
    assert legs(result) == [("down", 0, 0, 11, "ok"), ("up", 0, 13, 21, "ok")]
    assert result.transfers["airtime_s"].tolist() == [6, 8]
    assert result.transfers["retransmitted_bytes"].tolist() == [MODEL.model_bytes // 2, 0]
    assert result.rounds["retransmitted_bytes"].tolist() == [MODEL.model_bytes // 2]
    assert result.rounds["downlink_bytes"].tolist() == [MODEL.model_bytes]
    assert happened(result) == noted(2, entity)


@pytest.mark.parametrize(("on_outage", "up_s"), [("pause", 24), ("restart", 29)])
def test_a_transfer_meets_as_many_outages_as_there_are(on_outage: str, up_s: float) -> None:
    """Up 6-14 is off the air 8-13 and 16-21. Pausing it has 2 + 3 s and lacks 3 s: 21-24. Restarting 21-29."""
    faults = [hit("sensor-outage", at_s, 5) for at_s in (8, 16)]
    result = played(*faults, radio={"on_outage": on_outage})
    assert legs(result)[1] == ("up", 0, 6, up_s, "ok")
    assert result.transfers["airtime_s"].tolist()[1] == (8 if on_outage == "pause" else 2 + 3 + 8)


def test_cell_and_sensor_must_both_be_back() -> None:
    """The cell is out 1-4, the sensor 3-6: down 0-1 and 6-9."""
    result = played(hit("cell-outage", 1, 3), hit("sensor-outage", 3, 3))
    assert legs(result) == [("down", 0, 0, 9, "ok"), ("up", 0, 11, 19, "ok")]


@either
def test_a_downlink_that_waits_too_long_is_aborted_and_its_sensor_skipped(
    kind: str, where: Any, entity: str | None
) -> None:
    """Down 0-2, given up at 2 + 60. Nobody is left, the round is void. The next begins at once, waits until 102."""
    result = played(hit(kind, 2, 100, **where), rounds=2)
    assert legs(result) == [("down", 0, 0, 62, "aborted")]
    assert result.transfers["airtime_s"].iloc[0] == 2
    assert happened(result) == sorted([*noted(2, entity), (62, "skip", "sensor 0"), (62, "void", "round 1")])
    assert ends(result) == [(0, 62), (62, 116)]
    assert legs(result, 2) == turn(0, 102)
    assert result.rounds["void"].tolist() == [True, False]
    assert result.rounds["arrived"].tolist() == [0, 1]
    assert result.rounds["downlink_bytes"].tolist() == [0, MODEL.model_bytes]


def test_a_chain_goes_on_without_the_sensor_whose_downlink_was_given_up() -> None:
    """The first is out 2-102: aborted at 62. The second 62-76, the third 76-90."""
    one, two, three = order(3)
    result = played(hit("sensor-outage", 2, 100, sensors=[one]), sensors=3, strategy=CHAIN)
    assert legs(result) == [("down", one, 0, 62, "aborted"), *turn(two, 62), *turn(three, 76)]
    assert happened(result) == [(62, "skip", f"sensor {one}")]
    assert ends(result) == [(0, 90)]
    row = result.rounds.iloc[0]
    assert (row["participants"], row["skipped"], row["arrived"], row["void"]) == (3, 1, 1, False)


def test_a_chain_waits_for_the_same_outage_once() -> None:
    """Down 2-102: the first is given up at 62, and nobody else of the cell is waited for. The next round waits anew."""
    one, *others = order(3)
    result = played(hit("cell-outage", 2, 100), sensors=3, strategy=CHAIN, rounds=2)
    assert legs(result)[0] == ("down", one, 0, 62, "aborted")
    skips = [(62, "skip", f"sensor {sensor}") for sensor in (one, *others)]
    assert sorted(happened(result)) == sorted([(2, "outage", "cell hall"), *skips, (62, "void", "round 1")])
    assert ends(result) == [(0, 62), (62, 102 + 3 * 14)]


def test_a_chain_goes_on_at_once_with_those_of_another_cell() -> None:
    """Cells of sensors 0 and 2, 1 and 3; the second is down for ever. Whoever of it comes first is waited for."""
    tour = order(4)
    dead = [sensor for sensor in tour if sensor % 2]
    result = played(hit("cell-outage", 0, cell="b"), sensors=4, cells=("a", "b"), strategy=CHAIN)
    before = tour.index(dead[0])
    assert ends(result) == [(0, 2 * 14 + 60)]
    assert [entity for _, kind, entity in happened(result) if kind == "skip"] == [f"sensor {each}" for each in dead]
    assert before < 4


@either
def test_an_uplink_that_waits_too_long_is_aborted_and_the_work_lost(kind: str, where: Any, entity: str | None) -> None:
    """Up 6-8, given up at 68. The chain goes on from the server's model: to the second sensor, when there is a way."""
    one, two = order(2)
    named = {"sensors": [one]} if "sensors" in where else where
    result = played(hit(kind, 8, 100, **named), sensors=2, strategy=CHAIN)
    is_cell = kind == "cell-outage"
    assert legs(result) == [turn(one, 0)[0], ("up", one, 6, 68, "aborted"), *([] if is_cell else turn(two, 68))]
    lost = [(68, "lost work", f"sensor {one}"), (68, "skip", f"sensor {one}")]
    alone = [(68, "skip", f"sensor {two}"), (68, "void", "round 1")] if is_cell else []
    assert sorted(happened(result)) == sorted([*noted(8, entity), *lost, *alone])
    assert result.rounds["uplink_bytes"].tolist() == [0 if is_cell else MODEL.model_bytes]


def test_a_sensor_out_of_reach_works_on_and_sends_when_it_is_back() -> None:
    """Out 4.5-14.5: done at 6, up 14.5-22.5."""
    result = played(hit("sensor-outage", 4.5, 10))
    assert legs(result) == [turn(0, 0)[0], ("up", 0, 14.5, 22.5, "ok")]
    assert result.work[["start_s", "end_s", "outcome"]].values.tolist() == [[4, 6, "ok"]]
    assert result.faults.empty
    assert result.sensors["availability"].tolist() == pytest.approx([1 - 10 / 22.5])
    assert result.sensors["faults"].tolist() == [0]


def test_a_set_up_that_was_interrupted_is_begun_again() -> None:
    """Set-up 0-2 of 3 s, out 2-7, set-up 7-10, down 10-14; the connection is kept for the uplink 16-24."""
    result = played(hit("sensor-outage", 2, 5), radio={"setup_s": 3.0, "inactivity_s": 10.0})
    assert legs(result) == turn(0, 10)
    assert result.transfers["ready_s"].tolist() == [0, 16]


def test_whoever_pauses_leaves_its_airtime_to_others() -> None:
    """One channel, two sensors, the second out 2-6. Until 2 both have had 1 s. The first has its other 3 s 2-5, the
    second 6-9. Then up: the first alone 7-11, both from 11 on: it has 4 s left, which take 8, until 19; the second has
    4 of 8 s by then, and the rest 19-23."""
    result = played(hit("sensor-outage", 2, 4, sensors=[1]), sensors=2, radio={"channels": 1})
    assert legs(result) == [
        ("down", 0, 0, 5, "ok"),
        ("down", 1, 0, 9, "ok"),
        ("up", 0, 7, 19, "ok"),
        ("up", 1, 11, 23, "ok"),
    ]


# ---------------------------------------------------------------------------------------------- sensors in chains


def test_a_next_sensor_that_is_gone_is_skipped_after_the_timeout() -> None:
    """The model is at the base station at 14, and waits until 74. The third sensor gets it 74-88."""
    one, two, three = order(3)
    result = played(hit("sensor-outage", 10, sensors=[two]), sensors=3, strategy=CHAIN)
    assert legs(result) == turn(one, 0) + turn(three, 74)
    assert happened(result) == [(74, "skip", f"sensor {two}")]
    assert ends(result) == [(0, 88)]
    assert result.rounds["arrived"].tolist() == [1]


def test_a_next_sensor_that_comes_back_in_time_costs_the_wait_alone() -> None:
    """Gone 10-44: 44-58, and the third 58-72."""
    one, two, three = order(3)
    result = played(hit("sensor-outage", 10, 34, sensors=[two]), sensors=3, strategy=CHAIN)
    assert legs(result) == turn(one, 0) + turn(two, 44) + turn(three, 58)
    assert result.faults.empty


def test_a_chain_whose_last_sensor_is_gone_ends_with_the_model_of_the_one_before() -> None:
    """It is at the base station at 14, nobody answers until 74, and then it is the server's."""
    one, two = order(2)
    result = played(hit("sensor-crash", 10, sensors=[two]), sensors=2, strategy=CHAIN)
    assert legs(result) == turn(one, 0)
    assert ends(result) == [(0, 74)]
    assert (result.rounds["arrived"].tolist(), result.rounds["void"].tolist()) == ([1], [False])


@pytest.mark.parametrize("timeout_s", [1.0, 5.0, 500.0])
def test_the_timeout_is_the_recoverys(timeout_s: float) -> None:
    one, two, three = order(3)
    result = played(
        hit("sensor-outage", 10, sensors=[two]), sensors=3, strategy=CHAIN, recovery={"timeout_s": timeout_s}
    )
    assert legs(result) == turn(one, 0) + turn(three, 14 + timeout_s)


def test_a_holder_that_dies_at_work_and_comes_back_gets_the_model_again() -> None:
    """The second works 18-20, crashes at 19, is back at 29: model 29-33, work until 35, up until 43. The batch is the
    one it has captured, at 18."""
    one, two, three = order(3)
    result = played(hit("sensor-crash", 19, 10, sensors=[two]), sensors=3, strategy=CHAIN)
    assert legs(result) == [*turn(one, 0), turn(two, 14)[0], *turn(two, 29), *turn(three, 43)]
    assert happened(result) == [(19, "lost work", f"sensor {two}"), (29, "retry", f"sensor {two}")]
    own = result.work[result.work["sensor"] == two]
    assert own[["start_s", "end_s"]].values.tolist() == [[18, 19], [33, 35]]
    assert (own["outcome"] == "ok").tolist() == [False, True]
    captures = result.captures[result.captures["sensor"] == two]
    assert captures["time_s"].tolist() == [18]
    assert ends(result) == [(0, 57)]
    assert result.rounds["skipped"].tolist() == [0]
    assert result.sensors.set_index("sensor")["faults"].to_dict() == {one: 0, two: 2, three: 0}


def test_a_holder_that_dies_at_work_for_long_is_skipped_and_the_last_model_handed_over_goes_on() -> None:
    """Crashed at 19, given up at 79: the first sensor's model is still at the base station, and goes on 79-93."""
    one, two, three = order(3)
    result = played(hit("sensor-crash", 19, sensors=[two]), sensors=3, strategy=CHAIN)
    assert legs(result) == [*turn(one, 0), turn(two, 14)[0], *turn(three, 79)]
    assert happened(result) == [(19, "lost work", f"sensor {two}"), (79, "skip", f"sensor {two}")]
    assert result.rounds["uplink_bytes"].tolist() == [2 * MODEL.model_bytes]


def test_a_holder_that_dies_while_it_sends_and_comes_back_gets_the_model_again() -> None:
    """Up 20-22 and aborted, back at 32: 32-46. The third 46-60."""
    one, two, three = order(3)
    result = played(hit("sensor-crash", 22, 10, sensors=[two]), sensors=3, strategy=CHAIN)
    aborted = [turn(two, 14)[0], ("up", two, 20, 22, "aborted")]
    assert legs(result) == [*turn(one, 0), *aborted, *turn(two, 32), *turn(three, 46)]
    assert happened(result) == [(22, "lost work", f"sensor {two}"), (32, "retry", f"sensor {two}")]
    assert result.transfers[result.transfers["outcome"] == "aborted"]["airtime_s"].tolist() == [2]


def test_a_holder_that_dies_while_it_sends_for_long_is_skipped() -> None:
    one, two, three = order(3)
    result = played(hit("sensor-crash", 22, 500, sensors=[two]), sensors=3, strategy=CHAIN)
    assert legs(result) == [*turn(one, 0), turn(two, 14)[0], ("up", two, 20, 22, "aborted"), *turn(three, 82)]
    assert happened(result) == [(22, "lost work", f"sensor {two}"), (82, "skip", f"sensor {two}")]


def test_what_was_handed_over_is_safe() -> None:
    """The first crashes when its uplink is complete: nobody minds."""
    one, two = order(2)
    result = played(hit("sensor-crash", 14.5, sensors=[one]), sensors=2, strategy=CHAIN)
    assert legs(result) == turn(one, 0) + turn(two, 14)
    assert result.faults.empty


@pytest.mark.parametrize("retries", [0, 1, 2])
def test_a_sensor_is_tried_as_often_as_the_retries_say(retries: int) -> None:
    """The only sensor crashes 1 s into each of its works, for 3 s: model 0-4, out 5-8, model 8-12, out 13-16, ..."""
    crashes = [hit("sensor-crash", 5 + 8 * number, 3) for number in range(4)]
    result = played(*crashes, recovery={"retries": retries})
    assert legs(result) == [("down", 0, 8 * each, 8 * each + 4, "ok") for each in range(retries + 1)]
    lost = [(5 + 8 * each, "lost work", "sensor 0") for each in range(retries + 1)]
    again = [(8 + 8 * each, "retry", "sensor 0") for each in range(retries)]
    end_s = 5 + 8 * retries
    assert happened(result) == sorted([*lost, *again, (end_s, "skip", "sensor 0"), (end_s, "void", "round 1")])


def test_a_gap_is_moved_to_the_end_of_its_chain() -> None:
    """The second is gone 10-90: detoured at 74, the third 74-88, then the second again: 90-104."""
    one, two, three = order(3)
    result = played(
        hit("sensor-outage", 10, 80, sensors=[two]), sensors=3, strategy=CHAIN, recovery={"on_gap": "reorder"}
    )
    assert legs(result) == turn(one, 0) + turn(three, 74) + turn(two, 90)
    assert happened(result) == [(74, "detour", f"sensor {two}")]
    assert ends(result) == [(0, 104)]
    assert result.rounds["skipped"].tolist() == [0]


def test_a_gap_is_tried_once_more_at_the_end_and_then_skipped() -> None:
    """Detoured at 74, waited for again from 88 to 148. The third sensor's model is then the server's."""
    one, two, three = order(3)
    result = played(hit("sensor-outage", 10, sensors=[two]), sensors=3, strategy=CHAIN, recovery={"on_gap": "reorder"})
    assert legs(result) == turn(one, 0) + turn(three, 74)
    assert happened(result) == [(74, "detour", f"sensor {two}"), (148, "skip", f"sensor {two}")]
    assert ends(result) == [(0, 148)]
    assert result.rounds["arrived"].tolist() == [1]


def test_the_last_of_a_chain_is_skipped_because_nobody_would_go_before_it() -> None:
    one, two = order(2)
    result = played(hit("sensor-outage", 10, sensors=[two]), sensors=2, strategy=CHAIN, recovery={"on_gap": "reorder"})
    assert legs(result) == turn(one, 0)
    assert happened(result) == [(74, "skip", f"sensor {two}")]
    assert ends(result) == [(0, 74)]


def test_a_dead_holder_is_detoured_too() -> None:
    """Crashed 19-100: detoured at 79, the third 79-93, and the second waits until 100: 100-114."""
    one, two, three = order(3)
    result = played(
        hit("sensor-crash", 19, 81, sensors=[two]), sensors=3, strategy=CHAIN, recovery={"on_gap": "reorder"}
    )
    assert legs(result) == [*turn(one, 0), turn(two, 14)[0], *turn(three, 79), *turn(two, 100)]
    assert [row for row in happened(result) if row[1] != "retry"] == [
        (19, "lost work", f"sensor {two}"),
        (79, "detour", f"sensor {two}"),
    ]


# ------------------------------------------------------------------------------------------------- lost transfers


def test_a_lost_transfer_is_sent_again_and_then_given_up() -> None:
    """Three times 4 s of airtime for nothing, without a wait between them."""
    result = played({"kind": "transfer-loss", "probability": 1.0})
    assert legs(result) == [("down", 0, at_s, at_s + 4, "lost") for at_s in (0, 4, 8)]
    assert happened(result) == [
        (4, "retry", "sensor 0"),
        (8, "retry", "sensor 0"),
        (12, "skip", "sensor 0"),
        (12, "void", "round 1"),
    ]
    assert ends(result) == [(0, 12)]
    assert (result.rounds["downlink_bytes"].tolist(), result.rounds["uplink_bytes"].tolist()) == ([0], [0])
    assert result.summary["bytes"]["total"] == 0


def test_at_the_end_of_the_chain_a_detoured_sensor_has_as_many_tries_again() -> None:
    """Two sensors with two tries each, 4 s each: until 8 and 16; at the end again, until 24 and 32."""
    one, two = order(2)
    result = played(
        {"kind": "transfer-loss", "probability": 1.0},
        sensors=2,
        strategy=CHAIN,
        recovery={"retries": 1, "on_gap": "reorder"},
    )
    assert [leg[1] for leg in legs(result)] == [one, one, two, two, one, one, two, two]
    assert {leg[4] for leg in legs(result)} == {"lost"}
    assert [row for row in happened(result) if row[1] != "retry"] == [
        (8, "detour", f"sensor {one}"),
        (16, "detour", f"sensor {two}"),
        (24, "skip", f"sensor {one}"),
        (32, "skip", f"sensor {two}"),
        (32, "void", "round 1"),
    ]


def test_what_is_hardly_ever_lost_is_not_lost() -> None:
    assert legs(played({"kind": "transfer-loss", "probability": 0.0})) == turn(0, 0)


# ------------------------------------------------------------------------------------- slower radios and processors


def test_work_of_a_straggler_takes_as_many_times_as_long() -> None:
    """2 s become 6: 4-10, and up 10-18."""
    result = played(hit("straggler", 3, 20, factor=3.0))
    assert legs(result) == [turn(0, 0)[0], ("up", 0, 10, 18, "ok")]
    assert result.work[["start_s", "end_s"]].values.tolist() == [[4, 10]]
    assert result.faults.empty


@pytest.mark.parametrize(("for_s", "end_s"), [(None, 20), (4, 16)])
def test_shadowing_in_the_middle_of_a_transfer_slows_the_rest_of_it(for_s: float | None, end_s: float) -> None:
    """At half the rate from 8 on: of the 8 s up that began at 6, 6 are left, which take 12. With 4 s of it, 2 s get
    through in these and 4 s are left after 12."""
    result = played(hit("shadowing", 8, for_s, rate_share=0.5))
    assert legs(result) == [turn(0, 0)[0], ("up", 0, 6, end_s, "ok")]
    assert result.transfers["airtime_s"].tolist() == [4, end_s - 6]


def test_shadowing_from_the_start_makes_a_transfer_as_much_longer() -> None:
    """A quarter of the rate: 16 s down and 32 s up."""
    result = played(hit("shadowing", 0, rate_share=0.25))
    assert legs(result) == [("down", 0, 0, 16, "ok"), ("up", 0, 18, 50, "ok")]


FRAMES = {
    "channels": 1,
    "frames": {
        "uplink_payload_bytes": 200, "downlink_payload_bytes": 200, "uplink_frame_s": 0.25, "downlink_frame_s": 0.25,
        "uplink_silence_s": 1.0, "downlink_silence_s": 1.0,
    },
}  # fmt: skip


def test_frames_have_one_rate_which_shadowing_does_not_change() -> None:
    plain, shadowed = played(radio=FRAMES), played(hit("shadowing", 1, rate_share=0.1), radio=FRAMES)
    assert shadowed.arrow("transfers").equals(plain.arrow("transfers"))


def test_frames_pause_too() -> None:
    """n frames of 0.25 s with silences of 1 s take 1.25 n - 1 s. Out of reach for 100 s, the sensor is given the rest
    of them later: the airtime is the same, the end 100 s later, give or take a frame and its silence."""
    plain, hit_once = played(radio=FRAMES), played(hit("sensor-outage", 50, 100), radio=FRAMES, recovery=PATIENT)
    (before, after) = (each.transfers[each.transfers["direction"] == "down"].iloc[0] for each in (plain, hit_once))
    assert after["airtime_s"] == pytest.approx(before["airtime_s"], abs=0.25 + 1e-9)
    assert after["end_s"] == pytest.approx(before["end_s"] + 100, abs=1.25 + 1e-9)


def test_only_the_sensors_named_are_hit() -> None:
    result = played(hit("shadowing", 0, rate_share=0.5, sensors=[1]), sensors=2)
    assert [leg[:4] for leg in legs(result)] == [
        ("down", 0, 0, 4),
        ("down", 1, 0, 8),
        ("up", 0, 6, 14),
        ("up", 1, 10, 26),
    ]


# ---------------------------------------------------------------------------------------------- server and backbone


def test_a_push_waits_for_the_server() -> None:
    """The uplink is complete at 14, the server back at 20."""
    result = played(hit("server-outage", 10, 10))
    assert legs(result) == turn(0, 0)
    assert ends(result) == [(0, 20)]
    assert happened(result) == [(10, "outage", "server")]


def test_a_push_that_waits_too_long_is_not_delivered_and_the_next_round_waits_for_the_server() -> None:
    """Given up at 14 + 60; the server is back at 1010."""
    result = played(hit("server-outage", 10, 1000), rounds=2)
    assert ends(result) == [(0, 74), (1010, 1024)]
    assert happened(result) == [(10, "outage", "server"), (74, "not delivered", "group 0"), (74, "void", "round 1")]
    assert result.rounds["arrived"].tolist() == [0, 1]


def test_a_round_does_not_begin_while_the_server_is_down() -> None:
    assert ends(played(hit("server-outage", 0, 5))) == [(5, 19)]


def test_a_relay_does_not_need_the_server() -> None:
    """Down 1-41: the server has sent the model, and gets it back at 42."""
    one, two, three = order(3)
    result = played(hit("server-outage", 1, 40), sensors=3, strategy=CHAIN)
    assert legs(result) == turn(one, 0) + turn(two, 14) + turn(three, 28)
    assert ends(result) == [(0, 42)]


def across(*faults: dict[str, Any], **changes: Any) -> RunResult:
    """Return a chain of two sensors, each in a cell of its own."""
    return played(*faults, sensors=2, strategy=CHAIN, cells=("a", "b"), **changes)


def test_a_hop_between_cells_waits_for_the_backbone() -> None:
    """The first has handed over at 14, the backbone is back at 20: the second 20-34."""
    one, two = order(2, cells=2)
    result = across(hit("backbone-outage", 10, 10))
    assert legs(result) == turn(one, 0) + turn(two, 20)
    assert happened(result) == [(10, "outage", "backbone")]


def test_a_sensor_behind_a_backbone_that_stays_cut_is_skipped() -> None:
    """Given up at 74; the model of the first then waits for the same backbone on its way to the server, until 110."""
    one, two = order(2, cells=2)
    result = across(hit("backbone-outage", 10, 100))
    assert legs(result) == turn(one, 0)
    assert happened(result) == [(10, "outage", "backbone"), (74, "skip", f"sensor {two}")]
    assert ends(result) == [(0, 110)]
    assert result.rounds["arrived"].tolist() == [1]


def test_a_backbone_that_stays_cut_for_longer_still_keeps_the_chain_from_the_server() -> None:
    """Given up at 74 and at 134."""
    _, two = order(2, cells=2)
    result = across(hit("backbone-outage", 10))
    assert happened(result) == [
        (10, "outage", "backbone"),
        (74, "skip", f"sensor {two}"),
        (134, "not delivered", "group 0"),
        (134, "void", "round 1"),
    ]


def test_within_a_cell_the_backbone_is_not_needed() -> None:
    one, two, three = order(3)
    result = played(hit("backbone-outage", 1, 40), sensors=3, strategy=CHAIN)
    assert legs(result) == turn(one, 0) + turn(two, 14) + turn(three, 28)


def test_an_outage_of_one_cell_is_not_that_of_another() -> None:
    """Sensor 0 is in cell a, sensor 1 in cell b, which is out 2-7."""
    result = played(hit("cell-outage", 2, 5, cell="b"), sensors=2, cells=("a", "b"))
    assert [leg[1:4] for leg in legs(result)] == [(0, 0, 4), (1, 0, 9), (0, 6, 14), (1, 11, 19)]


# -------------------------------------------------------------------------------------------------- ends of rounds


def test_rounds_begin_at_multiples_of_their_period() -> None:
    assert ends(played(rounds=3, round_period_s=20.0)) == [(0, 14), (20, 34), (40, 54)]
    assert ends(played(rounds=3, round_period_s=10.0)) == [(0, 14), (20, 34), (40, 54)]
    assert ends(played(rounds=3, round_period_s=14.0)) == [(0, 14), (14, 28), (28, 42)]


def test_at_the_deadline_a_round_is_closed_and_whoever_is_missing_is_late() -> None:
    """The second sensor is out of reach 5-25 and has not begun to send at 20."""
    result = played(hit("sensor-outage", 5, 20, sensors=[1]), sensors=2, deadline_s=20.0, rounds=2)
    assert legs(result) == [turn(0, 0)[0], turn(1, 0)[0], turn(0, 0)[1]]
    group = result.transfers[result.transfers["sensor"] == 1]["group"].iloc[0]
    assert happened(result)[0] == (20, "late", f"group {group}")
    row = result.rounds.iloc[0]
    assert (row["arrived"], row["deadline_missed"], row["void"]) == (1, 1, False)
    assert [ends(result)[0], ends(result)[1][0]] == [(0, 20), 20]


def test_a_transfer_on_the_air_at_the_deadline_is_aborted() -> None:
    """The third sensor's downlink is 28-32, the deadline 30. The chain has not arrived, and nobody else has."""
    one, two, three = order(3)
    result = played(sensors=3, strategy=CHAIN, deadline_s=30.0)
    assert legs(result) == [*turn(one, 0), *turn(two, 14), ("down", three, 28, 30, "aborted")]
    assert result.transfers["airtime_s"].iloc[-1] == 2
    assert happened(result) == [(30, "late", "group 0"), (30, "void", "round 1")]
    assert result.rounds[["arrived", "deadline_missed", "void"]].iloc[0].tolist() == [0, 1, True]


def test_a_deadline_that_is_kept_changes_nothing() -> None:
    assert ends(played(deadline_s=14.5, rounds=2)) == [(0, 14), (14, 28)]


def test_the_deadline_counts_from_the_begin_with_reports() -> None:
    """The reports of two sensors, then chains of one: the models are up REPORT_S + 14 after the round's begin."""
    grouped = {"name": "hfedms-s", "beta": 2, "sample_ratio": 1.0}
    assert ends(played(sensors=2, strategy=grouped)) == [(0, round(REPORT_S + 14, 6))]
    result = played(sensors=2, strategy=grouped, deadline_s=14.0)
    assert ends(result) == [(0, 14)]
    assert result.rounds["deadline_missed"].tolist() == [2]


def test_the_deadline_closes_a_round_that_still_waits_for_reports() -> None:
    """The second sensor would be waited for until 60. No chain has begun by then, so none has arrived."""
    result = played(hit("sensor-outage", 0, 1000, sensors=[1]), sensors=2, strategy=REPORTING, deadline_s=20.0)
    assert ends(result) == [(0, 20)]
    assert result.rounds[["arrived", "void"]].iloc[0].tolist() == [0, True]


def test_a_round_with_more_sensors_than_it_needs_is_closed_by_those_it_needs() -> None:
    """Two of four are needed, three are invited. Sensor k works for 2 (k + 1) s, so it arrives at 14 + 2 k."""
    slow = [hit("straggler", 0, factor=float(k + 1), sensors=[k]) for k in range(1, 4)]
    chosen = {"name": "fedavg", "sample_ratio": 0.5, "over_selection": 0.5}
    result = played(*slow, sensors=4, strategy=chosen, rounds=4)
    for number, (start_s, end_s) in enumerate(ends(result), start=1):
        invited = sorted(leg[1] for leg in legs(result, number) if leg[0] == "down")
        assert len(invited) == 3
        assert end_s == start_s + 14 + 2 * invited[1]
        late = [leg for leg in legs(result, number) if leg[4] == "aborted"]
        assert late == [("up", invited[2], start_s + 6 + 2 * invited[2], end_s, "aborted")]
    assert result.rounds["arrived"].tolist() == [2] * 4
    assert result.rounds["deadline_missed"].tolist() == [1] * 4
    assert not result.rounds["void"].any()
    assert result.faults["kind"].tolist() == ["late"] * 4


def test_over_selection_never_invites_more_than_there_are() -> None:
    result = played(sensors=3, strategy=FEDAVG | {"over_selection": 1.0})
    assert len([leg for leg in legs(result) if leg[0] == "down"]) == 3
    assert result.rounds["arrived"].tolist() == [3]


@pytest.mark.parametrize(("quorum", "is_void"), [(0.5, False), (0.6, True), (1.0, True)])
def test_below_the_quorum_a_round_is_void(quorum: float, is_void: bool) -> None:
    """One of two arrives; the other never answers, and is given up at 60."""
    result = played(hit("sensor-crash", 0, sensors=[1]), sensors=2, quorum=quorum)
    assert result.rounds["arrived"].tolist() == [1]
    assert result.rounds["void"].tolist() == [is_void]
    assert ends(result) == [(0, 60)]
    assert [row for row in happened(result) if row[1] == "void"] == [(60, "void", "round 1")] * is_void


def test_after_so_many_void_rounds_in_a_row_the_run_has_stalled() -> None:
    """Each takes 3 x 4 s of lost transfers."""
    result = played({"kind": "transfer-loss", "probability": 1.0}, rounds=10, recovery={"void_rounds": 3})
    assert ends(result) == [(0, 12), (12, 24), (24, 36)]
    assert result.summary["rounds"] == 3
    assert result.summary["stopped"]["reason"] == "stalled"
    assert result.summary["stopped"]["round"] == 3


@pytest.mark.parametrize(("round_period_s", "end_s"), [(None, 74), (100.0, 100)])
def test_a_run_that_stalls_ends_with_its_last_round(round_period_s: float | None, end_s: int) -> None:
    """The server goes for ever at 10; the push is given up at 74. The next round is due, and nobody can be asked."""
    result = played(hit("server-outage", 10), rounds=5, round_period_s=round_period_s)
    assert ends(result) == [(0, 74), (end_s, end_s)]
    assert result.rounds["void"].tolist() == [True, True]
    assert result.summary["stopped"] == {"reason": "stalled", "round": 2, "detail": "the server is down for ever"}
    assert result.summary["simulated_s"] == end_s


def test_a_round_that_succeeds_lets_the_count_of_void_ones_begin_anew() -> None:
    """Out 0-100 and again 116-216: void at 60, sound 100-114, broken off at 116 and void at 176, sound 216-230."""
    faults = [hit("sensor-outage", 0, 100), hit("sensor-outage", 116, 100)]
    result = played(*faults, rounds=5, recovery={"void_rounds": 2})
    assert result.rounds["void"].tolist() == [True, False, True, False, False]
    assert ends(result) == [(0, 60), (60, 114), (114, 176), (176, 230), (230, 244)]
    assert result.summary["stopped"] is None


# -------------------------------------------------------------------------------------------- reports and scatters

CALIBRATING = {"name": "hfedms-d", "beta": 1, "sample_ratio": 1.0, "interval": 3, "alpha": 0.0}
MERGED_S = REPORT_S + 2 * 14  # a chain of two sensors has arrived


def test_who_does_not_report_in_time_is_not_grouped() -> None:
    """The server waits until 60; the chain of the two others 60-88."""
    result = played(hit("sensor-outage", 0, 1000, sensors=[1]), sensors=3, strategy=REPORTING)
    assert happened(result) == [(60, "no report", "sensor 1")]
    chain = [leg for leg in legs(result) if leg[3] - leg[2] > 1]
    assert {leg[1] for leg in chain} == {0, 2}
    assert chain == turn(chain[0][1], 60) + turn(chain[2][1], 74)
    assert ends(result) == [(0, 88)]
    assert result.rounds["participants"].tolist() == [2]


def test_if_nobody_reports_the_roll_is_called_again() -> None:
    """All are away until 100: in vain until 60, then from 60 on again."""
    result = played(hit("sensor-outage", 0, 100), sensors=2, strategy=REPORTING)
    assert [row for row in happened(result) if row[1] == "no report"] == [
        (60, "no report", "sensor 0"),
        (60, "no report", "sensor 1"),
    ]
    chain = [leg for leg in legs(result) if leg[3] - leg[2] > 1]
    assert chain == turn(chain[0][1], 100 + REPORT_S) + turn(chain[2][1], 114 + REPORT_S)
    assert ends(result) == [(0, round(128 + REPORT_S, 6))]


@cache
def last_of_cycle() -> tuple[int, int]:
    """Return the first and the last sensor of the first cycle's chain."""
    rows = played(sensors=2, strategy=CALIBRATING).transfers
    first, last = rows[(rows["payload"] == "model") & (rows["direction"] == "down")]["sensor"]
    return int(first), int(last)


def sits_out(result: RunResult, sensor: int) -> None:
    """Check that a sensor is in the first cycle's full round and in the second's, and not between them."""
    by_round = result.transfers[result.transfers["sensor"] == sensor].groupby("round")["payload"].agg(set).to_dict()
    assert "model" in by_round[1]
    assert by_round[4] >= {"report", "model"}
    assert not {2, 3} & set(by_round)
    assert result.rounds["phase"].tolist() == ["full", "calibration", "calibration", "full"]
    assert result.rounds["arrived"].tolist() == [1, 1, 1, 1]


def test_without_faults_the_scatter_goes_to_both_and_both_calibrate() -> None:
    result = played(sensors=2, strategy=CALIBRATING, rounds=4)
    assert ends(result)[0] == (0, round(MERGED_S + DOWN_S + EXTRACT_S, 6))
    assert result.transfers[result.transfers["round"] == 2]["sensor"].nunique() == 2


def test_who_cannot_be_reached_by_the_scatter_sits_out_the_calibration() -> None:
    """It is on its way from MERGED_S on and broken off 1 s later. It is given up after 60 s, 2 s before the sensor is
    back; which comes too late for the rest of the cycle."""
    other, sensor = last_of_cycle()
    result = played(hit("sensor-outage", MERGED_S + 1, 62, sensors=[sensor]), sensors=2, strategy=CALIBRATING, rounds=4)
    missed_s = round(MERGED_S + 61, 6)
    assert happened(result) == [(missed_s, "missed scatter", f"sensor {sensor}")]
    assert ends(result)[0] == (0, missed_s)
    scattered = result.transfers[result.transfers["payload"] == "scatter"]
    first = scattered[scattered["round"] == 1].set_index("sensor")
    assert first["outcome"].to_dict() == {other: "ok", sensor: "aborted"}
    assert first["airtime_s"].to_dict() == pytest.approx({other: 4, sensor: 1})
    sits_out(result, sensor)


def test_who_is_back_in_time_gets_the_scatter() -> None:
    """1 s, a wait of 30 s, and 3 s."""
    _, sensor = last_of_cycle()
    result = played(hit("sensor-outage", MERGED_S + 1, 30, sensors=[sensor]), sensors=2, strategy=CALIBRATING, rounds=2)
    assert result.faults.empty
    assert ends(result)[0] == (0, round(MERGED_S + 34 + EXTRACT_S, 6))
    assert result.transfers[result.transfers["round"] == 2]["sensor"].nunique() == 2


def test_who_crashes_before_it_has_extracted_has_missed_the_scatter() -> None:
    _, sensor = last_of_cycle()
    crash = hit("sensor-crash", MERGED_S + DOWN_S + EXTRACT_S / 2, 0.01, sensors=[sensor])
    result = played(crash, sensors=2, strategy=CALIBRATING, rounds=4)
    assert [row[1:] for row in happened(result)] == [("missed scatter", f"sensor {sensor}")]
    sits_out(result, sensor)


@pytest.mark.parametrize("begin_s", [-1.0, 1.0], ids=["out before", "gone during"])
def test_a_broadcast_waits_for_nobody(begin_s: float) -> None:
    """Out of reach for 1.5 s of it. The round ends when the other one has extracted."""
    _, sensor = last_of_cycle()
    outage = hit("sensor-outage", MERGED_S + begin_s, 1.5, sensors=[sensor])
    if begin_s < 0:  # its own uplink would be hit: let the other one be out, which has handed over long ago
        sensor = last_of_cycle()[0]
        outage["sensors"] = [sensor]
    result = played(outage, sensors=2, strategy=CALIBRATING | {"scatter": "broadcast"}, rounds=4)
    assert [row[1:] for row in happened(result)] == [("missed scatter", f"sensor {sensor}")]
    assert ends(result)[0] == (0, round(MERGED_S + DOWN_S + EXTRACT_S, 6))
    sits_out(result, sensor)


def test_the_scatter_goes_to_those_alone_who_handed_over() -> None:
    """The last of the chain is gone for long when its turn comes: the merged model is the other one's."""
    other, sensor = last_of_cycle()
    result = played(hit("sensor-outage", REPORT_S + 1, sensors=[sensor]), sensors=2, strategy=CALIBRATING, rounds=3)
    scattered = result.transfers[result.transfers["payload"] == "scatter"]
    assert scattered["sensor"].tolist() == [other]
    assert not (result.transfers[result.transfers["round"] > 1]["sensor"] == sensor).any()


def test_after_a_void_full_round_nobody_calibrates() -> None:
    """The server is down 10-110; the chain's push is given up 60 s after it has arrived. The calibration rounds wait
    for the server as any other, and take no time. The next cycle is as the first would have been."""
    result = played(hit("server-outage", 10, 100), sensors=2, strategy=CALIBRATING, rounds=4)
    assert ends(result) == [
        (0, round(MERGED_S + 60, 6)),
        (110, 110),
        (110, 110),
        (110, round(110 + MERGED_S + DOWN_S + EXTRACT_S, 6)),
    ]
    assert result.rounds["void"].tolist() == [True, True, True, False]
    assert result.rounds["phase"].tolist() == ["full", "calibration", "calibration", "full"]
    assert result.rounds["groups"].tolist() == [1, 0, 0, 1]


def test_the_scatter_comes_after_the_deadline_and_goes_to_those_who_were_in_time() -> None:
    """Two chains of one sensor. The second cannot send from 5 on, and is cut off at 20; 20-24 the first hears what it
    has made alone, and calibrates alone."""
    apart = CALIBRATING | {"beta": 2}
    result = played(hit("sensor-outage", 5, 30, sensors=[1]), sensors=2, strategy=apart, deadline_s=20.0, rounds=3)
    scattered = result.transfers[result.transfers["payload"] == "scatter"]
    assert scattered[["sensor", "start_s", "end_s"]].values.tolist() == [[0, 20, 24]]
    assert ends(result)[0] == (0, round(24 + EXTRACT_S, 6))
    assert result.rounds["deadline_missed"].tolist() == [1, 0, 0]
    assert set(result.transfers[result.transfers["round"] > 1]["sensor"]) == {0}


# ------------------------------------------------------------------------------------------------------- batteries

CURRENTS = {"voltage_v": 1.0, "sleep_ma": 0.0, "connected_ma": 0.0, "receive_ma": 0.0, "transmit_ma": 1000.0}


def on_batteries(charge_j: float, *transmit_ma: float, **keys: Any) -> RunResult:
    """Return a run in which each sensor has a cell of its own, and spends power while it transmits and only then."""
    cells = [
        {"name": f"cell{n}", "profile": RADIO | {"energy": CURRENTS | {"transmit_ma": current}}}
        for n, current in enumerate(transmit_ma)
    ]
    sensors = {"count": len(cells), "battery_wh": charge_j / 3600}
    return by_hand(**{"sensors": sensors, "cells": cells, "faults": [{"kind": "battery"}]} | keys)


def test_a_sensor_whose_battery_is_empty_plays_the_round_to_its_end_and_is_gone() -> None:
    """Sensor 0 spends 8 J a round and has 20: it is empty in the third, which ends at 42. In the fourth it is asked
    all the same, because a fault is never announced, and given up at 42 + 60."""
    result = on_batteries(20.0, 1000.0, 0.0, rounds=5)
    assert happened(result)[:2] == [(42, "empty battery", "sensor 0"), (102, "skip", "sensor 0")]
    heard = result.transfers[(result.transfers["sensor"] == 0) & (result.transfers["airtime_s"] > 0)]
    assert sorted(set(heard["round"])) == [1, 2, 3]
    assert (heard["outcome"] == "ok").all()
    assert ends(result)[:4] == [(0, 14), (14, 28), (28, 42), (42, 102)]
    assert result.rounds["arrived"].tolist() == [2, 2, 2, 1, 1]
    assert result.faults["kind"].tolist().count("empty battery") == 1


def test_when_all_batteries_are_empty_the_run_has_stalled() -> None:
    result = on_batteries(20.0, 1000.0, rounds=10)
    assert result.summary["stopped"]["reason"] == "stalled"
    assert not result.rounds["void"][:3].any()
    assert result.summary["rounds"] <= 4


def test_without_the_fault_a_battery_never_runs_out() -> None:
    assert on_batteries(20.0, 1000.0, rounds=5, faults=[]).rounds["arrived"].tolist() == [1] * 5


# ---------------------------------------------------------------------------------------------------- availability


def roster(*groups: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {"kind": "roster", "groups": list(groups)} | keys


def shift(sensors: int, from_h: float, hours: float, **keys: Any) -> dict[str, Any]:
    return {"sensors": sensors, "from_h": from_h, "hours": hours} | keys


def test_who_is_announced_as_away_is_not_drawn() -> None:
    result = played(sensors=3, availability=roster(shift(2, 0, 12), shift(1, 12, 12)))
    assert legs(result) == [turn(0, 0)[0], turn(1, 0)[0], turn(0, 0)[1], turn(1, 0)[1]]
    assert result.rounds[["participants", "skipped", "arrived"]].iloc[0].tolist() == [2, 0, 2]
    assert result.faults.empty


def test_who_is_away_unannounced_is_drawn_and_given_up() -> None:
    result = played(sensors=2, availability=roster(shift(1, 0, 12), shift(1, 12, 12), announced=False))
    assert happened(result) == [(60, "skip", "sensor 1")]
    assert ends(result) == [(0, 60)]


def test_who_is_announced_as_away_is_not_asked_for_a_report() -> None:
    result = played(sensors=3, strategy=REPORTING, availability=roster(shift(2, 0, 12), shift(1, 12, 12)))
    reports = result.transfers[result.transfers["payload"] == "report"]
    assert sorted(reports["sensor"]) == [0, 1]
    assert result.faults.empty
    assert ends(result) == [(0, round(REPORT_S + 28, 6))]


@pytest.mark.parametrize(
    ("availability", "begin_s"),
    [
        (roster(shift(2, 6, 8)), 6 * HOUR_S),
        (roster(shift(1, 8, 8), shift(1, 6, 8)), 6 * HOUR_S),
        (roster(shift(2, 6, 8), starts_h=5), HOUR_S),
        (roster(shift(2, 6, 8), starts_h=7), 0),
        (roster(shift(2, 6, 8), starts_h=15), 15 * HOUR_S),
        (roster(shift(2, 6, 8, days=["mon", "fri"]), starts_on="sat"), 2 * DAY_S + 6 * HOUR_S),
        (roster(shift(2, 6, 8), holidays=[0]), DAY_S + 6 * HOUR_S),
        (roster(shift(2, 6, 8, days=["mon"]), holidays=[0]), 7 * DAY_S + 6 * HOUR_S),
        (roster(shift(2, 22, 8)), 0),  # of yesterday, until six
        (roster(shift(2, 22, 8, days=["mon", "tue"])), 22 * HOUR_S),  # nothing began on Sunday
        (roster(shift(2, 22, 8, days=["fri"]), starts_on="sat", starts_h=2), 0),
    ],
)
def test_if_all_are_away_the_round_begins_when_the_first_is_back(availability: Any, begin_s: float) -> None:
    result = played(sensors=2, availability=availability)
    assert ends(result) == [(begin_s, begin_s + 14)]
    assert result.faults.empty


def presence(path: Path, *rows: tuple[int, float, float], **keys: Any) -> dict[str, Any]:
    lines = ["sensor,from_s,until_s", *(f"{sensor},{from_s},{until_s}" for sensor, from_s, until_s in rows)]
    path.write_text("\n".join(lines) + "\n")
    return {"kind": "csv", "path": str(path)} | keys


def test_whoever_goes_during_the_round_is_like_one_whose_radio_is_out_of_reach(tmp_path: Path) -> None:
    """There 0-10 and from 30 on: up 6-10 and 30-34."""
    result = played(availability=presence(tmp_path / "p.csv", (0, 0, 10), (0, 30, 1e6)))
    assert legs(result) == [turn(0, 0)[0], ("up", 0, 6, 34, "ok")]
    assert result.sensors["availability"].tolist() == pytest.approx([14 / 34])


def test_whoever_goes_for_long_during_the_round_loses_its_work(tmp_path: Path) -> None:
    """Given up at 10 + 60. The second round has nobody, until 500."""
    result = played(availability=presence(tmp_path / "p.csv", (0, 0, 10), (0, 500, 1e6)), rounds=2)
    assert happened(result)[:2] == [(70, "lost work", "sensor 0"), (70, "skip", "sensor 0")]
    assert ends(result) == [(0, 70), (500, 514)]


def test_a_sensor_that_the_file_does_not_name_is_always_there(tmp_path: Path) -> None:
    result = played(sensors=2, availability=presence(tmp_path / "p.csv", (1, 100, 200)), rounds=2)
    assert result.rounds["participants"].tolist() == [1, 1]
    assert ends(result) == [(0, 14), (14, 28)]


def test_the_files_times_begin_anew(tmp_path: Path) -> None:
    """There for the first 20 of every 100 s. The second round has come to its uplink at 20, which is then 100-108; of
    the third's, 114-122, 2 s are left at 120: 200-202."""
    result = played(availability=presence(tmp_path / "p.csv", (0, 0, 20), repeat_s=100), rounds=3, recovery=PATIENT)
    assert ends(result) == [(0, 14), (14, 108), (108, 202)]


# --------------------------------------------------------------------------------------------------------- renewals


def outages(**changes: Any) -> list[tuple[float, str]]:
    fault = {"kind": "cell-outage", "mean_up_s": 40.0, "mean_down_s": 5.0}
    result = played(fault, sensors=4, cells=("a", "b"), recovery=PATIENT, **({"rounds": 8} | changes))
    rows = result.faults[result.faults["kind"] == "outage"]
    return sorted(zip(rows["time_s"], rows["entity"], strict=True))


def test_outages_are_the_same_for_every_radio_and_strategy() -> None:
    one = outages()
    other = outages(strategy=REPORTING, radio={"downlink_bps": 40_000.0})
    third = outages(strategy=CHAIN, radio={"on_outage": "restart"})
    shortest = min(each[-1][0] for each in (one, other, third))
    assert shortest > 60
    firsts = [[row for row in each if row[0] <= shortest] for each in (one, other, third)]
    assert firsts[0] == firsts[1] == firsts[2]
    assert outages(seed=2)[:3] != one[:3]


def test_cells_fail_by_clocks_of_their_own() -> None:
    times = {entity: [time_s for time_s, each in outages() if each == entity] for entity in ("cell a", "cell b")}
    assert all(times.values())
    assert not set(times["cell a"]) & set(times["cell b"]) - {0.0}
