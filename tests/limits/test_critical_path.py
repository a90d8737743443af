"""The critical path: a round worked through by hand, and what holds in every round."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hfedms_sim.limits import Limits, limits_of, round_selection
from hfedms_sim.limits.critical_path import PathStep
from hfedms_sim.loading import load_scenario
from hfedms_sim.result import RunResult
from hfedms_sim.rounds import SERVER, Direction, WorkKind
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import run
from hfedms_sim.trace import RoundRow, Trace, TransferRow, WorkRow
from tests.conftest import FAST, tiny_scenario
from tests.limits.test_limited_by import EVERYBODY, LORA_LIKE, scenario

SLOW_LINK = FAST | {"latency_s": 0.5, "setup_s": 1.0}  # a kilobyte a second, one channel


def limits_of_run(result: RunResult) -> Limits:
    assert result.tables is not None
    return limits_of(result.scenario, result.tables)


def transfer(
    group: int,
    hop: int,
    direction: Direction,
    sensor: int,
    times: tuple[float, float, float],
    airtime_s: float,
    kilobytes: int,
) -> TransferRow:
    ready_s, start_s, end_s = times
    return TransferRow(
        transfer=0,
        round=1,
        group=group,
        hop=hop,
        direction=direction,
        payload="model" if group >= 0 else "scatter",
        source=sensor if direction == "up" else SERVER,
        target=SERVER if direction == "up" else sensor,
        sensor=sensor,
        cell="hall",
        bytes=1000 * kilobytes,
        ready_s=ready_s,
        start_s=start_s,
        end_s=end_s,
        airtime_s=airtime_s,
        retransmitted_bytes=0,
        energy_j=None,
        outcome="ok",
        held_s=0.0,
        paused_s=0.0,
        version=0,
    )


def work(sensor: int, hop: int, kind: WorkKind, start_s: float, end_s: float) -> WorkRow:
    return WorkRow(
        round=1,
        group=0,
        hop=hop,
        sensor=sensor,
        kind=kind,
        samples=50,
        start_s=start_s,
        end_s=end_s,
        energy_j=0.0,
        outcome="ok",
        version=0,
    )


def whole_round(start_s: float, end_s: float) -> RoundRow:
    row = RoundRow(**dict.fromkeys(RoundRow._fields))  # type: ignore[arg-type]
    return row._replace(round=1, phase="full", start_s=start_s, end_s=end_s, lineage="lineage")


def round_by_hand() -> Limits:
    """Return the limits of a round from 100 to 124.25 s, with two chains, and 0.25 s of backbone.

    Chain 0 is sensors 0 and 1. Sensor 0 waits 3 s for samples, works 2 s, and sends at half the rate. Chain 1 is sensor
    2, and done early. After the scatter sensor 1 works longer than sensor 0.
    """
    trace = Trace()
    for row in (
        transfer(1, 0, "down", 2, (100.25, 101.25, 103.75), 1.0, 1),
        transfer(0, 0, "down", 0, (100.25, 101.25, 104.75), 2.0, 2),  # with sensor 2 until 103.25, then alone
        transfer(1, 1, "up", 2, (103.75, 103.75, 105.25), 1.0, 1),
        transfer(0, 1, "up", 0, (109.75, 109.75, 114.25), 4.0, 2),
        transfer(0, 1, "down", 1, (114.25, 115.25, 117.75), 2.0, 2),
        transfer(0, 2, "up", 1, (117.75, 117.75, 120.25), 2.0, 2),
        transfer(-1, -1, "down", 0, (120.75, 120.75, 123.25), 1.0, 1),
        transfer(-1, -1, "down", 1, (120.75, 120.75, 123.25), 1.0, 1),
    ):
        trace.transfers.append(row)
    for step in (
        work(0, 0, "train", 107.75, 109.75),
        work(1, 1, "train", 117.75, 117.75),
        work(0, 0, "extract", 123.25, 123.75),
        work(1, 1, "extract", 123.25, 124.25),
    ):
        trace.work.append(step)
    trace.rounds.append(whole_round(100.0, 124.25))
    return limits_of(tiny_scenario(cells=[{"name": "hall", "profile": SLOW_LINK}]), trace.tables())


def spent(step: PathStep) -> dict[str, float]:
    return {name: seconds for name, seconds in step.seconds._asdict().items() if seconds}


def test_a_round_worked_through_by_hand() -> None:
    steps = list(round_by_hand().path.steps(1))
    assert [(step.what, step.sensor, step.link and step.link.direction, spent(step)) for step in steps] == [
        # Three seconds on the air for an airtime of two: one shared with sensor 2, one alone.
        (
            "model", 0, "down",
            {"backbone_s": 0.25, "setup_s": 1, "waiting_s": 1, "shared_airtime_s": 1, "airtime_s": 1, "latency_s": 0.5},
        ),
        ("train", 0, None, {"samples_s": 3, "compute_s": 2}),
        ("model", 0, "up", {"airtime_s": 2, "slow_rate_s": 2, "latency_s": 0.5}),
        ("model", 1, "down", {"setup_s": 1, "airtime_s": 2, "latency_s": 0.5}),
        ("train", 1, None, {}),
        ("model", 1, "up", {"airtime_s": 2, "latency_s": 0.5}),
        ("scatter", 1, "down", {"backbone_s": 0.5, "waiting_s": 1, "shared_airtime_s": 1, "latency_s": 0.5}),
        ("extract", 1, None, {"compute_s": 1}),
        ("", -1, None, {}),
    ]  # fmt: skip
    assert [step.begin_s for step in steps[1:]] == [step.end_s for step in steps[:-1]]
    assert (steps[0].begin_s, steps[-1].end_s) == (100.0, 124.25)


def test_the_shares_of_that_round() -> None:
    limits = round_by_hand()
    length_s = 24.25
    assert {cause: share * length_s for cause, share in limits.shares if share} == pytest.approx(
        {
            "chain length": 7, "cell direction": 4, "compute": 3, "waiting for samples": 3, "latency": 3.25,
            "sensor rate": 2, "set-up and paging": 2,
        }
    )  # fmt: skip
    assert limits.limited_by is not None
    assert limits.limited_by.cause == "chain length"
    assert limits.limited_by.detail.chain_sensors == 2


PLAYED = [
    (name, strategy, profile)
    for name in ("quickstart", "assembly-hall", "mixed-factory", "open-pit-mine", "lorawan-yard")
    for strategy in ("hfedms-d", "hfedms-s", "fedavg")
    for profile in (None, "wifi-halow", "nb-iot-nb2", "lorawan-eu868-sf9")
    if profile is None or name in ("quickstart", "lorawan-yard")
]


@pytest.mark.parametrize(("name", "strategy", "profile"), PLAYED)
def test_the_seconds_of_a_round_add_up_to_its_length(name: str, strategy: str, profile: str | None) -> None:
    played = load_scenario(name, strategy=strategy, profile=profile, rounds=7)
    result = run(played, timing_only=True, allow_infeasible=True)
    limits = limits_of_run(result)
    length_s = (result.rounds["end_s"] - result.rounds["start_s"]).to_numpy()
    path_s = np.bincount(limits.path.round - 1, weights=limits.path.seconds.sum(axis=1))
    assert path_s == pytest.approx(length_s, rel=1e-9)
    assert limits.path.seconds.min() >= -1e-9
    backbones = limits.path.of("backbone_s") / (played.backbone.latency_s or 1.0)
    assert backbones == pytest.approx(np.round(backbones), abs=1e-6)


@pytest.mark.parametrize("sharing", ["fair", "fifo"])
@pytest.mark.parametrize("profile", [FAST, FAST | {"channels": 2, "setup_s": 3.0}, LORA_LIKE])
def test_they_do_so_with_queues_compute_and_streams(profile: dict[str, Any], sharing: str) -> None:
    stream = {"arrival": "poisson", "rate_hz": 0.1, "batch": 50, "buffer": 50, "short": "wait"}
    busy: dict[str, Any] = {"compute": {"device": "mcu"}, "stream": stream, "backbone": {"latency_s": 0.2}}
    cells = [{"name": f"cell{number}", "profile": profile | {"sharing": sharing}} for number in range(2)]
    for strategy in ({"name": "hfedms-d", "interval": 3, "beta": 2, "scatter": "broadcast"}, EVERYBODY):
        made = tiny_scenario(cells=cells, strategy=strategy, **busy)
        result = run(made, timing_only=True, allow_infeasible=True)
        limits = limits_of_run(result)
        path_s = np.bincount(limits.path.round - 1, weights=limits.path.seconds.sum(axis=1))
        assert path_s == pytest.approx((result.rounds["end_s"] - result.rounds["start_s"]).to_numpy(), rel=1e-9)
        assert limits.path.of("compute_s").sum() > 0


def test_a_wait_for_samples_ends_with_the_capture() -> None:
    stream = {"arrival": "poisson", "rate_hz": 0.05, "batch": 10, "buffer": 50, "short": "wait"}
    result = run(scenario(FAST, stream=stream, sensors={"count": 3}), timing_only=True)
    captured = set(zip(result.captures["round"], result.captures["sensor"], result.captures["time_s"], strict=True))
    path = limits_of_run(result).path
    waited = [step for number in (1, 2, 3) for step in path.steps(number) if step.seconds.samples_s]
    assert waited
    assert {(step.round, step.sensor, step.begin_s + step.seconds.samples_s) for step in waited} <= captured


def test_of_a_long_run_the_last_rounds_are_looked_at(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A round of FedAvg with eight sensors has 16 transfers."""
    made = tiny_scenario(strategy=EVERYBODY)
    monkeypatch.setattr(round_selection, "MOST_TRANSFERS", 40)
    for result in (run(made, timing_only=True), run(made, timing_only=True, out=tmp_path / "run")):
        assert (result.summary["limited_by"]["rounds"], result.summary["rounds"]) == (2, 6)
        assert result.summary["cells"][0]["directions"]["up"]["saturated_share"] == pytest.approx(0.5)
    monkeypatch.setattr(round_selection, "MOST_TRANSFERS", 3)
    assert run(made, timing_only=True).summary["limited_by"]["rounds"] == 1


def test_a_directory_and_memory_give_the_same(tmp_path: Path) -> None:
    made: Scenario = load_scenario("quickstart", rounds=4)
    on_disk, in_memory = run(made, timing_only=True, out=tmp_path / "run"), run(made, timing_only=True)
    for key in ("cells", "limited_by"):
        assert on_disk.summary[key] == in_memory.summary[key]
