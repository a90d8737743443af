"""An explanation agrees with what the run says of itself, and its parts with each other."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hfedms_sim import InputError, RunResult, explain, load_scenario, run
from hfedms_sim.cli import main
from hfedms_sim.limits import limits_of, typical_round
from hfedms_sim.scenario import Scenario
from tests.conftest import tiny_scenario, without_checksums
from tests.limits.test_limited_by import BROAD, LORA_LIKE, scenario, slow_sensor

CHAIN = {"name": "hfedms-s", "alpha": 1, "beta": 1, "growth": "log", "sample_ratio": 1.0}
STREAM = {"arrival": "periodic", "rate_hz": 0.01, "batch": 50, "buffer": 50, "short": "wait"}
MADE: dict[str, tuple[Scenario, str]] = {
    "downlink": (scenario({"name": "asymmetric", "uplink_bps": 8e6, "downlink_bps": 8e3}), "cell direction"),
    "rate": (scenario(BROAD), "sensor rate"),
    "duty": (scenario(LORA_LIKE, sensors={"count": 40}), "duty cycle"),
    "chains": (scenario(BROAD, strategy=CHAIN, rounds=1), "chain length"),
    "compute": (scenario(BROAD, compute={"device": "mcu"}, model="small-cnn"), "compute"),
    "samples": (scenario(BROAD, stream=STREAM), "waiting for samples"),
    "set-up": (scenario(BROAD | {"setup_s": 30.0}), "set-up and paging"),
}


def played(made: Scenario) -> RunResult:
    return run(made, timing_only=True, allow_infeasible=True)


@pytest.mark.parametrize("name", [*MADE, "slow sensor"])
def test_it_agrees_with_the_summary_on_scenarios_made_for_one_cause(name: str, tmp_path: Path) -> None:
    made, cause = MADE[name] if name in MADE else (slow_sensor(tmp_path), "sensor rate")
    result = played(made)
    found = explain(result, what_ifs=False)
    assert found.limited_by is not None
    assert found.limited_by.cause == cause == result.summary["limited_by"]["cause"]
    assert found.limited_by.text == result.summary["limited_by"]["text"]
    assert found.limited_by.detail._asdict() == result.summary["limited_by"]["detail"]
    assert [each._asdict() for each in found.shares] == result.summary["limited_by"]["shares"]
    assert found.worst_sensors[0].cause == cause
    if name == "slow sensor":
        assert found.worst_sensors[0].sensor == 5
        assert "uplink 80 kbit/s of 8 Mbit/s" in found.worst_sensors[0].reason


def shipped_runs() -> Iterator[tuple[str, Scenario]]:
    yield "quickstart", load_scenario("quickstart", rounds=6)
    yield "fedbuff", load_scenario("quickstart", strategy="fedbuff", rounds=8)
    yield "fedasync", load_scenario("assembly-hall", strategy="fedasync", rounds=12)
    yield "hierfavg", load_scenario("assembly-hall", strategy="hierfavg", rounds=2)
    yield "lorawan", load_scenario("lorawan-yard", rounds=3)
    yield "storm", load_scenario("storm-day", rounds=20)
    yield "hall", load_scenario("assembly-hall", rounds=2)


@pytest.mark.parametrize(("name", "made"), list(shipped_runs()), ids=[name for name, _ in shipped_runs()])
def test_the_sections_of_a_typical_round_add_up_to_its_length(name: str, made: Scenario) -> None:
    result = played(made)
    found = explain(result, what_ifs=False)
    assert found.typical is not None
    assert found.typical.round == typical_round(result.rounds)
    row = result.rounds[result.rounds["round"] == found.typical.round].iloc[0]
    assert found.typical.seconds == row["end_s"] - row["start_s"]
    assert sum(section.seconds for section in found.typical.legs) == pytest.approx(found.typical.seconds)
    assert 1 <= len(found.typical.legs) <= 8
    for section in found.typical.legs:
        assert sum(part.seconds for part in section.parts) == pytest.approx(section.seconds)
    assert all(kind != "chain" for section in found.typical.legs for kind in [section.kind]) == (name == "hierfavg")


@pytest.mark.parametrize("name", ["quickstart", "storm", "hall"])
def test_the_worst_sensors_have_the_most_seconds_on_critical_paths(name: str) -> None:
    result = played(dict(shipped_runs())[name])
    assert result.tables is not None
    path = limits_of(result.scenario, result.tables).path
    spent_s = {sensor: path.seconds[path.sensor == sensor].sum() for sensor in set(path.sensor.tolist()) - {-1, -2}}
    worst = sorted(spent_s, key=lambda sensor: (-spent_s[sensor], sensor))[:5]
    found = explain(result, what_ifs=False).worst_sensors
    assert [each.sensor for each in found] == worst
    assert [each.critical_s for each in found] == pytest.approx([spent_s[sensor] for sensor in worst])
    assert found[0].share == pytest.approx(spent_s[worst[0]] / path.seconds.sum())


def test_a_slow_sensor_is_told_with_its_rate_its_loss_and_its_class() -> None:
    result = played(load_scenario("open-pit-mine", rounds=1))
    slow = explain(result, what_ifs=False).worst_sensors[0]
    row = result.sensors.iloc[slow.sensor]
    assert slow.cause == "sensor rate"
    assert f"{row['coupling_loss_db']:.0f} dB loss" in slow.reason
    assert f"coverage class {row['coverage_class']}" in slow.reason
    assert "of 62 kbit/s" in slow.reason


def test_sensors_out_of_coverage_are_listed() -> None:
    result = played(load_scenario("assembly-hall", profile="wifi-6", rounds=1))
    found = explain(result, what_ifs=False).out_of_coverage
    assert len(found) == result.summary["coverage"]["sensors"] - result.summary["coverage"]["covered"] > 0
    assert not result.sensors.iloc[list(found)]["covered"].any()


def test_joules_are_those_of_the_summary_by_state() -> None:
    result = played(load_scenario("quickstart", rounds=2))
    energy = explain(result, what_ifs=False).energy
    assert energy is not None
    assert {each.state: each.energy_j for each in energy.states}.items() <= result.summary["energy_by_state"].items()
    assert sum(each.share for each in energy.states) == pytest.approx(1)
    assert energy.worst_sensor == result.summary["battery_life"]["continuous"]["worst_sensor"]


def without_new_parts(directory: Path) -> None:
    """Leave what an early version wrote."""
    (without_checksums(directory) / "sensors.parquet").unlink()
    summary = json.loads((directory / "summary.json").read_text())
    for key in ("limited_by", "energy_by_state", "battery_life", "coverage", "faults", "energy_missing"):
        summary.pop(key)
    for cell in summary["cells"]:
        del cell["directions"]
    (directory / "summary.json").write_text(json.dumps(summary))


def test_a_directory_of_an_earlier_version_is_explained_without_what_it_lacks(tmp_path: Path) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    run(tiny_scenario(), timing_only=True, out=new)
    shutil.copytree(new, old)
    without_new_parts(old)
    known, found = explain(new, what_ifs=False), explain(old, what_ifs=False)
    assert found.limited_by == known.limited_by
    assert found.shares == known.shares
    assert [each.sensor for each in found.worst_sensors] == [each.sensor for each in known.worst_sensors]
    assert {each.cell for each in found.worst_sensors} == {None}
    assert "no table of sensors" in found.notes[0]
    shown = CliRunner().invoke(main, ["explain", str(old)])
    assert shown.exit_code == 0, shown.output
    assert "no table of sensors" in shown.output


def test_a_run_without_a_round_has_nothing_to_explain() -> None:
    result = played(tiny_scenario(rounds=1))
    assert result.tables is not None
    emptied = {name: table if name == "sensors" else table.slice(0, 0) for name, table in result.tables.items()}
    stalled = replace(result, tables=emptied, summary={**result.summary, "limited_by": None, "rounds": 0})
    found = explain(stalled)
    assert (found.limited_by, found.typical, found.worst_sensors, found.what_ifs) == (None, None, (), ())
    assert found.notes == ("what-ifs could not be played: the run has no round that ended",)


def test_the_json_has_every_part_and_no_scenario(tmp_path: Path) -> None:
    run(tiny_scenario(rounds=2), timing_only=True, out=tmp_path / "run")
    shown = CliRunner().invoke(main, ["explain", str(tmp_path / "run"), "--json"])
    said: dict[str, Any] = json.loads(shown.stdout)
    assert said["limited_by"]["cause"] == said["shares"][0]["cause"]
    assert [each["name"] for each in said["what_ifs"]] == ["one more channel", "the fastest radio", "shorter chains"]
    assert all("scenario" not in each for each in said["what_ifs"])
    assert said["typical"]["legs"][0]["parts"][0].keys() == {"what", "seconds"}


def test_a_name_that_looks_like_markup_is_shown_as_it_is(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        run(tiny_scenario(rounds=1), timing_only=True, out="[bold]run[/nothing]")
        shown = CliRunner().invoke(main, ["explain", "[bold]run[/nothing]"])
    assert shown.exit_code == 0, shown.output
    assert "hfedms-sim run '[bold]run[/nothing]/scenario.yaml' --timing-only" in shown.stdout


def test_teams_and_the_end_of_a_round_are_told_by_name(tmp_path: Path) -> None:
    run(load_scenario("machine-park", strategy="hierfavg", rounds=2), timing_only=True, out=tmp_path / "run")
    said = CliRunner().invoke(main, ["explain", str(tmp_path / "run"), "--no-what-ifs"])
    assert said.exit_code == 0, said.output
    assert " last of its edge rounds: " in said.output
    assert "  end of the round  " in said.output


def test_without_what_ifs_nothing_is_played(tmp_path: Path) -> None:
    run(tiny_scenario(rounds=1), timing_only=True, out=tmp_path / "run")
    shown = CliRunner().invoke(main, ["explain", str(tmp_path / "run"), "--no-what-ifs"])
    assert shown.exit_code == 0, shown.output
    assert shown.stderr == ""
    assert "what if" not in shown.stdout
    assert "would help" not in shown.stdout


@pytest.mark.parametrize("name", ["quickstart", "storm-day", "open-pit-mine"])
def test_it_fits_on_one_screen(name: str, tmp_path: Path) -> None:
    run(load_scenario(name, rounds=2), timing_only=True, out=tmp_path / "run")
    shown = CliRunner().invoke(main, ["explain", str(tmp_path / "run")])
    lines = shown.stdout.splitlines()
    assert len(lines) <= 46
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("damage", ["missing", "transfers.parquet"])
def test_what_is_no_sound_run_is_one_line(tmp_path: Path, damage: str) -> None:
    directory = tmp_path / "run"
    if damage != "missing":
        run(tiny_scenario(rounds=1), timing_only=True, out=directory)
        (directory / damage).write_bytes(b"PAR1 nothing")
    with pytest.raises(InputError):
        explain(directory)
    shown = CliRunner().invoke(main, ["explain", str(directory)])
    assert shown.exit_code == 2
    assert shown.stderr.startswith("error:")
    assert shown.stderr.count("\n") == 1
