"""Links that somebody left: nothing is written, changed or deleted where they lead."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hfedms_sim.campaign.ray_workers import put_in_place
from hfedms_sim.errors import RunError
from hfedms_sim.lineage import LineageStore
from hfedms_sim.lineage.metrics_log import MetricsLog
from hfedms_sim.simulation import run
from hfedms_sim.system.files import NewFile, atomic_write, opened_at_end, write_atomically
from hfedms_sim.trace import TABLES, Trace
from tests.conftest import tiny_scenario
from tests.hardening.attacked import contents, hfedms_sim, refused, written


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def victim() -> Iterator[Path]:
    """Give a directory of somebody else's, with files of all names that a run has; it must stay as it is."""
    place = Path("elsewhere")
    for name in ("learning/checkpoints", "learning/pinned", "records", "trials"):
        (place / name).mkdir(parents=True)
    for name in ("summary.json", "rounds.parquet", "learning/model.safetensors", "learning/metrics.log", "picture.png"):
        (place / name).write_text("precious")
    (place / "learning" / "checkpoints" / f"00000001-{'a' * 64}.safetensors").write_text("precious")
    before = contents(place)
    yield place.absolute()
    assert contents(place) == before


FILES = ("scenario.yaml", "provenance.json", "summary.json", *(f"{name}.parquet" for name in TABLES))


def finished_run(*, timing_only: bool = False) -> tuple[object, ...]:
    """Play a run into `out`, and return the command that goes on with it."""
    scenario = written(Path("s.yaml"))
    command = ("run", f"./{scenario}", "--quiet", "--out", "out", *(["--timing-only"] if timing_only else []))
    assert hfedms_sim(*command).exit_code == 0
    return (*command, "--resume")


@pytest.mark.parametrize("name", FILES)
def test_a_link_at_a_temporary_name_is_removed_and_not_followed(name: str, victim: Path) -> None:
    again = finished_run(timing_only=True)
    (Path("out") / f".{name}.part").symlink_to(victim / "summary.json")
    assert hfedms_sim(*again).exit_code == 0
    assert not (Path("out") / f".{name}.part").is_symlink()


def test_tables_are_not_written_through_a_link_at_their_temporary_name(victim: Path) -> None:
    Path(".rounds.parquet.part").symlink_to(victim / "rounds.parquet")
    with Trace(Path()):
        pass
    assert not Path("rounds.parquet").is_symlink()


@pytest.mark.parametrize("name", ["summary.json", "rounds.parquet", "learning", "learning/metrics.log", "notes"])
def test_a_run_with_a_link_in_it_is_not_gone_on_with(name: str, victim: Path) -> None:
    again = finished_run()
    path = Path("out") / name
    if path.is_dir():
        path.rename("moved")
    path.unlink(missing_ok=True)
    path.symlink_to(victim / name)
    before = contents(Path("out"))
    assert f"out/{name}: is a link" in refused(*again)
    assert contents(Path("out")) == before


@pytest.mark.parametrize("name", ["checkpoints", "pinned"])
def test_states_of_a_linked_directory_are_neither_pruned_nor_added_to(name: str, victim: Path) -> None:
    again = finished_run()
    place = Path("out/learning") / name
    if place.is_dir():
        place.rename("moved")
    place.symlink_to(victim / "learning" / name)
    assert f"{name}: is a link" in refused(*again)
    with pytest.raises(OSError, match="is a link"):
        LineageStore(Path("out/learning"))


def test_a_log_that_is_a_link_is_not_added_to(victim: Path) -> None:
    Path("metrics.log").symlink_to(victim / "learning" / "metrics.log")
    with pytest.raises(OSError, match="is a link"):
        MetricsLog(Path("metrics.log")).note_learnt(1, "after", True)


def test_a_log_with_a_second_name_is_copied_before_it_is_added_to() -> None:
    log = MetricsLog(Path("metrics.log"))
    log.note_learnt(1, "one", True)
    log.close()
    os.link("metrics.log", "backup.log")
    before = Path("backup.log").read_bytes()
    again = MetricsLog(Path("metrics.log"))
    again.note_learnt(2, "two", False)
    again.close()
    assert Path("backup.log").read_bytes() == before
    assert MetricsLog(Path("metrics.log")).finite == {"one": True, "two": False}


def test_out_that_is_a_link_is_refused_new_or_gone_on_with(victim: Path) -> None:
    scenario = written(Path("s.yaml"))
    run(tiny_scenario(rounds=2), out="real", timing_only=True)
    before = contents(Path("real"))
    for name, target in (("dangling", Path("nowhere")), ("there", victim), ("linked", Path("real").absolute())):
        Path(name).symlink_to(target)
        for command in ("run", "compare"):
            options = (command, f"./{scenario}", "--timing-only", "--quiet", "--out", name)
            assert "exists already" in refused(*options)
            assert f"{name}: is a link" in refused(*options, "--resume")
    assert contents(Path("real")) == before
    assert not Path("nowhere").exists()


@pytest.mark.parametrize("name", ["trials", "records"])
def test_a_campaign_with_a_linked_directory_is_not_gone_on_with(name: str, victim: Path) -> None:
    command = ("compare", f"./{written(Path('s.yaml'))}", "--timing-only", "--quiet", "--out", "out")
    assert hfedms_sim(*command).exit_code == 0
    (Path("out") / name).rename("moved")
    (Path("out") / name).symlink_to(victim / name)
    assert f"out/{name}: is a link" in refused(*command, "--resume")


