"""Streams through whole runs: the radio changes when a buffer is read and what it has lost, not what arrives."""

from pathlib import Path
from typing import Any

import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.loading import load_scenario
from hfedms_sim.result import RunResult
from hfedms_sim.simulation import run
from tests.conftest import FAST, tiny_scenario

EVERYBODY = {"name": "fedavg", "sample_ratio": 1.0}
POISSON = {"arrival": "poisson", "rate_hz": 0.1, "batch": 20, "buffer": 40, "short": "take"}


def play(stream: dict[str, Any], rate_bps: float = 8e3, **changes: Any) -> RunResult:
    cells = [{"name": "hall", "profile": FAST | {"uplink_bps": rate_bps, "downlink_bps": rate_bps}}]
    return run(tiny_scenario(stream=stream, cells=cells, strategy=EVERYBODY, **changes), timing_only=True)


CYCLES_OF_THREE = {"name": "hfedms-d", "interval": 3, "beta": 2, "sample_ratio": 1.0}


@pytest.mark.parametrize(
    ("redraw", "strategy", "drawn_in"),
    [
        ("round", CYCLES_OF_THREE, [1, 2, 3, 4, 5, 6, 7]),
        ("cycle", CYCLES_OF_THREE, [1, 1, 1, 4, 4, 4, 7]),
        ("once", CYCLES_OF_THREE, [1, 1, 1, 1, 1, 1, 1]),
        ("cycle", EVERYBODY, [1, 2, 3, 4, 5, 6, 7]),
        ("once", EVERYBODY, [1, 1, 1, 1, 1, 1, 1]),
        ("cycle", {"name": "hfedms-s", "beta": 2}, [1, 2, 3, 4, 5, 6, 7]),
    ],
)
def test_a_saturated_batch_is_drawn_anew_as_often_as_asked(
    redraw: str, strategy: dict[str, Any], drawn_in: list[int]
) -> None:
    stream = {"batch": 20, "redraw": redraw}
    captures = run(tiny_scenario(stream=stream, strategy=strategy, rounds=7), timing_only=True).captures
    first = captures.groupby("round")["first_arrival"].unique()
    assert [each.tolist() for each in first] == [[20 * (number - 1)] for number in drawn_in]


def test_how_often_a_batch_is_drawn_shows_in_the_lineage_by_its_samples_alone() -> None:
    every = {
        redraw: run(tiny_scenario(stream={"redraw": redraw}, strategy=CYCLES_OF_THREE, rounds=4), timing_only=True)
        .rounds["lineage"]
        .tolist()
        for redraw in ("round", "cycle", "once")
    }
    assert every["round"][0] == every["cycle"][0] == every["once"][0]
    assert every["round"][1] != every["cycle"][1]
    assert every["cycle"][:3] == every["once"][:3]
    assert every["cycle"][3] != every["once"][3]


def test_without_a_report_a_batch_is_captured_when_the_model_arrives_and_reused_within_its_cycle_only() -> None:
    strategy = CYCLES_OF_THREE | {"class_counts": "once", "new_batch": "cycle"}
    result = run(tiny_scenario(stream=POISSON, strategy=strategy, rounds=6), timing_only=True)
    captures, starts_s = result.captures, result.rounds["start_s"].tolist()
    assert captures["round"].unique().tolist() == [1, 4]
    assert (captures[captures["round"] == 1]["time_s"] == 0).all()
    assert (captures[captures["round"] == 4]["time_s"] > starts_s[3]).all()
    extracted = result.work[result.work["kind"] == "extract"]
    own = captures[captures["round"] == 4].set_index("sensor")["captured"]
    later = extracted[(extracted["round"] == 6)].set_index("sensor")["samples"]
    assert later.to_dict() == {sensor: count for sensor, count in own.to_dict().items() if count}


def test_a_slow_radio_makes_a_stream_overflow_and_a_fast_one_does_not() -> None:
    """A model of 54 kB: 8 sensors take 870 s a round at 8 kbit/s, in which 87 samples arrive for a buffer of 40."""
    slow, fast = play(POISSON, 8e3), play(POISSON, 8e6)
    assert slow.captures["overflowed"].sum() > 0
    assert fast.captures["overflowed"].sum() == 0
    assert slow.rounds["lineage"].iloc[-1] != fast.rounds["lineage"].iloc[-1]


@pytest.mark.parametrize(
    "stream",
    [
        POISSON,
        POISSON | {"arrival": "periodic"},
        {"arrival": "bursty", "rate_hz": 0.5, "on_s": 60.0, "off_s": 240.0, "batch": 20, "buffer": 40, "short": "take"},
    ],
    ids=lambda stream: stream["arrival"],
)
def test_what_arrives_is_captured_overflows_or_waits(stream: dict[str, Any]) -> None:
    captures = play(stream).captures
    totals = captures.groupby("sensor")[["arrived", "overflowed", "captured"]].sum()
    waiting = totals["arrived"] - totals["overflowed"] - totals["captured"]
    assert (waiting >= 0).all()
    assert (waiting <= stream["buffer"] - stream["batch"]).all()
    assert captures["captured"].max() <= stream["batch"]


