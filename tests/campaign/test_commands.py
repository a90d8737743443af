"""compare and sweep as a user meets them."""

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hfedms_sim.campaign import Axes
from hfedms_sim.campaign.csv_tables import write_tables
from hfedms_sim.cli import main
from hfedms_sim.errors import InputError
from hfedms_sim.loading import load_scenario
from hfedms_sim.run_directory import RunDirectory
from hfedms_sim.simulation import run
from tests.campaign.factory import POISSON, played, write_factory, write_radios
from tests.interrupted import error_of


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def hfedms_sim(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_compare_prints_a_table_and_what_was_trained_and_reused() -> None:
    source, radios = write_factory(Path()), write_radios(Path())
    radios = [f"./{radio}" for radio in radios]
    result = hfedms_sim("compare", f"./{source}", "--profiles", ",".join(radios[:3]), "--out", "out")
    assert result.exit_code == 0, result.output
    assert "5 rounds trained, 10 reused" in result.stdout
    assert "./radio2.yaml" in result.stdout
    assert "3/3 trials done, 0 running, 0 failed" in result.stderr
    with Path("out/trials.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["target"] == "end"]
    assert len({row["accuracy"] for row in rows}) == 1
    assert len({row["simulated_s"] for row in rows}) == 3


def test_a_sweep_runs_every_combination() -> None:
    source = f"./{write_factory(Path())}"
    arguments = ("--grid", "strategy.sample_ratio=0.25:0.75:0.25", "--grid", "rounds=1,2", "--seeds", "1:2")
    result = hfedms_sim("sweep", source, *arguments, "--timing-only", "--out", "out", "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    with Path("out/comparison.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["strategy.sample_ratio"], row["rounds"], row["seeds"]) for row in rows] == [
        (ratio, rounds, "2") for ratio in ("0.25", "0.5", "0.75") for rounds in ("1", "2")
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("compare", "quickstart", "--profiles", "ethernet,nothing"), "nothing"),
        (("compare", "quickstart", "--profiles", "ethernet,"), "empty name"),
        (("compare", "quickstart", "--profiles", "ethernet,ethernet"), "given twice"),
        (("compare", "quickstart", "--profiles", "ethernet", "--seeds", "one"), "whole numbers"),
        (("compare", "quickstart", "--profiles", "ethernet", "--resume"), "--resume needs --out"),
        (("compare", "quickstart", "--profiles", "ethernet", "--resume", "--out", "nothing"), "no campaign"),
        (("compare", "quickstart", "--profiles", "ethernet", "--strategies", "fedavgg"), "fedavg"),
        (("sweep", "quickstart"), "--grid"),
        (("sweep", "quickstart", "--grid", "strategy.interval=0,1"), "strategy.interval"),
        (("sweep", "quickstart", "--grid", "nothing=1"), "nothing"),
        (("sweep", "quickstart", "--grid", "rounds=1:9", "--grid", "rounds=2"), "given twice"),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[str, ...], words: str) -> None:
    assert words in error_of(hfedms_sim(*arguments))
    assert not list(Path().iterdir())


def test_without_ray_its_option_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    line = error_of(hfedms_sim("compare", "quickstart", "--profiles", "ethernet", "--ray", "local"))
    assert "hfedms_sim[ray]" in line
    assert not list(Path().iterdir())


def rows_of(path: str) -> list[dict[str, str]]:
    with Path(path).open() as file:
        return list(csv.DictReader(file))


def compared(*radios: str) -> tuple[str, ...]:
    """Return the command that compares radios of files on the factory in this directory, into `out`."""
    profiles = ",".join(f"./{radio}" for radio in radios)
    return ("compare", "./factory.yaml", "--profiles", profiles, "--timing-only", "--out", "out")


