"""SHA256SUMS: who writes it and when, what it lists, and that nothing is read that does not match it."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hfedms_sim.errors import InputError, RunError
from hfedms_sim.loading import CHOICES
from hfedms_sim.result import RunResult
from hfedms_sim.run_directory import RunDirectory
from hfedms_sim.simulation import Progress, open_run, resume, run
from hfedms_sim.system import checksums
from hfedms_sim.system.checksums import SUMS, Checksums, remove_checksums, write_checksums
from hfedms_sim.trace import TABLES, export_trace
from tests.conftest import tiny_scenario, without_checksums

TABLE_FILES = {f"{name}.parquet" for name in TABLES}
REFUSED = r"damaged \(its checksum in SHA256SUMS does not match\)"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained run, to be copied."""
    out = tmp_path_factory.mktemp("runs") / "one"
    run(tiny_scenario(rounds=3, evaluate_every=1), out=out)
    return out


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    return shutil.copytree(finished, tmp_path / "copy")


def flip(path: Path, place: int = -20) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 0x01
    path.write_bytes(content)


def listed(directory: Path) -> dict[str, str]:
    found = Checksums(directory).listed()
    assert found is not None
    return found


# --------------------------------------------------------------------------------------------------------- writing


def test_a_trained_run_lists_everything_that_belongs_to_its_result(finished: Path) -> None:
    there = {path.relative_to(finished).as_posix() for path in finished.rglob("*") if path.is_file()}
    assert there == {*listed(finished), SUMS}
    learnt = {"learning/root.json", "learning/metrics.log", "learning/model.safetensors"}
    assert {"scenario.yaml", "provenance.json", "summary.json", *TABLE_FILES, *learnt} <= {*listed(finished)}
    assert any(name.startswith(("learning/checkpoints/", "learning/pinned/")) for name in listed(finished))


def test_a_run_that_was_only_timed_lists_what_it_has(tmp_path: Path) -> None:
    run(tiny_scenario(), timing_only=True, out=tmp_path / "out")
    assert {*listed(tmp_path / "out")} == {"scenario.yaml", "provenance.json", "summary.json", *TABLE_FILES}


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="there is no sha256sum")
def test_sha256sum_checks_a_run_as_it_checks_any_list(copy: Path) -> None:
    def said() -> "subprocess.CompletedProcess[str]":
        return subprocess.run(["sha256sum", "-c", "--strict", SUMS], cwd=copy, capture_output=True, text=True)

    assert said().returncode == 0
    assert said().stdout.count(": OK\n") == len(listed(copy))
    flip(copy / "work.parquet")
    assert "work.parquet: FAILED" in said().stdout


def test_the_tables_of_equal_runs_have_equal_checksums(tmp_path: Path) -> None:
    one, two = (run(tiny_scenario(), timing_only=True, out=tmp_path / name).directory for name in ("one", "two"))
    assert one is not None
    assert two is not None
    assert {name: listed(one)[name] for name in TABLE_FILES} == {name: listed(two)[name] for name in TABLE_FILES}


def test_there_is_no_list_while_a_run_is_played_again_and_a_sound_one_at_its_end(copy: Path) -> None:
    seen: list[bool] = []

    def look(progress: Progress) -> None:
        seen.append((copy / SUMS).exists())

    scenario = open_run(copy).scenario
    run(scenario, out=RunDirectory.resumed(copy, scenario, CHOICES), on_round=look)
    assert seen == [False] * 3
    assert not Checksums(copy).damages()
    assert {*listed(copy)} >= {"summary.json", *TABLE_FILES}


def test_a_finished_run_that_is_killed_while_it_is_played_again_is_read_and_goes_on(copy: Path) -> None:
    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    scenario, before = open_run(copy).scenario, open_run(copy).rounds
    with pytest.raises(KeyboardInterrupt):
        run(scenario, out=RunDirectory.resumed(copy, scenario, CHOICES), on_round=interrupt)
    assert not (copy / SUMS).exists()
    assert open_run(copy).rounds.equals(before)
    run(scenario, out=RunDirectory.resumed(copy, scenario, CHOICES))
    assert not Checksums(copy).damages()