def test_a_trial_that_is_a_link_fails_alone(victim: Path) -> None:
    command = ("compare", f"./{written(Path('s.yaml'))}", "--seeds", "1,2", "--timing-only", "--quiet", "--out", "out")
    assert hfedms_sim(*command).exit_code == 0
    first, second = sorted(Path("out/trials").iterdir())
    (Path("out/records") / f"{first.name}.json").unlink()
    (Path("out/records") / f"{second.name}.json").unlink()
    first.rename("moved")
    first.symlink_to(victim)
    done = hfedms_sim(*command, "--resume")
    assert done.exit_code == 1
    assert f"{first.name}: failed" in done.stderr
    assert "is a link" in done.stderr
    assert "1 of 2 trials failed" in done.stderr


def test_an_experiment_that_is_a_link_is_not_gone_on_with(victim: Path) -> None:
    Path("papers").mkdir()
    (Path("papers") / "parameters").symlink_to(victim)
    assert "parameters: is a link" in refused("paper", "parameters", "--out", "papers", "--resume", "--quiet")


def test_a_trial_of_ray_that_is_a_link_is_not_replaced(victim: Path) -> None:
    Path("trial").symlink_to(victim)
    with pytest.raises(RunError, match="is a link"):
        put_in_place({"summary.json": b"x"}, Path("trial"))


@pytest.mark.parametrize("name", ["../out", "/tmp/hfedms-sim-out", "learning/../../out"])
def test_a_file_that_comes_back_from_ray_stays_within_its_trial(name: str) -> None:
    with pytest.raises(RunError, match="not within its trial's directory"):
        put_in_place({name: b"x"}, Path("trial"))
    assert not Path("out").exists()
    assert not Path("/tmp/hfedms-sim-out").exists()


@pytest.mark.parametrize(
    "command",
    [
        ("plot", "out", "--kind", "utilisation", "--out", "link.png"),
        ("report", "out", "--out", "link.png", "--quiet"),
        ("validate", "erlang-c", "--csv", "link.png"),
        ("show", "assembly-hall", "--map", "link.png"),
    ],
    ids=lambda command: command[0],
)
def test_a_file_to_be_written_that_is_a_link_is_refused(
    command: tuple[str, ...], victim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hfedms_sim.validation.judging.judge_all", lambda ids: [])
    finished_run(timing_only=True)
    Path("link.png").symlink_to(victim / "picture.png")
    assert "link.png: cannot be written (is a link" in refused(*command)
    assert Path("link.png").is_symlink()


@pytest.mark.parametrize("trace_format", ["csv", "parquet", "perfetto"])
def test_a_trace_is_not_exported_through_a_link(trace_format: str, victim: Path) -> None:
    finished_run(timing_only=True)
    for name, target in (("there", victim), ("dangling", Path("nowhere"))):
        Path(name).symlink_to(target)
        assert f"{name}: exists already" in refused("trace", "out", "--format", trace_format, "--out", name)
    assert not Path("nowhere").exists()


def as_device(path: Path) -> None:
    os.mkfifo(path)


def as_directory(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize("make", [as_device, as_directory])
def test_what_is_no_plain_file_is_not_replaced_by_one(make: Callable[[Path], None]) -> None:
    make(Path("page.html"))
    finished_run(timing_only=True)
    assert "page.html: cannot be written" in refused("report", "out", "--out", "page.html", "--quiet")
    assert not Path("page.html").is_file()
    with pytest.raises(OSError, match=r"page\.html"):
        opened_at_end(Path("page.html"))


def test_a_file_that_another_process_is_writing_is_left_to_it() -> None:
    first = NewFile(Path("file.json"))
    first.file.write(b"first")
    with pytest.raises(OSError, match="another process is writing it"):
        write_atomically(Path("file.json"), "second")
    first.commit()
    assert Path("file.json").read_text() == "first"
    write_atomically(Path("file.json"), "second")
    assert Path("file.json").read_text() == "second"


def test_what_fails_while_it_is_written_leaves_the_file_that_was_there() -> None:
    Path("file.json").write_text("before")

    def fail() -> None:
        with atomic_write(Path("file.json")) as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert contents(Path()) == {"file.json": b"before"}


@pytest.mark.parametrize("name", ["learning/thesis.tex", "thesis/one.tex", ".profile"])
def test_a_directory_of_other_things_is_no_run_that_was_killed_early(name: str) -> None:
    path = Path("home") / name
    path.parent.mkdir(parents=True)
    path.write_text("years of work")
    before = contents(Path("home"))
    command = ("run", f"./{written(Path('s.yaml'))}", "--timing-only", "--quiet", "--resume", "--out", "home")
    assert "no run to resume" in refused(*command)
    assert contents(Path("home")) == before


def test_a_run_that_was_killed_before_it_wrote_anything_is_gone_on_with() -> None:
    (Path("out") / "learning").mkdir(parents=True)
    Path("out/.scenario.yaml.part").write_text("name: ti")
    command = ("run", f"./{written(Path('s.yaml'))}", "--timing-only", "--quiet", "--resume", "--out", "out")
    assert hfedms_sim(*command).exit_code == 0