def test_a_trial_that_is_infeasible_is_a_row_with_the_reason_and_no_failure() -> None:
    write_factory(Path())
    good, slow = write_radios(Path(), (1e5, 1e-3))
    result = hfedms_sim(*compared(good, slow))
    assert result.exit_code == 0, result.output
    assert "† ./radio1.yaml: the first round takes" in result.stdout
    assert "2/2 trials done, 0 running, 0 failed" in result.stderr
    played_row, refused_row = rows_of("out/comparison.csv")
    assert (played_row["reached"], played_row["refused"]) == ("1", "")
    assert (refused_row["profile"], refused_row["reached"], refused_row["simulated_s"]) == ("./radio1.yaml", "0", "")
    assert refused_row["refused"].startswith("the first round takes")
    found = [(row["seed"], row["target"], row["stopped"], row["refused"]) for row in rows_of("out/trials.csv")]
    assert found == [("1", "end", "", ""), ("1", "end", "", refused_row["refused"])]
    assert [path.name for path in Path("out/trials").iterdir()] == ["0001-radio0-fedavg-seed1"]


def test_a_refused_trial_is_asked_for_again_and_a_quiet_campaign_notes_it() -> None:
    write_factory(Path())
    arguments = (*compared(*write_radios(Path(), (1e5, 1e-3))), "--quiet")
    assert hfedms_sim(*arguments).exit_code == 0
    before = Path("out/comparison.csv").read_bytes()
    again = hfedms_sim(*arguments, "--resume")
    assert (again.exit_code, again.stdout) == (0, "")
    (line,) = again.stderr.splitlines()
    assert line.startswith("note: 0002-radio1-fedavg-seed1: refused, the first round takes")
    assert Path("out/comparison.csv").read_bytes() == before
    assert hfedms_sim(*arguments, "--resume", "--allow-infeasible").exit_code == 2  # other options than before


def test_a_trial_that_fails_is_reported_and_the_exit_code_is_1() -> None:
    """The damage is to a run directory, which is no fault of the scenario's."""
    write_factory(Path())
    arguments = (*compared(*write_radios(Path(), (1e5, 2e5))), "--quiet")
    assert hfedms_sim(*arguments).exit_code == 0
    Path("out/records/0001-radio0-fedavg-seed1.json").unlink()
    Path("out/trials/0001-radio0-fedavg-seed1/scenario.yaml").write_text("{")
    result = hfedms_sim(*arguments, "--resume")
    assert result.exit_code == 1
    failed, error = result.stderr.splitlines()
    assert failed.startswith("note: 0001-radio0-fedavg-seed1: failed, ")
    assert error == "error: 1 of 2 trials failed; --resume tries them again"
    assert len(rows_of("out/trials.csv")) == 1


@pytest.mark.parametrize("timing_only", [True, False])
def test_what_is_wrong_with_all_trials_alike_is_one_line_and_leaves_nothing(timing_only: bool) -> None:
    write_factory(Path())
    arguments = ["--seeds", "1,2", "--set", "cells.0.profile.uplink_bps=0.001", "--set", "stream.batch=1"]
    result = hfedms_sim("compare", "./factory.yaml", *arguments, *["--timing-only"] * timing_only, "--out", "out")
    assert result.exit_code == 2
    assert "the first round takes" in result.stderr.splitlines()[-1]
    assert [line.startswith("error: ") for line in result.stderr.splitlines()].count(True) == 1
    assert not Path("out").exists()


def test_without_profiles_the_scenarios_own_radios_are_taken() -> None:
    write_factory(Path())
    arguments = ("compare", "./factory.yaml", "--seeds", "1,2", "--timing-only", "--out", "out")
    result = hfedms_sim(*arguments)
    assert result.exit_code == 0, result.output
    (row,) = rows_of("out/comparison.csv")
    assert (row["profile"], row["seeds"]) == (load_scenario("./factory.yaml").profile_names, "2")
    assert "not modelled: multicast" not in result.stdout


def write_hall_radio(name: str, power_dbm: float | None, rate_bps: float) -> str:
    """Write a profile for a placed hall, of which the transmitters' power decides who is in coverage."""
    power = f"device_power_dbm: {power_dbm}, base_power_dbm: {power_dbm}"
    budget = "" if power_dbm is None else f", budget: {{carrier_ghz: 3.7, bandwidth_hz: 2.0e+7, {power}}}"
    Path(f"{name}.yaml").write_text(f"{{name: {name}, uplink_bps: {rate_bps}, downlink_bps: {rate_bps}{budget}}}")
    return f"./{name}.yaml"


