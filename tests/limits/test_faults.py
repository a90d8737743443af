"""Critical paths of rounds in which something goes wrong: worked through by hand, and in every run."""

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from hfedms_sim.limits import Limits, limits_of
from hfedms_sim.loading import load_scenario
from hfedms_sim.result import RunResult
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import run
from hfedms_sim.strategies import SHIPPED
from hfedms_sim.trace import FaultRow, RoundRow, Trace, TransferRow, WorkRow
from tests.conftest import FAST, tiny_scenario
from tests.limits.test_critical_path import SLOW_LINK, limits_of_run, spent, transfer, whole_round, work
from tests.limits.test_limited_by import EVERYBODY, LORA_LIKE

Row = TransferRow | WorkRow | FaultRow | RoundRow
Steps = list[tuple[str, int, dict[str, float]]]


def limits_of_rows(*rows: Row, **changes: Any) -> Limits:
    """Return the limits of rows by hand: a kilobyte a second, a second of set-up, 0.5 s and 0.25 s of latency."""
    trace = Trace()
    for row in rows:
        tables: dict[type, Any] = {TransferRow: trace.transfers, WorkRow: trace.work, FaultRow: trace.faults}
        tables.get(type(row), trace.rounds).append(row)
    wrong: dict[str, Any] = {"faults": [{"kind": "transfer-loss", "probability": 0.5}], "backbone": {"latency_s": 0.25}}
    return limits_of(
        tiny_scenario(**{"cells": [{"name": "hall", "profile": SLOW_LINK}]} | wrong | changes), trace.tables()
    )


def fault(time_s: float, kind: str, entity: str) -> FaultRow:
    return FaultRow(time_s=time_s, kind=kind, entity=entity, round=1, detail="")


def steps_of(limits: Limits, number: int = 1) -> Steps:
    """Return the steps of a round that took time, which must follow each other without a gap."""
    steps = list(limits.path.steps(number))
    assert [step.begin_s for step in steps[1:]] == [step.end_s for step in steps[:-1]]
    assert all(sum(step.seconds) == pytest.approx(step.end_s - step.begin_s) for step in steps)
    return [(step.what, step.sensor, spent(step)) for step in steps if spent(step)]


def seconds_of_faults(limits: Limits) -> float:
    return float((limits.path.of("lost_s") + limits.path.of("outage_s")).sum())


# ------------------------------------------------------------------------------------------------- rounds by hand


def test_a_sensor_that_is_skipped_costs_the_timeout() -> None:
    """Sensor 1 has crashed: it is waited for from 6.25 s to 66.25 s."""
    limits = limits_of_rows(
        transfer(0, 0, "down", 0, (0.25, 1.25, 3.75), 2.0, 2),
        transfer(0, 1, "up", 0, (3.75, 3.75, 6.25), 2.0, 2),
        fault(66.25, "skip", "sensor 1"),
        transfer(0, 2, "down", 2, (66.25, 67.25, 69.75), 2.0, 2),
        transfer(0, 3, "up", 2, (69.75, 69.75, 72.25), 2.0, 2),
        whole_round(0.0, 72.5),
    )
    assert steps_of(limits) == [
        ("model", 0, {"backbone_s": 0.25, "setup_s": 1, "airtime_s": 2, "latency_s": 0.5}),
        ("model", 0, {"airtime_s": 2, "latency_s": 0.5}),
        ("model", 2, {"outage_s": 60, "setup_s": 1, "airtime_s": 2, "latency_s": 0.5}),
        ("model", 2, {"airtime_s": 2, "latency_s": 0.5}),
        ("", -1, {"backbone_s": 0.25}),
    ]
    assert limits.limited_by is not None
    assert (limits.limited_by.cause, limits.limited_by.detail.sensor) == ("faults", 1)
    assert limits.limited_by.share == pytest.approx(60 / 72.5)
    assert limits.limited_by.text.startswith("faults: most was lost at sensor 1")
    assert limits.path.chain_sensors.max() == 2


