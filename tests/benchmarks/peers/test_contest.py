"""The contest, with contestants that only pretend to train."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from time import monotonic, sleep

import pytest

from benchmarks.peers.contest import Contestant, ContestantFailedError, one_core, take_turns

BALLAST_BYTES = 102_400_000  # of the fake contestant's child
FAKE = "tests.benchmarks.peers.fake_contestant"

Enter = Callable[..., Contestant]


@pytest.fixture
def enter(tmp_path: Path) -> Iterator[Enter]:
    with ExitStack() as ending:

        def start(name: str, behaviour: str = "good") -> Contestant:
            command = [sys.executable, "-m", FAKE, name, str(tmp_path), behaviour]
            contestant = Contestant(name, command, tmp_path / "workload.npz", tmp_path / f"{name}.log")
            return ending.enter_context(closing(contestant))

        yield start


def wait_until(is_so: Callable[[], bool], at_most_s: float = 20.0) -> None:
    give_up_s = monotonic() + at_most_s
    while not is_so():
        assert monotonic() < give_up_s, "it never came to be"
        sleep(0.01)


def ticks(directory: Path, name: str) -> int:
    path = directory / f"{name}.ticks"
    return path.stat().st_size if path.exists() else 0


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_contestants_take_turns_round_by_round(enter: Enter, tmp_path: Path) -> None:
    turns = take_turns([enter("one"), enter("other")], rounds=2)
    assert (tmp_path / "rounds").read_text().split() == ["one", "round", "other", "round"] * 2
    assert [turn.seconds for turn in turns["one"]] == [1.5, 1.5]


def test_who_waits_is_stopped_with_all_its_processes(enter: Enter, tmp_path: Path) -> None:
    contestant = enter("one")
    sleep(0.2)  # a signal sent is a signal taken, but not at once
    before = ticks(tmp_path, "one")
    sleep(0.5)
    assert ticks(tmp_path, "one") == before
    contestant.close()


def test_who_has_its_turn_runs_again(enter: Enter, tmp_path: Path) -> None:
    contestant = enter("one")
    before = ticks(tmp_path, "one")
    wait_until(lambda: bool(contestant.turn()) and ticks(tmp_path, "one") > before)


def test_the_memory_of_child_processes_counts(enter: Enter, tmp_path: Path) -> None:
    contestant = enter("one")
    wait_until(lambda: bool(contestant.turn()) and ticks(tmp_path, "one") > 0)
    assert contestant.turn().memory_bytes > BALLAST_BYTES


def test_nothing_is_left_when_a_contestant_has_been_closed(enter: Enter, tmp_path: Path) -> None:
    contestant = enter("one")
    child = int((tmp_path / "one.child").read_text())
    assert is_alive(child)
    contestant.close()
    wait_until(lambda: not is_alive(child))


def test_a_contestant_that_dies_is_named_with_its_last_words(enter: Enter) -> None:
    with pytest.raises(ContestantFailedError, match="one ended early: out of luck"):
        enter("one", "dies").turn()


def test_what_a_dead_contestant_left_behind_ends_too(enter: Enter, tmp_path: Path) -> None:
    contestant = enter("one", "dies")
    child = int((tmp_path / "one.child").read_text())
    with pytest.raises(ContestantFailedError):
        contestant.turn()
    assert is_alive(child)
    contestant.close()
    wait_until(lambda: not is_alive(child))


def test_one_core_is_given_back() -> None:
    cores = os.sched_getaffinity(0)
    with one_core():
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == cores
