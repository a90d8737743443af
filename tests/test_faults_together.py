"""Several things at once: faults, absences, radios that sleep and strategies that remember. By hand, as in
tests/world/test_fault_timelines.py: a model takes 4 s down, 2 s of training and 8 s up."""

from typing import Any

import pytest

from hfedms_sim.loading import load_scenario, scenario_of
from hfedms_sim.simulation import play, run
from tests.world.test_fault_timelines import CHAIN, FEDAVG, HOUR_S, RADIO, REPORTING, ends, hit, legs, order, played

TWO_SHIFTS = {
    "kind": "roster",
    "groups": [{"sensors": 3, "from_h": 0, "hours": 12}, {"sensors": 3, "from_h": 12, "hours": 12}],
}


def yard(strategy: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario of one sensor on LoRaWAN."""
    cells = [{"name": "yard", "profile": "lorawan-eu868-sf7"}]
    network = {"name": "yard", "rounds": 1, "model": "tiny-mlp", "cells": cells}
    return network | {"sensors": {"count": 1}, "strategy": strategy}


@pytest.mark.parametrize("growth", ["log", "exp"])
def test_a_shift_whose_class_counts_nobody_knows_is_waited_out(growth: str) -> None:
    """The only report is that of the early shift; the late one has none, so its rounds have no groups."""
    strategy = REPORTING | {"class_counts": "once", "growth": growth}
    result = played(sensors=6, strategy=strategy, availability=TWO_SHIFTS, rounds=30, round_period_s=HOUR_S)
    early = (result.rounds["start_s"] // (12 * HOUR_S)) % 2 == 0
    assert (result.rounds["void"] == ~early).all()
    assert result.summary["stopped"] is None
    assert (result.rounds["end_s"] - result.rounds["start_s"])[~early].tolist() == [60.0] * 12  # the timeout


def test_a_round_for_which_nobody_is_there_takes_time() -> None:
    """Groups formed of the early shift, back to back: the late shift is waited for by timeouts, not by empty rounds."""
    strategy = {"name": "static-icg", "beta": 2, "sample_ratio": 1.0}
    shifts = {"kind": "roster", "starts_h": 11.9, "groups": TWO_SHIFTS["groups"]}
    result = played(sensors=6, strategy=strategy, availability=shifts, rounds=40)
    empty = result.rounds["participants"] == 0
    assert empty.any()
    assert (result.rounds["end_s"] > result.rounds["start_s"]).all()
    assert result.summary["stopped"] is None


def test_calibration_rounds_of_a_void_cycle_do_not_count_as_void_rounds() -> None:
    """One void full round of T = 6, and five rounds without anybody: not six void rounds in a row."""
    strategy = {"name": "hfedms-d", "beta": 1, "sample_ratio": 1.0, "interval": 6}
    outage = hit("backbone-outage", 0.5, 200)
    result = played(outage, sensors=2, strategy=strategy, rounds=12, recovery={"void_rounds": 4})
    assert result.summary["stopped"] is None
    assert result.rounds["void"].tolist() == [True] * 6 + [False] * 6


def test_a_round_begins_when_the_server_is_up_and_somebody_is_there() -> None:
    """Everybody comes at 3,600 s, while the server is down from 3,000 s to 7,000 s."""
    away = {"kind": "roster", "groups": [{"sensors": 1, "from_h": 1, "hours": 20}]}
    result = played(hit("server-outage", 3000, 4000), availability=away)
    assert ends(result) == [(7000, 7014)]


def test_a_connection_is_set_up_again_after_its_cell_was_down_and_after_a_crash() -> None:
    """Set-up 0-2, down 2-4 | outage 4-9 | set-up 9-11, down 11-13. After a crash all of it begins anew."""
    slow = {"setup_s": 2.0, "inactivity_s": 100.0}
    (down, *_) = legs(played(hit("cell-outage", 4, 5), radio=slow))
    assert down == ("down", 0, 2, 13, "ok")
    cut, again, _ = legs(played(hit("sensor-crash", 4, 5), radio=slow))
    assert (cut, again) == (("down", 0, 2, 4, "aborted"), ("down", 0, 11, 15, "ok"))
    (kept, *_) = legs(played(hit("sensor-outage", 4, 5), radio=slow))
    assert kept == ("down", 0, 2, 11, "ok")


def test_a_set_up_that_an_outage_broke_off_does_not_wait_for_the_next_wake_up() -> None:
    """In PSM a sensor wakes once in ten hours. It has just woken, and is within reach for its active time."""
    idle = {"mode": "psm", "active_s": 60.0, "wake_every_s": 36_000.0, "cycle_s": 2.56}
    radio = {"setup_s": 2.0, "inactivity_s": 10.0, "idle": idle}
    woken_s = legs(played(radio=radio))[0][2] - 2.0
    start_s = legs(played(hit("cell-outage", woken_s + 0.5, 1.0), radio=radio))[0][2]
    assert start_s < woken_s + 60


def test_what_has_had_all_its_airtime_arrives() -> None:
    """The model is on the air until 4 and there at 5; the cell goes down at 4.5. A radio that restarts too."""
    for on_outage in ("pause", "restart"):
        result = played(hit("cell-outage", 4.5, 0.2), radio={"latency_s": 1.0, "on_outage": on_outage})
        assert legs(result)[0] == ("down", 0, 0, 5, "ok")
        assert result.transfers["retransmitted_bytes"].sum() == 0


def test_a_last_frame_that_has_been_sent_arrives() -> None:
    """On LoRaWAN too: the gateway goes down after the last frame of the model, within the latency of the network."""
    raw = yard(FEDAVG)
    latency = {"cells.0.profile.latency_s": 10.0}
    whole = run(load_scenario(raw, overrides=latency), timing_only=True, allow_infeasible=True).transfers
    outage = {"faults": [hit("cell-outage", whole["end_s"].iloc[0] - 5.0, 2.0)]}
    shaken = run(load_scenario(raw, overrides=latency | outage), timing_only=True, allow_infeasible=True).transfers
    assert shaken.iloc[0].to_dict() == whole.iloc[0].to_dict()


def test_a_sensor_that_is_detoured_works_on_the_batch_it_has() -> None:
    one, *_ = order(3)
    result = played(
        hit("sensor-outage", 5, 80, sensors=[one]), sensors=3, strategy=CHAIN, recovery={"on_gap": "reorder"}
    )
    assert "detour" in result.summary["faults"]
    assert result.captures["sensor"].tolist().count(one) == 1


def test_who_calibrates_late_in_a_cycle_compensates_then() -> None:
    """In the second cycle a sensor with a memory misses the first calibration round: it extracts twice in the next."""
    strategy = {"name": "hfedms-d", "beta": 1, "sample_ratio": 1.0, "interval": 4, "memory": 50}
    whole = played(sensors=2, strategy=strategy, rounds=8)
    sixth = whole.rounds[whole.rounds["round"] == 6].iloc[0]
    gone = hit("sensor-outage", sixth["start_s"] + 1e-3, 30, sensors=[0])
    result = played(gone, sensors=2, strategy=strategy, rounds=8, recovery={"timeout_s": 20.0})
    work = result.work[(result.work["sensor"] == 0) & (result.work["kind"] == "extract")]
    calibrating = work[work["round"] > 5].groupby("round").size().to_dict()
    assert calibrating == {7: 2, 8: 1}


def test_play_ends_where_run_does() -> None:
    raw: dict[str, Any] = {
        "name": "gone",
        "rounds": 20,
        "model": "tiny-mlp",
        "sensors": {"count": 2},
        "cells": [{"name": "hall", "profile": RADIO}],
        "strategy": FEDAVG,
        "faults": [hit("cell-outage", 1)],
        "recovery": {"void_rounds": 3},
    }
    scenario = scenario_of(raw)
    assert len(list(play(scenario))) == run(scenario, timing_only=True).summary["rounds"] == 3


def test_a_broadcast_to_one_listener_is_a_broadcast() -> None:
    """Two sensors of class A, one of them gone: the other is not polled for, and no sensor -2 is silent."""
    strategy = {"name": "hfedms-d", "beta": 1, "sample_ratio": 1.0, "interval": 2, "scatter": "broadcast"}
    raw = yard(strategy)
    alone = run(load_scenario(raw), timing_only=True, allow_infeasible=True)
    both = run(load_scenario(raw | {"sensors": {"count": 2}}), timing_only=True, allow_infeasible=True)
    one, two = (each.transfers[each.transfers["payload"] == "scatter"].iloc[0] for each in (alone, both))
    assert one["sensor"] == two["sensor"] == -2
    assert one["airtime_s"] == pytest.approx(two["airtime_s"])