def test_the_radio_does_not_change_what_arrives() -> None:
    """Arrivals up to a capture's time are a function of the time alone: both radios count along one increasing path."""
    for sensor in range(8):
        counted = []
        for rate_bps in (8e3, 3e4, 8e6):
            captures = play(POISSON, rate_bps).captures
            own = captures[captures["sensor"] == sensor]
            counted += list(zip(own["time_s"], own["arrived"].cumsum(), strict=True))
        counted.sort()
        arrivals = [count for _, count in counted]
        assert arrivals == sorted(arrivals)


def test_a_short_buffer_is_waited_for_or_taken_as_it_is() -> None:
    rare = {"arrival": "periodic", "rate_hz": 0.001, "batch": 3, "buffer": 10}
    waited, taken = play(rare | {"short": "wait"}, 8e6), play(rare | {"short": "take"}, 8e6)
    assert (waited.captures["captured"] == 3).all()
    assert waited.summary["simulated_s"] > 6 * 2_000
    assert (taken.captures["captured"] < 3).all()
    assert taken.summary["simulated_s"] < 60


def test_reports_never_wait() -> None:
    rare = {"arrival": "periodic", "rate_hz": 0.001, "batch": 3, "buffer": 10, "short": "wait"}
    result = run(tiny_scenario(stream=rare, strategy={"name": "hfedms-s", "beta": 2}, rounds=1), timing_only=True)
    assert (result.captures["time_s"] == 0).all()
    assert result.rounds["skipped"].iloc[0] == result.rounds["participants"].iloc[0]


def scenario_with_trace(directory: Path, rows: str, **stream: Any) -> str:
    (directory / "arrivals.csv").write_text("sensor,time_s\n" + rows)
    keys = "".join(f", {key}: {value}" for key, value in stream.items())
    path = directory / "s.yaml"
    path.write_text(
        f"{{name: s, model: tiny-mlp, rounds: 2, sensors: {{count: 2}}, cells: [{{name: a, profile: ethernet}}],"
        f" stream: {{arrival: trace, path: arrivals.csv{keys}}}, strategy: {{name: fedavg, sample_ratio: 1.0}}}}"
    )
    return str(path)


def test_arrivals_come_from_a_csv_beside_the_scenario_and_the_replay_finds_it(tmp_path: Path) -> None:
    rows = "0,0.001\n0,0.002\n1,0.003\n0,0.004\n1,0.02\n1,50\n0,60\n1,70\n"
    source = scenario_with_trace(tmp_path, rows, batch=2, buffer=10)
    result = run(load_scenario(source), timing_only=True, out=tmp_path / "out")
    assert result.captures["captured"].tolist() == [2, 2, 2, 2]
    again = run(load_scenario(str(tmp_path / "out" / "scenario.yaml")), timing_only=True)
    assert again.arrow("captures").equals(result.arrow("captures"))


def test_a_stream_that_never_delivers_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    source = scenario_with_trace(tmp_path, "0,1\n0,2\n", batch=2)
    with pytest.raises(InputError, match="sensor 1 never delivers 2 more samples"):
        run(load_scenario(source), timing_only=True)
    assert run(load_scenario(source, overrides=["stream.short=take"]), timing_only=True).summary["simulated_s"] > 0


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        ("{arrival: poisson}", "stream.rate_hz: is missing"),
        ("{arrival: bursty, rate_hz: 1, on_s: 1}", "stream.off_s: is missing"),
        ("{arrival: saturated, rate_hz: 1}", "stream.rate_hz = 1: unknown key. Known: arrival, batch"),
        ("{arrival: trace}", "stream.path: is missing"),
        ("{arrival: poisson, rate_hz: 0}", "stream.rate_hz = 0: must be at least 1e-09"),
        ("{arrival: periodic, rate_hz: 2e6}", "stream.rate_hz = 2000000.0: must be at most 1e+06"),
        ("{arrival: bursty, rate_hz: .nan, on_s: 1, off_s: 1}", "stream.rate_hz = nan: must be a finite number"),
        ("{arrival: bursty, rate_hz: 1, on_s: 1e-9, off_s: 1}", "stream.on_s = 1e-09: must be at least 1e-06"),
        ("{arrival: shifts, rate_hz: 1, on_s: 1, off_s: 1e10}", "stream.off_s = 10000000000.0: must be at most 1e+09"),
        ("{arrival: poison}", "Did you mean 'poisson'?"),
        ("{arrival: static, redraw: once}", "redraw: once needs arrival: saturated, not static; allowed: round"),
    ],
)
def test_a_stream_needs_the_figures_of_its_arrival(stream: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load_scenario("quickstart", overrides=[f"stream={stream}"])
    assert message in str(caught.value)


@pytest.mark.parametrize("rows", ["0,2\n0,1\n", "0,-1\n", "7,1\n", "0,x\n", "0,nan\n", "0\n", ""])
def test_a_malformed_csv_is_one_line(rows: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        run(load_scenario(scenario_with_trace(tmp_path, rows)), timing_only=True)
    assert "arrivals.csv" in str(caught.value)
    assert "\n" not in str(caught.value)
