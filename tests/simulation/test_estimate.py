"""What a run is said to take before it is played, and who is refused. How right it is: benchmarks/estimate.py."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hfedms_sim.campaign import compare
from hfedms_sim.cli import main
from hfedms_sim.errors import InputError
from hfedms_sim.loading import load_scenario
from hfedms_sim.simulation import Estimate, estimate, estimate_of, parts_of, run
from hfedms_sim.simulation.estimate import TIME_LIMIT
from hfedms_sim.system.machine import MEMORY_LIMIT
from hfedms_sim.units import parse_bytes, parse_seconds

QUICKSTART = ["run", "quickstart", "--rounds", "2", "--timing-only"]


def estimated(timing_only: bool = True, **changes: Any) -> Estimate:
    scenario = load_scenario("quickstart", overrides=changes)
    return estimate_of(scenario, parts_of(scenario), timing_only=timing_only)


def test_a_run_says_what_it_takes_before_it_starts(tmp_path: Path) -> None:
    result = CliRunner().invoke(main, [*QUICKSTART, "--out", str(tmp_path / "run")])
    assert result.exit_code == 0
    assert "of processor time, 160 MB of memory, 200 transfers at most" in result.stderr


def test_check_says_what_a_run_takes() -> None:
    result = CliRunner().invoke(main, ["check", "quickstart"])
    assert result.stdout == "quickstart: ok\n"
    assert result.stderr.startswith("quickstart: a run takes about ")


def test_too_much_memory_is_refused_in_one_line_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MEMORY_LIMIT, "100MB")
    result = CliRunner().invoke(main, [*QUICKSTART, "--quiet", "--out", str(tmp_path / "run")])
    assert result.exit_code == 2
    assert result.stderr == (
        "error: it takes about 160 MB of memory, most for Python and its packages, and 100 MB is allowed "
        "(HFEDMS_SIM_MEMORY_LIMIT); free some memory, or --allow-large\n"
    )
    assert not (tmp_path / "run").exists()
    allowed = CliRunner().invoke(main, [*QUICKSTART, "--quiet", "--allow-large", "--out", str(tmp_path / "run")])
    assert (allowed.exit_code, (tmp_path / "run" / "summary.json").is_file()) == (0, True)


def test_too_much_time_is_refused_where_there_is_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TIME_LIMIT, "10s")
    run(load_scenario("quickstart", rounds=2), timing_only=True)
    with pytest.raises(InputError, match=r"of processor time, most for .* trainings, and 10 s is allowed"):
        run(load_scenario("quickstart"))


@pytest.mark.parametrize("limit", ["much", "-1GB", "1e9", "2 GiB", "²GB"])
def test_a_limit_that_is_none_is_one_line(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MEMORY_LIMIT, limit)
    with pytest.raises(InputError, match=r"HFEDMS_SIM_MEMORY_LIMIT = .*: must be a number with a unit, such as 2GB"):
        run(load_scenario("quickstart", rounds=1), timing_only=True)


def test_a_million_sensors_are_refused_to_train_before_anything_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "available_memory_bytes", lambda: 24e9)
    with pytest.raises(InputError, match="most for the samples of 1,000,000 sensors, and 24 GB is free; lower sensors"):
        run(load_scenario("quickstart", overrides={"sensors.count": 1_000_000}))


def test_check_refuses_what_run_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MEMORY_LIMIT, "300MB")
    result = CliRunner().invoke(main, ["check", "quickstart"])
    assert result.exit_code == 2
    assert "error: quickstart: it takes about" in result.stderr


def test_a_trace_that_does_not_fit_on_the_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "free_disk_bytes", lambda directory: 1e6)
    scenario = load_scenario("quickstart", rounds=10_000)
    with pytest.raises(InputError, match="on the disk, most for the trace, and 1 MB is free; lower rounds, or raise"):
        run(scenario, timing_only=True, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    estimate_of(scenario, parts_of(scenario), timing_only=True).require_room(None)  # kept in memory


def test_a_trial_that_is_too_large_is_refused_and_the_others_are_played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MEMORY_LIMIT, "450MB")
    small = load_scenario("quickstart", rounds=1, overrides={"sensors.count": 8, "strategy.beta": 2})
    compared = compare(small, strategies=["fedavg"])
    assert compared.trials["refused"].isna().all()
    large = load_scenario("quickstart", rounds=1, overrides={"sensors.count": 4_000})
    with pytest.raises(InputError, match="most for the samples of 4,000 sensors"):
        compare(large, strategies=["fedavg"])


@hypothesis_settings(max_examples=30)
@given(st.integers(1, 10**6), st.integers(1, 10**6), st.booleans())
def test_a_longer_run_and_a_trained_one_never_take_less(sensors: int, rounds: int, timing_only: bool) -> None:
    """Twice as long: one round more may be one in which groups are more, and so quicker to be formed."""
    few = estimated(timing_only, **{"sensors.count": sensors, "rounds": rounds})
    longer = estimated(timing_only, **{"sensors.count": sensors, "rounds": 2 * rounds})
    assert longer.processor_s >= few.processor_s
    assert longer.memory_bytes >= few.memory_bytes
    assert few.processor_s > 0
    trained = estimated(timing_only=False, **{"sensors.count": sensors, "rounds": rounds})
    assert trained.memory_bytes >= few.memory_bytes


def test_a_thinner_trace_takes_less_room() -> None:
    whole, thin = (estimated(trace_every=every, rounds=10_000).disk_bytes for every in (1, 100))
    assert thin < whole / 3


@pytest.mark.parametrize(
    ("text", "size"), [("2GB", 2e9), ("500 MB", 5e8), ("1.5kB", 1500.0), ("7", 7.0), ("2GiB", None)]
)
def test_bytes_are_read_with_their_unit(text: str, size: float | None) -> None:
    assert parse_bytes(text) == size


@pytest.mark.parametrize(
    ("text", "time_s"), [("10s", 10.0), ("5 min", 300.0), ("2h", 7200.0), ("1d", 86400.0), ("x", None)]
)
def test_times_are_read_with_their_unit(text: str, time_s: float | None) -> None:
    assert parse_seconds(text) == time_s


def test_an_engine_whose_speed_is_not_known_counts_as_the_plain_one(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = estimated(timing_only=False, engine="generic")
    monkeypatch.setattr("hfedms_sim.simulation.estimate.engine_of", lambda *_: "mine")
    assert estimated(timing_only=False) == plain