class Countdown:
    """Ends a process, as far as it can tell, before the given one of all renames and removals of files."""

    def __init__(self, patch: pytest.MonkeyPatch, calls: int) -> None:
        self.left = calls
        for name in ("replace", "unlink"):
            patch.setattr(Path, name, self._counting(getattr(Path, name)))

    def _counting(self, whole: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
            return whole(*arguments, **options)

        return counted


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # whoever is killed closes no file
def test_at_whatever_step_it_is_killed_a_run_that_is_played_again_never_looks_damaged(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario, rounds = open_run(finished).scenario, open_run(finished).rounds
    with_list = without_list = 0
    for steps in range(1, 100):
        copy = shutil.copytree(finished, tmp_path / str(steps))
        with monkeypatch.context() as patch:
            countdown = Countdown(patch, steps)
            directory = RunDirectory.resumed(copy, scenario, CHOICES)
            try:
                run(scenario, out=directory)
            except KeyboardInterrupt:
                directory.unlock()
        opened = open_run(copy)
        assert opened.rounds.equals(rounds)
        assert all(opened.arrow(name) is not None for name in TABLES)
        assert opened.weights()
        assert not Checksums(copy).damages()
        with_list, without_list = with_list + (copy / SUMS).exists(), without_list + (not (copy / SUMS).exists())
        if countdown.left > 0:  # it came to its end
            break
    assert with_list >= 2  # killed before the list was removed, and not killed at all
    assert without_list >= 15


def test_the_list_goes_before_anything_else_is_changed(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, text: str) -> None:
        raise OSError(28, "No space left on device", str(path))

    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file() and path.name != SUMS}
    scenario = open_run(copy).scenario
    monkeypatch.setattr("hfedms_sim.run_directory.write_atomically", full)
    with pytest.raises(RunError, match="No space left"):
        run(scenario, out=RunDirectory.resumed(copy, scenario, CHOICES))
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before


def test_a_run_that_is_killed_before_it_has_listed_anything_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("hfedms_sim.simulation.output.write_checksums", killed)
        with pytest.raises(KeyboardInterrupt):
            run(tiny_scenario(), timing_only=True, out=tmp_path / "out")
    assert len(open_run(tmp_path / "out").rounds) == 6


# --------------------------------------------------------------------------------------------------------- reading


@pytest.mark.parametrize("name", ["scenario.yaml", "summary.json", "provenance.json"])
def test_a_run_is_not_opened_if_what_says_what_it_is_was_changed(copy: Path, name: str) -> None:
    flip(copy / name)
    with pytest.raises(InputError, match=rf"{name}: {REFUSED}"):
        open_run(copy)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_that_was_changed_is_refused_when_it_is_asked_for_and_no_sooner(copy: Path, name: str) -> None:
    flip(copy / f"{name}.parquet")
    opened = open_run(copy)
    for other in TABLES:
        if other == name:
            with pytest.raises(InputError, match=rf"{name}\.parquet: {REFUSED}"):
                getattr(opened, other)
        else:
            assert getattr(opened, other) is not None
    with pytest.raises(InputError, match=REFUSED):
        export_trace(copy, "csv")


@pytest.mark.parametrize("name", ["rounds", "transfers", "work"])
def test_what_limited_a_run_is_not_worked_out_of_a_table_that_was_changed(copy: Path, name: str) -> None:
    flip(copy / f"{name}.parquet")
    with pytest.raises(InputError, match=rf"{name}\.parquet: {REFUSED}"):
        _ = open_run(copy).limits


def test_a_model_that_was_changed_is_refused(copy: Path) -> None:
    flip(copy / "learning" / "model.safetensors")
    for read in (open_run(copy).weights, open_run(copy).predictions, open_run(copy).in_memory):
        with pytest.raises(InputError, match=rf"model\.safetensors: {REFUSED}"):
            read()


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("sensors.parquet", lambda opened: opened.sensors),
        ("learning/model.safetensors", lambda opened: opened.weights()),
    ],
)
def test_a_file_that_is_gone_is_not_taken_for_one_that_never_was(
    copy: Path, name: str, read: Callable[[RunResult], Any]
) -> None:
    (copy / name).unlink()
    with pytest.raises(InputError, match=r"damaged \(it is missing, and SHA256SUMS lists it\)"):
        read(open_run(copy))


def test_a_run_of_an_earlier_version_is_read(copy: Path, finished: Path) -> None:
    assert open_run(without_checksums(copy)).rounds.equals(open_run(finished).rounds)
    assert open_run(copy).weights().keys() == open_run(finished).weights().keys()


def test_what_is_not_listed_is_read(copy: Path) -> None:
    kept = [line for line in (copy / SUMS).read_text().splitlines(keepends=True) if "rounds" not in line]
    (copy / SUMS).write_text("".join(kept))
    assert len(open_run(copy).rounds) == 3


DIGEST = "0" * 64