def test_a_transfer_that_paused_lost_that_time() -> None:
    """The downlink was off the air for 30 s in all; the uplink waited 40 s before its set-up could begin."""
    limits = limits_of_rows(
        transfer(0, 0, "down", 0, (0.25, 1.25, 33.75), 2.0, 2)._replace(paused_s=30.0),
        transfer(0, 1, "up", 0, (33.75, 74.75, 77.25), 2.0, 2)._replace(held_s=40.0),
        whole_round(0.0, 77.5),
    )
    down, up, _ = steps_of(limits)
    assert down[2] == pytest.approx({"backbone_s": 0.25, "setup_s": 1, "airtime_s": 2, "latency_s": 0.5, "lost_s": 30})
    assert up[2] == pytest.approx({"setup_s": 1, "airtime_s": 2, "latency_s": 0.5, "lost_s": 40})
    assert limits.limited_by is not None
    assert limits.limited_by.detail == ("hall", None, 0, None)


def test_what_others_take_is_no_pause() -> None:
    """Both are there for 10 s, with a cell outage of 6 s, and share the other 4 s."""
    limits = limits_of_rows(
        transfer(1, 0, "down", 1, (0.25, 1.25, 11.75), 2.0, 2)._replace(paused_s=6.0),
        transfer(0, 0, "down", 0, (0.25, 1.25, 11.75), 2.0, 2)._replace(paused_s=6.0),
        transfer(0, 1, "up", 0, (11.75, 11.75, 14.25), 2.0, 2),
        whole_round(0.0, 14.5),
    )
    (_, _, down), *_ = steps_of(limits)
    assert down == pytest.approx(
        {"backbone_s": 0.25, "setup_s": 1, "waiting_s": 2, "shared_airtime_s": 2, "latency_s": 0.5, "lost_s": 6}
    )


def test_a_chain_goes_on_after_an_aborted_uplink() -> None:
    """Sensor 0 crashes in its uplink and is given up: sensor 1 gets the model from the server."""
    limits = limits_of_rows(
        transfer(0, 0, "down", 0, (0.25, 1.25, 3.75), 2.0, 2),
        work(0, 0, "train", 3.75, 4.75),
        transfer(0, 1, "up", 0, (4.75, 4.75, 5.75), 1.0, 2)._replace(outcome="aborted"),
        fault(5.75, "lost work", "sensor 0"),
        fault(65.75, "skip", "sensor 0"),
        transfer(0, 1, "down", 1, (66.0, 67.0, 69.5), 2.0, 2),
        work(1, 1, "train", 69.5, 70.0)._replace(outcome="aborted"),
        fault(70.0, "retry", "sensor 1"),
        transfer(0, 1, "down", 1, (70.25, 70.25, 72.75), 2.0, 2)._replace(outcome="lost"),
        transfer(0, 1, "down", 1, (72.75, 72.75, 75.25), 2.0, 2),
        work(1, 1, "train", 75.25, 76.25),
        transfer(0, 2, "up", 1, (76.25, 76.25, 78.75), 2.0, 2),
        whole_round(0.0, 79.0),
    )
    assert steps_of(limits) == [
        ("model", 0, {"backbone_s": 0.25, "setup_s": 1, "airtime_s": 2, "latency_s": 0.5}),
        ("train", 0, {"compute_s": 1}),
        ("model", 0, {"lost_s": 1}),
        ("model", 1, {"backbone_s": 0.25, "outage_s": 60, "setup_s": 1, "airtime_s": 2, "latency_s": 0.5}),
        ("train", 1, {"lost_s": 0.5}),
        ("model", 1, {"backbone_s": 0.25, "lost_s": 2.5}),
        ("model", 1, {"airtime_s": 2, "latency_s": 0.5}),
        ("train", 1, {"compute_s": 1}),
        ("model", 1, {"airtime_s": 2, "latency_s": 0.5}),
        ("", -1, {"backbone_s": 0.25}),
    ]
    assert limits.uses[0].airtime_s == 3  # what was aborted had a second
    assert limits.uses[0].active_share == pytest.approx(3 / 79)
    assert limits.uses[1].airtime_s == 8


