"""All experiments at the small scale, interrupted and killed: nothing is left running, nothing is lost. `make slow`."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from soak.processes import members

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc"),
]
KILLS, LATEST_KILL_S = 5, 240.0


def started(out: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "hfedms_sim.cli", "paper", "all", "--scale", "smoke", "--jobs", "2"]
    return subprocess.Popen(
        [*command, "--resume", "--quiet", "--out", str(out)], stderr=subprocess.PIPE, start_new_session=True
    )


def shown(directory: Path) -> dict[str, bytes]:
    """Return everything that the experiments show: tables, figures, claims."""
    endings = {".csv", ".txt", ".tex", ".md", ".png", ".svg", ".pdf"}
    files = [path for path in directory.glob("*/*") if path.suffix in endings or path.name == "claims.json"]
    return {str(path.relative_to(directory)): path.read_bytes() for path in files if path.name != "command.txt"}


def test_one_ctrl_c_ends_it_within_5_s_and_leaves_no_process(tmp_path: Path) -> None:
    process = started(tmp_path / "out")
    time.sleep(90.0)  # in the middle of training
    begun_s = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert time.monotonic() - begun_s < 5
    assert process.returncode == 130
    assert b"--resume" in told
    time.sleep(1.0)
    assert members(process.pid) == []


def test_killed_at_five_moments_it_ends_with_the_same_tables_and_claims(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert started(whole).wait() == 0
    moments = random.Random(1)
    for _ in range(KILLS):
        process = started(killed)
        time.sleep(moments.uniform(10.0, LATEST_KILL_S))
        process.kill()
        process.wait()
        while members(process.pid):  # its workers end by themselves
            time.sleep(0.2)
    assert started(killed).wait() == 0
    assert len(shown(whole)) > 60
    assert shown(killed) == shown(whole)