@pytest.mark.parametrize(
    "content",
    [
        "",
        "no list\n",
        f"{DIGEST}  rounds.parquet",
        f"{DIGEST}\trounds.parquet\n",
        f"{DIGEST[1:]}  rounds.parquet\n",
        f"{'A' * 64}  rounds.parquet\n",
        f"{DIGEST}  /etc/passwd\n",
        f"{DIGEST}  ../rounds.parquet\n",
        f"{DIGEST}  rounds.parquet\n{DIGEST}  rounds.parquet\n",
        f"{DIGEST}  rounds.parquet\n\n",
        f"{DIGEST}  rounds\x1b.parquet\n",
        f"{DIGEST}  r\xf6unds.parquet\n",
    ],
)
def test_a_list_that_nobody_has_written_is_damaged_itself(copy: Path, content: str) -> None:
    (copy / SUMS).write_bytes(content.encode("latin-1"))
    with pytest.raises(InputError, match=r"SHA256SUMS: damaged \(it is not a list of checksums and files\)"):
        open_run(copy)


def test_a_directory_in_place_of_a_file_or_of_the_list_is_damage(copy: Path) -> None:
    (copy / "work.parquet").unlink()
    (copy / "work.parquet").mkdir()
    with pytest.raises(InputError, match=REFUSED):
        Checksums(copy).require("work.parquet")
    (copy / SUMS).unlink()
    (copy / SUMS).mkdir()
    with pytest.raises(InputError, match="SHA256SUMS: damaged"):
        Checksums(copy).listed()


def test_a_file_is_read_once_for_its_checksum_and_again_when_it_was_replaced(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[str] = []
    whole = checksums.sha256_of

    def counted(path: Path) -> str:
        hashed.append(path.name)
        return whole(path)

    monkeypatch.setattr(checksums, "sha256_of", counted)
    opened = open_run(copy)
    hashed.clear()
    for _ in range(3):
        opened.arrow("transfers")
    _ = opened.limits
    assert sorted(hashed) == ["rounds.parquet", "transfers.parquet", "work.parquet"]
    (copy / "new").write_bytes(b"other content")
    (copy / "new").replace(copy / "transfers.parquet")
    with pytest.raises(InputError, match=REFUSED):
        opened.arrow("transfers")


@pytest.mark.parametrize("is_over", [False, True], ids=["going on", "over"])
def test_a_directory_that_is_written_anew_while_it_is_read_does_not_look_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_over: bool
) -> None:
    """The list is read, then the run is played again, then the file is looked at: it is another one by then."""
    whole, path = checksums.sha256_of, tmp_path / "summary.json"

    def meanwhile(looked_at: Path) -> str:
        monkeypatch.setattr(checksums, "sha256_of", whole)
        remove_checksums(tmp_path)
        path.write_text("new")
        if is_over:
            write_checksums(tmp_path, ["summary.json"])
        return whole(looked_at)

    path.write_text("old")
    write_checksums(tmp_path, ["summary.json"])
    monkeypatch.setattr(checksums, "sha256_of", meanwhile)
    Checksums(tmp_path).require("summary.json")
    assert path.read_text() == "new"


# --------------------------------------------------------------------------------------------------------- going on


def test_a_scenario_that_was_changed_is_called_damaged_not_another_one(copy: Path) -> None:
    scenario = open_run(copy).scenario
    text = (copy / "scenario.yaml").read_text()
    assert "seed: 1\n" in text
    (copy / "scenario.yaml").write_text(text.replace("seed: 1\n", "seed: 3\n"))
    with pytest.raises(InputError, match=rf"scenario\.yaml: {REFUSED}"):
        RunDirectory.resumed(copy, scenario, CHOICES)
    (copy / "summary.json").unlink()
    with pytest.raises(InputError, match=rf"scenario\.yaml: {REFUSED}"):
        resume(copy)


def test_damage_is_mended_by_playing_the_run_again(copy: Path, finished: Path) -> None:
    flip(copy / "transfers.parquet")
    flip(copy / "learning" / "model.safetensors")
    scenario = open_run(copy).scenario
    assert run(scenario, out=RunDirectory.resumed(copy, scenario, CHOICES)).provenance["rounds_trained"] == 0
    for name in ("transfers.parquet", "learning/model.safetensors"):
        assert (copy / name).read_bytes() == (finished / name).read_bytes()
    assert not Checksums(copy).damages()


def test_a_provenance_that_was_changed_does_not_hide_that_a_run_was_trained(copy: Path) -> None:
    provenance = json.loads((copy / "provenance.json").read_text())
    (copy / "provenance.json").write_text(json.dumps(provenance | {"timing_only": True}))
    directory = RunDirectory(copy, is_new=False)
    with pytest.raises(InputError, match="was trained"):
        directory.require_untrained()