def test_all_tries_of_a_report_and_of_a_receiver_are_on_the_path() -> None:
    report: Any = {"payload": "report", "group": -1, "hop": -1}
    limits = limits_of_rows(
        transfer(0, 0, "up", 3, (0.0, 1.0, 2.5), 1.0, 1)._replace(**report),
        transfer(0, 0, "up", 2, (0.0, 1.0, 3.5), 1.0, 1)._replace(**report, outcome="lost"),
        transfer(0, 0, "up", 2, (3.5, 3.5, 5.0), 1.0, 1)._replace(**report),
        transfer(0, 0, "down", 0, (5.5, 6.5, 9.0), 2.0, 2),
        transfer(0, 1, "up", 0, (9.0, 9.0, 11.5), 2.0, 2),
        transfer(-1, -1, "down", 0, (12.0, 12.0, 13.5), 1.0, 1)._replace(outcome="lost"),
        transfer(-1, -1, "down", 0, (13.5, 13.5, 15.0), 1.0, 1),
        whole_round(0.0, 15.0),
    )
    assert steps_of(limits) == [
        ("report", 2, {"lost_s": 3.5}),
        ("report", 2, {"airtime_s": 1, "latency_s": 0.5}),
        ("model", 0, {"backbone_s": 0.5, "setup_s": 1, "airtime_s": 2, "latency_s": 0.5}),
        ("model", 0, {"airtime_s": 2, "latency_s": 0.5}),
        ("scatter", 0, {"backbone_s": 0.5, "lost_s": 1.5}),
        ("scatter", 0, {"airtime_s": 1, "latency_s": 0.5}),
    ]


CUT_OFF = (
    transfer(0, 0, "down", 0, (0.25, 1.25, 3.75), 2.0, 2),
    transfer(0, 1, "up", 0, (3.75, 3.75, 6.25), 2.0, 2),
    transfer(1, 0, "down", 1, (4.0, 4.0, 6.5), 2.0, 2)._replace(outcome="aborted", airtime_s=1.0),
    fault(6.5, "late", "group 1"),
)


def test_a_round_that_awaited_enough_chains_has_the_last_of_them_on_its_path() -> None:
    """The second chain is cut off when the first has arrived, and did not hold it up."""
    limits = limits_of_rows(*CUT_OFF, whole_round(0.0, 6.5))
    assert [step.group for step in limits.path.steps(1)] == [0, 0, -1]
    assert seconds_of_faults(limits) == 0


def test_a_round_that_ended_with_its_deadline_has_a_late_chain_on_its_path() -> None:
    limits = limits_of_rows(*CUT_OFF, whole_round(0.0, 6.5), deadline_s=6.5)
    assert [step.group for step in limits.path.steps(1)] == [1, -1]
    assert steps_of(limits) == [("model", 1, {"backbone_s": 0.25, "outage_s": 3.75, "lost_s": 2.5})]


def test_a_chain_that_is_cut_off_may_have_waited_for_samples() -> None:
    came_down = transfer(0, 0, "down", 0, (0.25, 1.25, 3.75), 2.0, 2)
    limits = limits_of_rows(came_down, fault(50.0, "late", "group 0"), whole_round(0.0, 50.0), deadline_s=50.0)
    assert steps_of(limits)[-1] == ("", -1, {"samples_s": 46.25})
    assert seconds_of_faults(limits) == 0


def test_a_void_round_may_take_no_time() -> None:
    void = whole_round(0.0, 0.0)._replace(void=True, arrived=0, groups=0)
    nothing = limits_of_rows(void)
    assert (nothing.limited_by, nothing.shares) == (None, [])
    played = (
        transfer(0, 0, "down", 0, (0.25, 1.25, 3.75), 2.0, 2)._replace(round=2),
        transfer(0, 1, "up", 0, (3.75, 3.75, 6.25), 2.0, 2)._replace(round=2),
        whole_round(0.0, 6.5)._replace(round=2),
    )
    after_it = limits_of_rows(void, *played, void._replace(round=3, start_s=6.5, end_s=6.5))
    assert steps_of(after_it, 1) == steps_of(after_it, 3) == []
    assert sum(sum(spent.values()) for _, _, spent in steps_of(after_it, 2)) == 6.5