def out_of_coverage(profile: str) -> int:
    played_alone = run(load_scenario("assembly-hall", profile=profile, rounds=1), timing_only=True)
    return int((played_alone.faults["kind"] == "out of coverage").sum())


def test_a_hall_shows_who_is_in_coverage_and_why_a_radio_cannot_be_placed() -> None:
    weak, strong = write_hall_radio("weak", 20.0, 1e7), write_hall_radio("strong", 60.0, 1e7)
    slow, mute = write_hall_radio("slow", 60.0, 1e5), write_hall_radio("mute", -50.0, 1e7)
    profiles = ",".join([weak, mute, strong, slow, write_hall_radio("unplaceable", None, 1e7)])
    arguments = ("compare", "assembly-hall", "--profiles", profiles, "--timing-only", "--rounds", "1", "--out", "out")
    result = hfedms_sim(*arguments)
    assert result.exit_code == 0, result.output
    rows = {row["profile"]: row for row in rows_of("out/comparison.csv")}
    lost = out_of_coverage(weak)
    assert 0 < lost < 150
    assert out_of_coverage(strong) == 0
    assert [rows[radio]["covered"] for radio in (weak, strong, slow)] == [f"{150 - lost}.0", "150.0", "150.0"]
    assert [rows[radio]["simulated_s_difference"] for radio in (weak, strong)] == ["", ""]
    times_s = [float(rows[radio]["simulated_s"]) for radio in (slow, strong)]
    assert float(rows[slow]["simulated_s_difference"]) == times_s[0] - times_s[1] > 0
    assert rows[mute]["refused"] == "no sensor is in coverage: more cells, or another radio"
    assert rows["./unplaceable.yaml"]["refused"].startswith("profile unplaceable has no budget")
    assert f"{150 - lost}/150 *" in result.stdout
    assert "not modelled: multicast, transport headers, interference between cells" in result.stdout


@pytest.mark.thorough
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_campaign_goes_on_where_it_was(tmp_path: Path, sign: signal.Signals) -> None:
    """Ctrl-C goes to all processes of a terminal, the others to the campaign's own."""
    source, radios = write_factory(Path(), stream=POISSON, rounds=30), write_radios(Path())
    arguments = ("compare", f"./{source}", "--profiles", ",".join(f"./{radio}" for radio in radios[:3]), "--quiet")
    command = [sys.executable, "-m", "hfedms_sim.cli", *arguments, "--out", "out", "--jobs", "2"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while not list(Path("out").glob("trials/*/learning/metrics.log")):
        assert process.poll() is None
        time.sleep(0.05)
    if sign == signal.SIGINT:
        os.killpg(process.pid, sign)
    else:
        process.send_signal(sign)
    _, errors = process.communicate(timeout=60)
    if sign != signal.SIGKILL:
        assert process.returncode == 130
        assert errors.splitlines() == ["interrupted; to go on: the same command with --out out --resume"]
    else:
        assert_nobody_writes(Path("out"))
    assert hfedms_sim(*arguments, "--out", "out", "--resume").exit_code == 0
    _, whole = played(Path("whole"), f"./{source}", Axes(profiles=[f"./{radio}" for radio in radios[:3]]))
    write_tables(whole, Path("whole"))
    for table in ("comparison.csv", "trials.csv", "curves.csv"):
        assert Path("out", table).read_bytes() == Path("whole", table).read_bytes()


def assert_nobody_writes(campaign: Path, within_s: float = 30.0) -> None:
    """Workers of a campaign that was killed end by themselves, and with them their locks."""
    deadline = time.monotonic() + within_s
    for trial in (campaign / "trials").iterdir():
        while True:
            try:
                RunDirectory(trial, is_new=False).unlock()
                break
            except InputError:
                assert time.monotonic() < deadline
                time.sleep(0.05)
