"""What the soak holds against every command: each fault that it looks for is found."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from soak import commands
from soak.commands import Command, Ended, Surroundings, UnexpectedError
from soak.moments import Watch
from soak.outcomes import differences, fingerprints, leftovers
from soak.processes import held_by, is_gone, members, workers_of
from soak.scene import Scene
from soak.subjects import SUBJECTS, Wholes

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    place = Surroundings(tmp_path / "scene", tmp_path / "cache")
    return Scene(place, tmp_path, Wholes(tmp_path / "wholes", tmp_path, tmp_path / "cache"), Random(1))


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("pass", None),
        ("import sys; sys.exit(3)", "exit code 3"),
        ("1 / 0", "exit code 1"),
        ("import traceback, sys\ntry: 1 / 0\nexcept Exception: traceback.print_exc()", "a traceback"),
        ("open('notes.txt', 'a').write('x')", "changed outside of --out: notes.txt"),
        ("open('runs/new.txt', 'w')", "changed outside of --out: runs/new.txt"),
        ("import os; os.remove('link')", "changed outside of --out: link"),
        ("import tempfile; tempfile.mkstemp(prefix='x')", "left in the directory of temporary files: x"),
        ("open('runs/out', 'w')", None),
    ],
)
def test_what_a_command_must_not_do_is_found(scene: Scene, code: str, words: str | None) -> None:
    command = scene.start(python(code))
    if words is None:
        scene.end(command, 0)
    else:
        with pytest.raises(UnexpectedError, match=words):
            scene.end(command, 0)
    assert scene.said == [command.text]


def test_a_process_that_is_left_is_found_and_ended(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "_LONGEST_END_S", 0.3)
    command = scene.start(python("import subprocess; subprocess.Popen(['sleep', '60'], stdout=-3, stderr=-3)"))
    with pytest.raises(UnexpectedError, match="1 of its processes are left"):
        scene.end(command, 0)
    assert is_gone(command.session, 5.0)


def test_the_end_of_a_command_is_not_that_of_what_it_has_started(scene: Scene) -> None:
    """Whoever goes on at once with what was killed must get along with workers that are about to end."""
    child = "import time; time.sleep(3); print('late')"
    code = f"import subprocess, sys; print('early', flush=True); subprocess.Popen([sys.executable, '-c', {child!r}])"
    command = scene.start(python(code))
    ended = command.ended()
    assert ended.output == "early\n"
    assert members(command.session)
    command.require_gone()


def test_a_session_of_somebody_else_with_the_same_number_is_left_alone(scene: Scene) -> None:
    command = scene.start(python("pass"))
    command.ended()
    other = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        command.process.pid = other.pid  # as if the system had given the number away again
        command.remove()
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_a_command_that_hangs_is_found_and_ended(scene: Scene) -> None:
    command = scene.start(python("import time; time.sleep(60)"))
    with pytest.raises(UnexpectedError, match="has not ended within"):
        command.ended(within_s=0.5)
    assert is_gone(command.session, 5.0)


@pytest.mark.parametrize("errors", ["", "error: a\nerror: b\n", "oh no\n", "1 of 3\nerror: a\n"])
def test_an_error_is_one_line(errors: str) -> None:
    Ended("x", 2, "", "note: b\nerror: a\n", 1.0).require_error(2)
    with pytest.raises(UnexpectedError, match="not one line"):
        Ended("x", 2, "", errors, 1.0).require_error(2)


def test_files_of_a_command_may_be_limited(tmp_path: Path) -> None:
    place = Surroundings(tmp_path, tmp_path)
    place.home.mkdir()
    for size, code in ((100, 0), (101, 1)):
        write = f"try: open('x', 'wb', 0).write(bytes({size})) == {size} or exit(1)\nexcept OSError: exit(1)"
        assert Command(python(write), place, most_bytes=100).ended().exit_code == code


def test_outcomes_and_trees_are_told_apart(tmp_path: Path) -> None:
    assert differences({"a": b"1", "b": b"2", "c": b""}, {"a": b"1", "b": b"3", "d": b""}) == ["b", "c", "d"]
    (tmp_path / "one" / ".x.part").mkdir(parents=True)
    assert leftovers(tmp_path) == ["one/.x.part"]
    (tmp_path / "one" / "file").write_text("a")
    (tmp_path / "two").write_text("b")
    before = fingerprints(tmp_path, but_for=tmp_path / "one")
    assert list(before) == ["two"]
    (tmp_path / "two").chmod(0o600)
    assert fingerprints(tmp_path, but_for=tmp_path / "one") != before


def test_a_kill_is_told_by_what_was_being_written(tmp_path: Path) -> None:
    watch, out = Watch(tmp_path / "out"), tmp_path / "out"
    phases = [watch.phase()]
    (out / "learning").mkdir(parents=True)
    for name in ("scenario.yaml", "learning/metrics.log", "summary.json", ".provenance.json.part"):
        (out / name).write_text("{}")
        phases.append(watch.phase())
    assert phases == ["starting", "timing", "learning", "all written", "writing"]
    assert Watch(out).phase() == "starting"  # nothing has changed since


def test_a_process_and_what_it_holds_are_seen_from_outside() -> None:
    process = subprocess.Popen(["sleep", "60"], start_new_session=True)
    try:
        assert members(process.pid) == [process.pid]
        held = held_by(process.pid)
        assert held is not None
        assert held.rss_bytes > 0
        assert held.threads == 1
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert members(process.pid) == []
    assert held_by(process.pid) is None


def test_what_a_worker_has_forked_is_no_worker() -> None:
    worker = "import os, time; os.fork(); time.sleep(60)  # spawn_main"
    campaign = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])"
    process = subprocess.Popen([sys.executable, "-c", campaign, worker], start_new_session=True)
    try:
        while len(members(process.pid)) < 3:
            time.sleep(0.02)
        assert len(workers_of(process.pid)) == 1
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_the_commands_that_are_soaked_begin_and_go_on(tmp_path: Path) -> None:
    subject = SUBJECTS["compare-radios"]
    words = subject.command(tmp_path, tmp_path / "out")
    assert words[3:5] == ["compare", str(tmp_path / "poisson.yaml")]
    assert str(tmp_path / "radio2.yaml") in words[6]
    assert words[-2:] == ["--out", str(tmp_path / "out")]
    (tmp_path / "out").mkdir()
    assert subject.command(tmp_path, tmp_path / "out") == [*words, "--resume"]