def test_the_time_between_two_rounds_is_on_no_path() -> None:
    """There is a round every minute; in the second the server is waited for, and nobody is reached."""
    limits = limits_of_rows(
        transfer(0, 0, "down", 0, (0.25, 1.25, 3.75), 2.0, 2),
        transfer(0, 1, "up", 0, (3.75, 3.75, 6.25), 2.0, 2),
        whole_round(0.0, 6.5),
        whole_round(60.0, 80.0)._replace(round=2),
        round_period_s=60.0,
    )
    assert sum(sum(spent.values()) for _, _, spent in steps_of(limits, 1)) == 6.5
    assert steps_of(limits, 2) == [("", -1, {"outage_s": 20})]
    assert limits.uses[0].active_share == pytest.approx(2 / 80)
    assert limits.limited_by is not None
    assert limits.limited_by.text.startswith("faults: waits for what was down (75%")


def test_roll_calls_that_nobody_answered_are_before_the_round() -> None:
    report: Any = {"payload": "report"}
    limits = limits_of_rows(
        transfer(-1, -1, "up", 0, (0.0, 60.0, 60.0), 0.0, 1)._replace(**report, outcome="aborted"),
        transfer(-1, -1, "up", 0, (60.0, 61.0, 62.5), 1.0, 1)._replace(**report),
        transfer(0, 0, "down", 0, (63.0, 63.0, 65.5), 2.0, 2),
        transfer(0, 1, "up", 0, (65.5, 65.5, 68.0), 2.0, 2),
        whole_round(60.0, 68.25),
    )
    assert sum(sum(spent.values()) for _, _, spent in steps_of(limits)) == 8.25
    assert seconds_of_faults(limits) == 0


def test_rows_of_a_round_that_the_run_did_not_end_count_for_the_air_alone() -> None:
    given_up = transfer(-1, -1, "up", 0, (7.0, 8.0, 9.0), 1.0, 1)._replace(round=2, payload="report", outcome="aborted")
    limits = limits_of_rows(
        transfer(0, 0, "down", 0, (0.25, 1.25, 3.75), 2.0, 2),
        transfer(0, 1, "up", 0, (3.75, 3.75, 6.25), 2.0, 2),
        whole_round(0.0, 6.5),
        given_up,
        work(0, 0, "train", 9.0, 9.0)._replace(round=2),
    )
    assert set(limits.path.round) == {1}
    assert limits.uses[0].airtime_s == 3
    alone = limits_of_rows(given_up)
    assert (alone.limited_by, alone.uses[0].airtime_s, alone.uses[0].active_share) == (None, 1, 0.5)


# ------------------------------------------------------------------------------------------------------- in runs


def test_the_time_of_a_known_outage_is_found() -> None:
    """All eight sensors of FedAvg are on the air when the cell goes down for 50 s."""
    outage = {"faults": [{"kind": "cell-outage", "at_s": 100.0, "for_s": 50.0}]}
    undisturbed, disturbed = (
        run(tiny_scenario(strategy=EVERYBODY, rounds=1, **each), timing_only=True) for each in ({}, outage)
    )
    assert disturbed.summary["simulated_s"] == pytest.approx(undisturbed.summary["simulated_s"] + 50)
    assert seconds_of_faults(limits_of_run(disturbed)) == pytest.approx(50)


WATCHED: list[dict[str, Any]] = [
    FAST, FAST | {"sharing": "fifo"}, FAST | {"resource_units": 5}, LORA_LIKE,
    FAST | {"duty_cycle": {"uplink": 0.1, "downlink": 0.2}, "idle": {"mode": "edrx", "cycle_s": 5.0}},
]  # fmt: skip


@pytest.mark.parametrize("profile", WATCHED)
def test_where_nothing_happens_faults_have_no_seconds(profile: dict[str, Any]) -> None:
    for strategy in ({"name": "hfedms-d", "interval": 3, "beta": 2}, EVERYBODY):
        figures = {"strategy": strategy, "rounds": 4, "backbone": {"latency_s": 0.2}}
        made = [
            tiny_scenario(cells=[{"name": "hall", "profile": profile}], **figures, **{"deadline_s": each})
            for each in (None, 1e9)
        ]
        assert [each.is_steady for each in made] == [True, False]
        steady, watched = (limits_of_run(run(each, timing_only=True, allow_infeasible=True)).path for each in made)
        assert (steady.seconds == watched.seconds).all()


