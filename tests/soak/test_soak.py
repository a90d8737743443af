"""The soak itself: the same actions by the same seed, a summary that says how to repeat what failed, an exit code."""

from pathlib import Path
from time import sleep

import pytest

from soak import __main__ as program
from soak import soak as soaking
from soak.commands import UnexpectedError
from soak.leaks import Sample, growths
from soak.scene import Scene
from soak.soak import Soak
from soak.summary import summary_of

drawn: list[tuple[str, float]] = []


def good(scene: Scene) -> None:
    drawn.append((scene.surroundings.directory.name, scene.random.random()))


def bad(scene: Scene) -> None:
    scene.said.append("hfedms-sim run x")
    raise UnexpectedError("the disk has melted")


@pytest.fixture(autouse=True)
def _small_actions(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn.clear()
    monkeypatch.setattr(soaking, "ACTIONS", {"good": (good, 1), "fine": (good, 1)})
    monkeypatch.setattr("soak.summary.ACTIONS", soaking.ACTIONS)


def test_what_an_action_does_depends_on_the_seed_and_its_number_alone(tmp_path: Path) -> None:
    for number in range(1, 9):
        Soak(tmp_path / f"one{number}", seed=5).do(number)
    soak = Soak(tmp_path / "two", seed=5)
    for number in reversed(range(1, 9)):
        soak.do(number)
    assert drawn[:8] == drawn[:7:-1]
    Soak(tmp_path / "three", seed=6).do(1)
    assert drawn[-1] != drawn[0]


def test_what_succeeds_is_deleted_and_what_fails_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    soak = Soak(tmp_path / "soak", seed=1)
    assert not soak.do(1).directory.exists()
    monkeypatch.setitem(soaking.ACTIONS, "good", (bad, 1))
    monkeypatch.setitem(soaking.ACTIONS, "fine", (bad, 1))
    done = soak.do(2)
    assert done.fault == "the disk has melted"
    assert (done.directory / "home" / "notes.txt").is_file()


def test_the_summary_says_how_to_repeat_what_failed_and_the_exit_code_is_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.main(["--seed", "3", "--only", "7", "--out", str(tmp_path)]) == 0
    assert "nothing failed" in capsys.readouterr().out
    assert [path.name for path in (tmp_path / "seed3-001").iterdir()] == ["summary.txt"]
    monkeypatch.setitem(soaking.ACTIONS, "good", (bad, 1))
    monkeypatch.setitem(soaking.ACTIONS, "fine", (bad, 1))
    assert program.main(["--seed", "3", "--only", "7", "--out", str(tmp_path)]) == 1
    told = capsys.readouterr().out
    assert "the disk has melted" in told
    assert "python -m soak --seed 3 --only 7" in told
    assert "hfedms-sim run x" in told
    assert (tmp_path / "seed3-002" / "actions").is_dir()


def test_a_soak_lasts_as_long_as_it_is_told_and_watches_a_campaign_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(soaking, "watched", lambda *arguments: samples(growing=0.2))
    monkeypatch.setitem(soaking.ACTIONS, "good", (lambda scene: sleep(0.05), 1))
    monkeypatch.setitem(soaking.ACTIONS, "fine", (lambda scene: sleep(0.05), 1))
    soak = Soak(tmp_path / "soak", seed=1)
    soak.last(0.5, at_a_time=2)
    assert {done.number for done in soak.done} >= {1, 2, 3, 4}
    assert not any(done.fault for done in soak.done)
    assert soak.has_failed  # by the campaign's memory
    assert "rss_mb: 100 after the warm-up, at most 118" in summary_of(soak)


def samples(growing: float) -> list[Sample]:
    """Return an hour's samples of a process whose memory grows by that share after the first ten minutes."""
    minutes = range(61)
    rss_mb = [100.0 * (1 + growing * max(0, minute - 15) / 50) for minute in minutes]
    return [Sample(60.0 * minute, rss_mb[minute], 11, 2, 2, 300.0, minute) for minute in minutes]


def test_memory_that_grows_by_more_than_a_twentieth_after_the_warm_up_is_a_leak() -> None:
    assert [growth.is_flat for growth in growths(samples(growing=0.05))] == [True] * 4
    assert [growth.is_flat for growth in growths(samples(growing=0.2))] == [False, True, True, True]
    with pytest.raises(UnexpectedError, match="too short to tell"):
        growths(samples(growing=0.0)[:2])
    warming = [sample._replace(rss_mb=300.0) if sample.elapsed_s < 590 else sample for sample in samples(0.0)]
    assert all(growth.is_flat for growth in growths(warming))


def test_files_and_threads_that_become_more_are_a_leak() -> None:
    more = [each._replace(descriptors=11 + int(each.elapsed_s // 300)) for each in samples(growing=0.0)]
    assert [growth.what for growth in growths(more) if not growth.is_flat] == ["descriptors"]
    more = [each._replace(threads=2 + int(each.elapsed_s // 900)) for each in samples(growing=0.0)]
    assert [growth.what for growth in growths(more) if not growth.is_flat] == ["threads"]


@pytest.mark.parametrize("hours", ["0", "-1", "nan", "soon"])
def test_what_is_no_time_is_refused(hours: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        program.main(["--hours", hours])
    assert refused.value.code == 2
    assert "--hours" in capsys.readouterr().err
