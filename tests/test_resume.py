"""Runs that go on: after an interruption, after damage, from another run. The result is always that of one go."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hfedms_sim.cli import main
from hfedms_sim.errors import RunError
from hfedms_sim.lineage.checkpoints import read_checkpoint
from hfedms_sim.lineage.pace import Pace
from hfedms_sim.loading import CHOICES, load_scenario
from hfedms_sim.run_directory import RunDirectory
from hfedms_sim.scenario import scenario_yaml
from hfedms_sim.simulation import Progress, run
from tests.conftest import FAST, some_of, tiny_scenario
from tests.interrupted import error_of, exit_code, outcome, started, write_scenario

ROUNDS, INTERRUPTED_AFTER = 9, 7
CHANGES: dict[str, Any] = {"rounds": ROUNDS, "probe_round": 2, "evaluate_every": 2}


@pytest.fixture(autouse=True)
def _a_checkpoint_every_third_round(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0

    def every_third(_: Pace) -> bool:
        nonlocal asked
        asked += 1
        return asked % 3 == 0

    monkeypatch.setattr(Pace, "is_due", every_third)


def stopping_after(number: int) -> Callable[[Progress], None]:
    def on_round(progress: Progress) -> None:
        if progress.round == number:
            raise KeyboardInterrupt

    return on_round


def interrupted(out: Path, after: int = INTERRUPTED_AFTER, **changes: Any) -> Path:
    with pytest.raises(KeyboardInterrupt):
        run(tiny_scenario(**(CHANGES | changes)), out=out, on_round=stopping_after(after))
    return out


def resumed(out: Path, **changes: Any) -> int:
    """How many rounds were trained."""
    scenario = tiny_scenario(**(CHANGES | changes))
    return int(run(scenario, out=RunDirectory.resumed(out, scenario, CHOICES)).provenance["rounds_trained"])


@pytest.fixture(scope="module")
def in_one_go(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    out = tmp_path_factory.mktemp("whole") / "run"
    run(tiny_scenario(**CHANGES), out=out)
    return outcome(out)


def test_a_resumed_run_trains_only_what_is_missing_and_ends_the_same(tmp_path: Path, in_one_go: dict[str, Any]) -> None:
    out = interrupted(tmp_path / "run")
    assert resumed(out) == ROUNDS - 6  # the newest checkpoint is of round 6
    assert outcome(out) == in_one_go


@pytest.mark.parametrize("after", some_of(range(1, ROUNDS + 1), kept=(1, ROUNDS)))
def test_whatever_the_round_a_run_is_interrupted_after_it_ends_the_same(
    tmp_path: Path, in_one_go: dict[str, Any], after: int
) -> None:
    out = interrupted(tmp_path / "run", after)
    resumed(out)
    assert outcome(out) == in_one_go


def test_what_sensors_have_not_sent_is_kept_over_an_interruption(tmp_path: Path) -> None:
    compression = {"uplink": "topk", "share": 0.02, "downlink": "int8"}
    fedavg = {"strategy": {"name": "fedavg", "sample_ratio": 0.5, "compression": compression}}
    run(tiny_scenario(**(CHANGES | fedavg)), out=tmp_path / "whole")
    out = interrupted(tmp_path / "run", **fedavg)
    assert resumed(out, **fedavg) == ROUNDS - 6
    assert outcome(out) == outcome(tmp_path / "whole")


def test_a_finished_run_is_replayed_without_training(tmp_path: Path, in_one_go: dict[str, Any]) -> None:
    run(tiny_scenario(**CHANGES), out=tmp_path / "run")
    assert resumed(tmp_path / "run") == 0
    assert outcome(tmp_path / "run") == in_one_go


def test_a_replay_never_loads_torch(tmp_path: Path) -> None:
    run(tiny_scenario(**CHANGES), out=tmp_path / "run")
    (tmp_path / "s.yaml").write_text(scenario_yaml(tiny_scenario(**CHANGES)))
    code = (
        "import sys; from hfedms_sim.cli import main\n"
        "main(['run', 's.yaml', '--out', 'run', '--resume', '--quiet'], standalone_mode=False)\n"
        "sys.exit('torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)


def test_a_run_that_stops_early_stops_at_the_same_round_when_resumed(tmp_path: Path) -> None:
    accuracy = float(run(tiny_scenario(**CHANGES)).rounds["accuracy"].dropna().iloc[-2])
    run(tiny_scenario(**CHANGES, stop_at=accuracy), out=tmp_path / "whole")
    out = interrupted(tmp_path / "run", after=1, stop_at=accuracy)
    resumed(out, stop_at=accuracy)
    assert outcome(out) == outcome(tmp_path / "whole")
    assert outcome(out)["summary"]["rounds"] < ROUNDS


def test_a_run_that_diverged_is_replayed_as_diverged(tmp_path: Path) -> None:
    wild = {"strategy": {"name": "fedavg", "learning_rate": 1e12}}
    run(tiny_scenario(**CHANGES, **wild), out=tmp_path / "run")
    before = outcome(tmp_path / "run")
    assert resumed(tmp_path / "run", **wild) == 0
    assert outcome(tmp_path / "run") == before
    assert before["summary"]["stopped"]["reason"] == "diverged"


# ---------------------------------------------------------------------------------------------------- refusals


def cli(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_other_settings_are_refused_with_the_difference(tmp_path: Path) -> None:
    path, out = write_scenario(tmp_path / "s.yaml", **CHANGES), tmp_path / "run"
    same = ("run", str(path), "--out", str(out), "--quiet")
    assert cli(*same).exit_code == 0
    before = outcome(out)
    assert "another strategy.interval: 3, now 2" in error_of(cli(*same, "--resume", "--set", "strategy.interval=2"))
    assert "cells.0.profile.uplink_bps: 8000.0, now 1.0" in error_of(
        cli(*same, "--resume", "--set", "cells.0.profile.uplink_bps=1")
    )
    assert "was trained with another threads: 1, now 2" in error_of(cli(*same, "--resume", "--threads", "2"))
    assert outcome(out) == before


def test_a_directory_that_was_made_and_nothing_more_is_resumed_from_the_start(
    tmp_path: Path, in_one_go: dict[str, Any]
) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".scenario.yaml.part").write_text("name: t")
    assert resumed(tmp_path / "run") == ROUNDS
    assert outcome(tmp_path / "run") == in_one_go


# -------------------------------------------------------------------------------------------------- learn from


def with_radio(rate_bps: float, **changes: Any) -> dict[str, Any]:
    profile = FAST | {"uplink_bps": rate_bps, "downlink_bps": rate_bps}
    return CHANGES | {"cells": [{"name": "hall", "profile": profile}]} | changes


def test_another_radio_learns_from_a_finished_run_and_gets_its_accuracies(tmp_path: Path) -> None:
    run(tiny_scenario(**CHANGES), out=tmp_path / "first")
    other = tiny_scenario(**with_radio(1e5))
    alone = run(other, out=tmp_path / "alone")
    taught = run(other, out=tmp_path / "taught", learn_from=[tmp_path / "first"])
    assert (alone.provenance["rounds_trained"], taught.provenance["rounds_trained"]) == (ROUNDS, 0)
    assert taught.provenance["rounds_reused"] == ROUNDS
    assert outcome(tmp_path / "taught") == outcome(tmp_path / "alone")


@pytest.mark.parametrize(
    ("changes", "trained"),
    [
        ({"rounds": ROUNDS + 3}, 3),
        ({"probe_round": None}, 6),  # to measure rounds 2, 4 and 8; there are states of 6 and 9
        ({"evaluate_every": 4}, 0),
        ({"rounds": ROUNDS + 3, "probe_round": ROUNDS + 1, "evaluate_every": ROUNDS + 2}, 3),
    ],
)
def test_more_rounds_or_other_measurements_are_learnt_on_top(
    tmp_path: Path, changes: dict[str, Any], trained: int
) -> None:
    run(tiny_scenario(**CHANGES), out=tmp_path / "first")
    other = tiny_scenario(**(CHANGES | changes))
    run(other, out=tmp_path / "alone")
    taught = run(other, out=tmp_path / "taught", learn_from=[tmp_path / "first"])
    assert outcome(tmp_path / "taught") == outcome(tmp_path / "alone")
    assert taught.provenance["rounds_trained"] == trained


def test_a_run_with_other_learning_settings_takes_nothing(tmp_path: Path) -> None:
    run(tiny_scenario(**CHANGES), out=tmp_path / "first")
    other = tiny_scenario(**CHANGES, seed=2)
    taught = run(other, out=tmp_path / "taught", learn_from=[tmp_path / "first"])
    assert taught.provenance["rounds_trained"] == ROUNDS


def test_what_is_no_run_is_not_learnt_from(tmp_path: Path) -> None:
    path = write_scenario(tmp_path / "s.yaml", **CHANGES)
    arguments = ("run", str(path), "--out", str(tmp_path / "run"), "--learn-from", str(tmp_path / "nothing"))
    assert "no run to learn from" in error_of(cli(*arguments))
    assert not (tmp_path / "run").exists()


# ------------------------------------------------------------------------------------------------------ damage


def damages(sound: bytes) -> Iterator[tuple[str, bytes | None]]:
    """What can happen to a file: None is its removal."""
    yield "removed", None
    yield "emptied", b""
    yield "cut in half", sound[: len(sound) // 2]
    yield "its last byte lost", sound[:-1]
    for place in (0, len(sound) // 3, len(sound) // 2, len(sound) - 2):
        yield f"byte {place} changed", sound[:place] + bytes([sound[place] ^ 0x11]) + sound[place + 1 :]


@pytest.mark.thorough
@pytest.mark.parametrize("finished", [False, True], ids=["interrupted", "finished"])
def test_any_one_damaged_file_gives_the_same_result_or_one_clear_line(
    tmp_path: Path, in_one_go: dict[str, Any], finished: bool
) -> None:
    path = write_scenario(tmp_path / "s.yaml", **CHANGES)
    original = tmp_path / "original"
    if finished:
        run(load_scenario(str(path)), out=original)
    else:
        interrupted(original)
    files = sorted(file.relative_to(original) for file in original.rglob("*") if file.is_file())
    assert len(files) >= (12 if finished else 6)
    same = refused = 0
    for file in files:
        for what, content in damages((original / file).read_bytes()):
            shutil.copytree(original, tmp_path / "run")
            damaged = tmp_path / "run" / file
            if content is None:
                damaged.unlink()
            else:
                damaged.write_bytes(content)
            result = cli("run", str(path), "--out", str(tmp_path / "run"), "--resume", "--quiet")
            assert "Traceback" not in result.output, (file, what)
            if result.exit_code == 0:
                assert outcome(tmp_path / "run") == in_one_go, (file, what)
                assert len(result.stderr.splitlines()) <= 1, (file, what)
                same += 1
            else:
                assert error_of(result), (file, what)
                assert file.name == "scenario.yaml", (file, what)
                refused += 1
            shutil.rmtree(tmp_path / "run")
    assert same >= 5 * len(files)
    assert refused <= 8


def test_damage_is_reported_in_one_line(tmp_path: Path) -> None:
    path = write_scenario(tmp_path / "s.yaml", **CHANGES)
    out = interrupted(tmp_path / "run")
    newest = max((out / "learning" / "checkpoints").iterdir())
    newest.write_bytes(newest.read_bytes()[:-1])
    result = cli("run", str(path), "--out", str(out), "--resume", "--quiet")
    assert result.exit_code == 0
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"note: {newest}: checkpoint skipped")


# ---------------------------------------------------------------------------------------------------- full disk


@contextmanager
def small_disk(directory: Path, size: str) -> Iterator[Path]:
    directory.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(directory)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("may not mount a small disk here")
    try:
        yield directory
    finally:
        subprocess.run(["umount", str(directory)], check=True)


@pytest.mark.skipif(shutil.which("mount") is None, reason="there is no mount")
def test_a_disk_that_is_full_ends_in_one_line_and_exit_code_1_and_the_earlier_checkpoint_is_sound(
    tmp_path: Path, in_one_go: dict[str, Any]
) -> None:
    path = write_scenario(tmp_path / "s.yaml", **CHANGES)
    with small_disk(tmp_path / "disk", size="180k") as disk:  # a checkpoint has 60 to 140 kB
        out = disk / "run"
        result = cli("run", str(path), "--out", str(out), "--quiet")
        assert result.exit_code == 1
        (line,) = result.stderr.strip().splitlines()
        assert "No space left on device" in line
        kept = list((out / "learning").glob("*/*.safetensors"))
        assert kept
        for checkpoint in kept:
            assert read_checkpoint(checkpoint, checkpoint.stem.partition("-")[2])
        shutil.copytree(out, tmp_path / "run")
    assert resumed(tmp_path / "run") < ROUNDS
    assert outcome(tmp_path / "run") == in_one_go


def test_a_checkpoint_that_cannot_be_written_ends_the_run_and_leaves_the_earlier_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_one_go: dict[str, Any]
) -> None:
    from hfedms_sim.lineage import store

    whole, written = store.write_checkpoint, 0

    def second_fails(*arguments: Any) -> None:
        nonlocal written
        written += 1
        if written == 2:
            raise OSError(28, "No space left on device")
        whole(*arguments)

    monkeypatch.setattr(store, "write_checkpoint", second_fails)
    with pytest.raises(RunError, match="No space left on device"):
        run(tiny_scenario(**CHANGES), out=tmp_path / "run")
    assert resumed(tmp_path / "run") == ROUNDS - 3
    assert outcome(tmp_path / "run") == in_one_go


# ------------------------------------------------------------------------------------------ signals, in processes


TORN = "{}/learning/metrics.log: the last line was torn off and is skipped"
LONG: dict[str, Any] = {
    "rounds": 100,
    "evaluate_every": 5,
    "probe_round": 7,
    "stream": {"batch": 10},
    "strategy": {"name": "hfedms-d", "interval": 3, "beta": 2, "sample_ratio": 0.5, "memory": 20},
    "faults": [
        {"kind": "sensor-crash", "mean_up_s": 4000.0, "mean_down_s": 300.0},
        {"kind": "cell-outage", "mean_up_s": 1500.0, "mean_down_s": 30.0},
        {"kind": "transfer-loss", "probability": 0.02},
    ],
}


@pytest.fixture(scope="module")
def long_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], int]:
    """The scenario, what an uninterrupted run of it gives, and how many bytes its log has then."""
    directory = tmp_path_factory.mktemp("long")
    path = write_scenario(directory / "s.yaml", **LONG)
    assert exit_code(started(path, directory / "run")) == 0
    whole = outcome(directory / "run")
    assert whole["summary"]["faults"].keys() >= {"skip", "lost work", "outage", "retry"}  # it is worth resuming
    return path, whole, _log_bytes(directory / "run")


def _log_bytes(out: Path) -> int:
    log = out / "learning" / "metrics.log"
    return log.stat().st_size if log.exists() else 0


def kill_when(process: "subprocess.Popen[str]", out: Path, log_bytes: float, then_s: float) -> None:
    """A moment after the log has grown so far, however busy the machine is."""
    while process.poll() is None and _log_bytes(out) < log_bytes:
        time.sleep(0.001)
    time.sleep(then_s)
    process.kill()
    process.communicate()


def assert_survives(long_run: tuple[Path, dict[str, Any], int], tmp_path: Path, kills: int) -> None:
    path, whole, log_bytes = long_run
    moments = random.Random(5)
    killed = 0
    for number in range(kills):
        out = tmp_path / f"run{number}"
        process = started(path, out)
        kill_when(process, out, moments.uniform(0.0, 1.0) * log_bytes, then_s=moments.uniform(0.0, 0.1))
        killed += process.returncode == -signal.SIGKILL
        if not out.exists():
            continue  # killed before it began
        again = started(path, out, "--resume")
        _, errors = again.communicate()
        assert (again.returncode, errors) in ((0, ""), (0, f"note: {TORN.format(out)}\n"))
        assert outcome(out) == whole
        assert not list(out.rglob(".*.part"))
        shutil.rmtree(out)
    assert killed >= 0.8 * kills


@pytest.mark.thorough
def test_a_run_that_is_killed_goes_on_bit_for_bit(long_run: tuple[Path, dict[str, Any], int], tmp_path: Path) -> None:
    assert_survives(long_run, tmp_path, kills=2)


@pytest.mark.slow
def test_a_run_that_is_killed_twenty_times_goes_on_bit_for_bit(
    long_run: tuple[Path, dict[str, Any], int], tmp_path: Path
) -> None:
    assert_survives(long_run, tmp_path, kills=20)


@pytest.mark.slow
def test_a_run_that_is_killed_again_and_again_gets_to_its_end(
    long_run: tuple[Path, dict[str, Any], int], tmp_path: Path
) -> None:
    path, whole, log_bytes = long_run
    out = tmp_path / "run"
    kill_when(started(path, out), out, 0.3 * log_bytes, then_s=0.0)
    kill_when(started(path, out, "--resume"), out, 0.6 * log_bytes, then_s=0.0)
    assert exit_code(started(path, out, "--resume")) == 0
    assert outcome(out) == whole


@pytest.mark.thorough
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_and_sigterm_end_a_training_run_in_order(
    long_run: tuple[Path, dict[str, Any], int], tmp_path: Path, sign: signal.Signals
) -> None:
    path, whole, _ = long_run
    out = tmp_path / "run"
    process = started(path, out)
    while not list(out.glob("learning/checkpoints/*.safetensors")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(sign)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.splitlines() == [f"interrupted; to go on: the same command with --out {out} --resume"]
    assert not list(out.rglob(".*.part"))
    assert exit_code(started(path, out, "--resume")) == 0
    assert outcome(out) == whole


@pytest.mark.thorough
def test_two_processes_are_kept_out_of_one_directory_and_a_dead_ones_lock_is_taken_over(
    long_run: tuple[Path, dict[str, Any], int], tmp_path: Path
) -> None:
    path, whole, _ = long_run
    out = tmp_path / "run"
    first = started(path, out)
    while not (out / "learning" / "root.json").exists():
        assert first.poll() is None
        time.sleep(0.02)
    second = started(path, out, "--resume")
    _, errors = second.communicate()
    assert (second.returncode, errors) == (2, f"error: {out}: another process is writing this run\n")
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    assert exit_code(started(path, out, "--resume")) == 0
    assert outcome(out) == whole