def random_faults(random: Random) -> list[dict[str, Any]]:
    """Return a few faults of different kinds, on the scale of a round of `length_s` seconds."""
    length_s = random.choice([3.0, 30.0, 300.0])
    often = {"mean_up_s": 3 * length_s, "mean_down_s": length_s}
    kinds: list[dict[str, Any]] = [
        {"kind": "cell-outage"} | often,
        {"kind": "backbone-outage"} | often,
        {"kind": "server-outage"} | often,
        {"kind": "sensor-outage"} | often,
        {"kind": "sensor-crash"} | often,
        {"kind": "shadowing", "rate_share": 0.2} | often,
        {"kind": "straggler", "factor": 5.0} | often,
        {"kind": "transfer-loss", "probability": 0.2},
    ]
    return random.sample(kinds, random.randint(2, 6))


def random_scenario(strategy: str, profile: str | None) -> Scenario:
    random = Random(f"{strategy} {profile}")
    changes = {
        "sensors.count": 12,
        "seed": random.randrange(100),
        "faults": random_faults(random),
        "recovery.timeout_s": random.choice([0.001, 10.0, 60.0]),
        "recovery.on_gap": random.choice(["skip", "reorder"]),
        "backbone.latency_s": random.choice([0.0, 0.5]),
        "cells.0.profile.on_outage": random.choice(["pause", "restart"]),
        "round_period_s": random.choice([None, 100.0]),
        "deadline_s": random.choice([None, None, 40.0]),
        "strategy.over_selection": random.choice([0.0, 0.5 * SHIPPED[strategy].Settings.can_over_select]),
        "compute.device": random.choice(["instant", "mcu"]),
    }
    return load_scenario("quickstart", strategy=strategy, profile=profile, rounds=5, overrides=changes)


def check_paths(result: RunResult, limits: Limits) -> None:
    length_s = (result.rounds["end_s"] - result.rounds["start_s"]).to_numpy()
    path = limits.path
    assert np.bincount(path.round - 1, weights=path.seconds.sum(axis=1), minlength=len(length_s)) == pytest.approx(
        length_s, rel=1e-6, abs=1e-9
    )
    assert path.seconds.min(initial=0.0) >= -1e-9
    for number in result.rounds["round"]:
        steps = list(path.steps(number))
        assert [step.begin_s for step in steps[1:]] == [step.end_s for step in steps[:-1]]
    if length_s.any():
        assert sum(share for _, share in limits.shares) == pytest.approx(1)
    airtime_s = result.transfers.groupby("direction")["airtime_s"].sum()
    for use, direction in zip(limits.uses, ("up", "down"), strict=True):
        assert use.airtime_s == pytest.approx(airtime_s.get(direction, 0.0))
        assert 0 <= use.saturated_share <= 1
        assert 0 <= use.active_share <= 1


PLAYED = [(strategy, profile) for strategy in sorted(SHIPPED) for profile in (None, "nb-iot-nb2")]
SLOW: list[tuple[str, str | None]] = [
    (strategy, profile)
    for strategy in ("fedavg", "hfedms-d", "hfedms-s", "static-icg")
    for profile in ("wifi-halow", "lorawan-eu868-sf7")
]


@pytest.mark.parametrize(("strategy", "profile"), PLAYED + SLOW)
def test_the_seconds_of_a_round_with_faults_add_up_to_its_length(strategy: str, profile: str | None) -> None:
    result = run(random_scenario(strategy, profile), timing_only=True, allow_infeasible=True)
    check_paths(result, limits_of_run(result))


def test_a_directory_of_a_run_with_faults_gives_the_same(tmp_path: Path) -> None:
    made = random_scenario("hfedms-s", None)
    on_disk, in_memory = run(made, timing_only=True, out=tmp_path / "run"), run(made, timing_only=True)
    assert on_disk.summary["limited_by"] == in_memory.summary["limited_by"]
    assert limits_of(made, tmp_path / "run").shares == limits_of_run(in_memory).shares
