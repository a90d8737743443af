"""Bad input, through the command line: one line, exit code 2, no traceback, nothing written or overwritten."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result

from tests.hardening.attacked import hfedms_sim

GOOD = "{name: x, cells: [{name: hall, profile: ethernet}]}"


def changed(**keys: str) -> str:
    return GOOD[:-1] + "".join(f", {key}: {value}" for key, value in keys.items()) + "}"


FRAMES = (
    "frames: {{uplink_payload_bytes: {payload}, downlink_payload_bytes: 51, uplink_frame_s: 1, downlink_frame_s: 1, "
    "uplink_silence_s: 99, downlink_silence_s: 9}}"
)


def radio(figures: str) -> str:
    return f"{{name: x, cells: [{{name: a, profile: {{name: p, uplink_bps: 1e3, downlink_bps: 1e3, {figures}}}}}]}}"


def bomb() -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    return "\n".join(lines)


FILES = {
    "unknown key": changed(roundz="3"),
    "wrong type": changed(rounds="many"),
    "negative rate": "{name: x, cells: [{name: a, profile: {name: p, uplink_bps: -4, downlink_bps: 1}}]}",
    "duty cycle 0": radio("duty_cycle: {uplink: 0, downlink: 0.1}"),
    "duty cycle above 1": radio("duty_cycle: {uplink: 1.5, downlink: 0.1}"),
    "duty cycle of the gateway 1": radio("duty_cycle: {uplink: 0.1, downlink: 1}"),
    "payload limit 0": radio(FRAMES.format(payload=0)),
    "duty cycle of frames": radio(FRAMES.format(payload=51) + ", duty_cycle: {uplink: 0.01, downlink: 0.1}"),
    "fluctuation without airtime": radio("fluctuation: {bad_share: 0}"),
    "no sensors": changed(sensors="{count: 0}"),
    "static data drawn anew": changed(stream="{arrival: static, redraw: cycle}"),
    "an oracle with a semantic memory": changed(strategy="{scc: oracle, initial_memory: local-set}"),
    "topk of chains": changed(strategy="{compression: {uplink: topk}}"),
    "a relay that nobody has": changed(strategy="{name: fedavg, compression: {relay: int8}}"),
    "a codec that does not exist": changed(strategy="{compression: {uplink: int4}}"),
    "more than everything": changed(strategy="{name: fedavg, compression: {uplink: topk, share: 1.5}}"),
    "NaN": changed(backbone="{latency_s: .nan}"),
    "10 MB": changed(description="x" * 10_000_000),
    "alias bomb": bomb(),
    "python tag": "!!python/object/apply:os.system [echo hacked]",
    "missing profile": "{name: x, cells: [{name: a, profile: nb-iot}]}",
    "missing profile file": "{name: x, cells: [{name: a, profile: ./nothing.yaml}]}",
    "not a mapping": "[1, 2]",
    "empty": "",
    "not YAML": "a: [",
    "more sensors than memory": changed(sensors="{count: 1000000000000}"),
    "a name that leaves the directory": changed(name="../../x"),
    "not a name": changed(cells="[{name: 'a\\nb', profile: ethernet}]"),
}


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def assert_refused(done: Result) -> None:
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert len(done.stderr) < 1_000


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_a_bad_scenario_is_refused_in_one_line(content: str, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(content)
    done = hfedms_sim("run", "bad.yaml", "--timing-only")
    assert_refused(done)
    assert "bad.yaml" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["bad.yaml"]


def test_a_binary_file_a_directory_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "binary.yaml").write_bytes(os.urandom(1000))
    (tmp_path / "directory.yaml").mkdir()
    for name in ("binary.yaml", "directory.yaml", "missing.yaml", "no-such-scenario"):
        assert_refused(hfedms_sim("run", name, "--timing-only"))


def test_a_file_that_fails_to_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a missing permission looks like, also for root."""
    from hfedms_sim.errors import InputError
    from hfedms_sim.loading import load_scenario

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(InputError, match=r"locked.yaml: cannot be read \(Permission denied\)"):
        load_scenario("./locked.yaml")


def test_an_existing_output_directory_is_refused_and_untouched(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "summary.json").write_text("precious")
    assert_refused(hfedms_sim("run", "quickstart", "--timing-only", "--out", "out"))
    assert (tmp_path / "out" / "summary.json").read_text() == "precious"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--set", "rounds=0"),
        ("--set", "nonsense"),
        ("--profile", "etherne"),
        ("--strategy", "fedavgg"),
        ("--rounds", "-1"),
        ("--seed", "-1"),
        ("--rounds", "many"),
        ("--no-such-option",),
    ],
    ids=" ".join,
)
def test_a_bad_option_is_refused_in_one_line(arguments: tuple[str, ...], tmp_path: Path) -> None:
    assert_refused(hfedms_sim("run", "quickstart", "--timing-only", *arguments))
    assert list(tmp_path.iterdir()) == []


def test_a_solver_for_too_many_sensors_is_refused_in_one_line_that_says_what_to_set(tmp_path: Path) -> None:
    settings = ("--set", "sensors.count=3200", "--set", "strategy.solver=pulp", "--allow-infeasible", "--quiet")
    done = hfedms_sim("run", "quickstart", "--timing-only", "--rounds", "1", *settings)
    assert_refused(done)
    assert "solver = pulp: 3200 sensors" in done.stderr
    assert "set solver to auto or nested, or ask for more groups" in done.stderr
    assert list(tmp_path.glob("runs/*")) == []


def test_a_full_disk_ends_in_one_line_and_exit_code_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hfedms_sim.errors import RunError
    from hfedms_sim.simulation import run
    from tests.conftest import tiny_scenario

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hfedms_sim.trace.recorder.pq.ParquetWriter.write_table", full)
    with pytest.raises(RunError, match=r"out: cannot be written \(No space left on device\)"):
        run(tiny_scenario(), timing_only=True, out=tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"scenario.yaml", "provenance.json", "learning"}


def test_an_output_nobody_can_read_ends_in_one_line(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "hfedms_sim.cli", "schema"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
