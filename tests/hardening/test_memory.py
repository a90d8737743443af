"""Memory that is not enough: one line and exit code 1; in a campaign it fails that trial alone."""

import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hfedms_sim.campaign.workers import attempt
from hfedms_sim.errors import InputError, RunError
from hfedms_sim.simulation import run
from hfedms_sim.system.machine import available_memory_bytes, not_enough_memory, require_memory
from tests.conftest import tiny_scenario
from tests.hardening.attacked import hfedms_sim, refused, written

TORCH = (
    "[enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate"
)
GIB = 2**30
RADIOS = Path(__file__).resolve().parent.parent.parent / "network_profiles"


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def exhausted(error: BaseException) -> Any:
    def raises(*_: object, **__: object) -> None:
        raise error

    return raises


ERRORS = [MemoryError(), MemoryError("Unable to allocate 74.5 GiB"), pa.ArrowMemoryError("malloc"), RuntimeError(TORCH)]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: f"{type(error).__name__} {str(error)[:10]}")
def test_a_run_that_memory_cannot_hold_is_one_line(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hfedms_sim.simulation.session.Session.play", exhausted(error))
    with pytest.raises(RunError, match="not enough memory"):
        run(tiny_scenario(), timing_only=True)
    line = refused("run", f"./{written(Path('s.yaml'))}", "--timing-only", "--quiet", "--out", "out", code=1)
    assert line.startswith("error: not enough memory")
    assert not list(Path("out").glob("*.parquet"))


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: f"{type(error).__name__} {str(error)[:10]}")
def test_a_command_that_memory_cannot_hold_is_one_line(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tiny_scenario(rounds=1), out="out", timing_only=True)
    monkeypatch.setattr("hfedms_sim.report.views.utilisation.utilisation_figure", exhausted(error))
    line = refused("plot", "out", "--kind", "utilisation", "--out", "x.png", code=1)
    assert line.startswith("error: not enough memory")


def test_other_errors_are_not_taken_for_a_lack_of_memory() -> None:
    for error in (RuntimeError("shape mismatch"), ValueError("can't allocate memory"), OSError(12, "x"), None):
        assert not_enough_memory(error) is None


def test_a_trial_that_memory_cannot_hold_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    from hfedms_sim.simulation.session import Session

    played = Session.play

    def of_one_seed(self: Session, *arguments: Any) -> None:
        if self._scenario.seed == 2:
            raise MemoryError("Unable to allocate 74.5 GiB")
        played(self, *arguments)

    monkeypatch.setattr(Session, "play", of_one_seed)
    monkeypatch.setattr("hfedms_sim.campaign.workers_for", lambda *_: here())
    command = ("compare", f"./{written(Path('s.yaml'))}", "--seeds", "1,2,3", "--timing-only", "--out", "out")
    done = hfedms_sim(*command, "--quiet")
    assert done.exit_code == 1
    assert "seed2: failed, not enough memory (Unable to allocate 74.5 GiB)" in done.stderr
    assert done.stderr.splitlines()[-1] == "error: 1 of 3 trials failed; --resume tries them again"
    assert len(list(Path("out/records").iterdir())) == 2


def here() -> Any:
    from hfedms_sim.campaign.workers import HereWorkers

    return HereWorkers()


def test_a_worker_says_what_memory_cannot_hold_as_a_failure_of_its_task() -> None:
    class Task:
        def perform(self, _: object) -> None:
            raise MemoryError

    value, error, is_final = attempt(Task())  # type: ignore[arg-type]
    assert (value, str(error), is_final) == (None, "not enough memory", False)


def process_with_two_gigabytes(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Call a command for real, in so much address space."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (2 * GIB, 2 * GIB))

    command = [sys.executable, "-m", "hfedms_sim.cli", *arguments]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, preexec_fn=limit, env=environment, timeout=300)


def test_a_process_with_little_memory_ends_in_one_line() -> None:
    """A factory of ten million sensors needs more."""
    source = written(Path("s.yaml"), rounds=1, sensors={"count": 10_000_000}, strategy={"name": "fedavg"})
    done = process_with_two_gigabytes("run", f"./{source}", "--timing-only", "--quiet")
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    (line,) = done.stderr.splitlines()
    assert "memory" in line


SF11 = (RADIOS / "lorawan-eu868-sf11.yaml").read_text()
SHORT_SILENCE = re.sub(r"(uplink|downlink)_silence_s: [0-9.]+", r"\1_silence_s: 0.0001", SF11)
NB1 = (RADIOS / "nb-iot-nb1.yaml").read_text()
LOSSY = NB1.replace("error_rate: 0.1\n", "error_rate: 0.999999\n")


