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
from hfedms_sim.campaign.comparison import write_tables
from hfedms_sim.cli import main
from hfedms_sim.errors import InputError
from hfedms_sim.result import RunDirectory
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
        (("compare", "quickstart"), "--profiles"),
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


def test_a_trial_that_fails_is_reported_and_the_exit_code_is_1() -> None:
    source, (good, slow) = write_factory(Path()), write_radios(Path(), (1e5, 1e-3))
    arguments = (
        "compare",
        f"./{source}",
        "--profiles",
        f"./{good},./{slow}",
        "--timing-only",
        "--out",
        "out",
        "--quiet",
    )
    result = hfedms_sim(*arguments)
    assert result.exit_code == 1
    failed, error = result.stderr.splitlines()
    assert "the first round takes" in failed
    assert error.startswith("error: 1 of 2 trials failed")
    assert hfedms_sim(*arguments, "--resume", "--allow-infeasible").exit_code == 2  # other options than before
    assert len(Path("out/trials.csv").read_text().splitlines()) == 2


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