@pytest.mark.parametrize(
    ("profile", "options"),
    [
        (SHORT_SILENCE, ("quickstart", "--profile", "./radio.yaml")),
        (LOSSY, ("quickstart", "--profile", "./radio.yaml")),
        (None, ("lorawan-yard", "--set", "sensors.count=3000")),
    ],
    ids=["frames with hardly a silence", "blocks that nearly always fail", "many sensors on LoRaWAN"],
)
def test_figures_within_their_bounds_take_little_memory(profile: str | None, options: tuple[str, ...]) -> None:
    if profile is not None:
        Path("radio.yaml").write_text(profile)
    done = process_with_two_gigabytes("run", *options, "--rounds", "1", "--timing-only", "--allow-infeasible")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("grid", [("rounds=1:10000",) * 1 + ("strategy.interval=1:10000", "strategy.beta=1:10000")])
def test_a_sweep_counts_its_trials_before_it_makes_any(grid: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hfedms_sim.campaign.trials.product", exhausted(AssertionError("made before it was counted")))
    options = [part for each in grid for part in ("--grid", each)]
    assert "more than 100,000 trials" in refused("sweep", "quickstart", *options)


def test_a_need_beyond_what_there_is_has_both_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hfedms_sim.system.machine.available_memory_bytes", lambda: 2_000_000_000)
    require_memory(1.9e9)
    with pytest.raises(MemoryError, match=r"needs about 6.4 GB, there are 2 GB"):
        require_memory(6.4e9)


def system(root: Path, *, available_kb: int | None = None, group: str = "0::/", **files: str) -> Path:
    """Write the files in which Linux says what memory there is, below a directory."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(f"{group}\n")
    if available_kb is not None:
        (root / "proc/meminfo").write_text(f"MemTotal: 99999999 kB\nMemAvailable: {available_kb} kB\nSwapFree: 9 kB\n")
    for name, content in files.items():
        path = root / "sys/fs/cgroup" / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


def test_the_least_of_machine_and_control_groups_counts(tmp_path: Path) -> None:
    files = {
        "memory_dot_max": "max\n",
        "memory_dot_current": "5\n",
        "batch__memory_dot_max": f"{8 * GIB}\n",
        "batch__memory_dot_current": f"{5 * GIB}\n",
        "batch__memory_dot_stat": f"anon 1\ninactive_file {GIB}\n",
        "batch__job__memory_dot_max": f"{6 * GIB}\n",
        "batch__job__memory_dot_current": f"{GIB}\n",
    }
    root = system(tmp_path, available_kb=20 * 1024**2, group="0::/batch/job", **files)
    assert available_memory_bytes(root) == 4 * GIB  # of 8, 5 are used, of which 1 is cache
    assert available_memory_bytes(system(tmp_path / "free", available_kb=2 * 1024**2)) == 2 * GIB


def test_groups_of_the_first_version_and_those_of_a_container_count_too(tmp_path: Path) -> None:
    older = {
        "memory__docker__x__memory_dot_limit_in_bytes": f"{3 * GIB}",
        "memory__docker__x__memory_dot_usage_in_bytes": f"{GIB}",
    }
    root = system(tmp_path / "older", available_kb=20 * 1024**2, group="4:memory:/docker/x\n3:cpu:/\n0::/", **older)
    assert available_memory_bytes(root) == 2 * GIB
    inside = {"memory_dot_max": f"{3 * GIB}", "memory_dot_current": f"{4 * GIB}"}
    root = system(tmp_path / "inside", available_kb=20 * 1024**2, group="0::/../outside/of/here", **inside)
    assert available_memory_bytes(root) == 0  # over its limit already


def test_where_the_system_does_not_tell_nothing_is_known_and_nothing_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert available_memory_bytes(tmp_path) is None
    monkeypatch.setattr("hfedms_sim.system.machine.available_memory_bytes", lambda: None)
    require_memory(1e30)


def test_this_machine_has_memory_and_a_limit_of_the_process_counts() -> None:
    available_bytes = available_memory_bytes()
    assert available_bytes is not None
    assert available_bytes > 0
    program = "from hfedms_sim.system.machine import available_memory_bytes; print(available_memory_bytes())"

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (GIB, GIB))

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, preexec_fn=limit)
    assert 0 < int(done.stdout) < GIB


def test_a_refusal_for_lack_of_memory_names_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    from hfedms_sim.data.loaders.files import errors_name

    with (
        pytest.raises(InputError, match=r"data.npz: does not fit into memory \(needs a lot\)"),
        errors_name(Path("data.npz")),
    ):
        raise MemoryError("needs a lot")
