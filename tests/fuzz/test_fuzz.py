"""A small share of the fuzzing that `make fuzz` does at length, and every breach there has ever been, in process."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzz.corpus import BREACHES, Breach
from fuzz.entries import ENTRIES
from fuzz.judging import Outcome, faults_of, tree_digest
from fuzz.playing import Ground


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return Ground(tmp_path_factory.mktemp("fuzz"), seed=7)


@pytest.mark.parametrize("entry", ENTRIES)
def test_hostile_input_is_refused_in_one_line_and_changes_nothing(ground: Ground, entry: str) -> None:
    for number in range(8):
        played = ground.play(entry, number, as_process=False)
        assert not played.faults, played


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(list(ENTRIES)), st.integers(1000, 10**9))
def test_any_case_keeps_the_promises(ground: Ground, entry: str, number: int) -> None:
    played = ground.play(entry, number, as_process=False)
    assert not played.faults, played


@pytest.mark.parametrize("breach", BREACHES, ids=lambda breach: breach.name)
def test_a_breach_stays_closed(ground: Ground, breach: Breach) -> None:
    played = ground.play_files(breach.name, breach.files, breach.words)
    assert not played.faults, played


def test_the_same_case_is_made_twice(ground: Ground) -> None:
    one, two = (ground.play("lists", 3, as_process=False).words for _ in range(2))
    assert one == two


@pytest.mark.parametrize(
    ("outcome", "fault"),
    [
        (Outcome(0, "", "", 1.0, 1e8), None),
        (Outcome(2, "", "error: no\n", 1.0, 1e8), None),
        (Outcome(2, "", "", 1.0, 1e8), "no line of error"),
        (Outcome(1, "", "Traceback (most recent call last)\nerror: x\n", 1.0, 1e8), "traceback"),
        (Outcome(1, "", "error: a\nerror: b\n", 1.0, 1e8), "2 lines of error"),
        (Outcome(-11, "", "error: a\n", 1.0, 1e8), "exit code -11"),
        (Outcome(0, "\x1b[31m", "", 1.0, 1e8), "prints '\\x1b'"),
        (Outcome(0, "", "", 11.0, 1e8), "11 s of processor time"),
        (Outcome(0, "", "", 1.0, 3e9), "3.0 GB"),
        (Outcome(1, "", "error: x\n", 1.0, 1e8, "ValueError()"), "raised ValueError()"),
    ],
)
def test_the_judge_sees_what_is_wrong(outcome: Outcome, fault: str | None) -> None:
    assert faults_of(outcome) == ([] if fault is None else [fault])


def test_the_guard_sees_a_changed_byte_a_new_file_and_a_link(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one")
    seen = {tree_digest(tmp_path)}
    (tmp_path / "a").write_text("two")
    seen.add(tree_digest(tmp_path))
    (tmp_path / "b").touch()
    seen.add(tree_digest(tmp_path))
    (tmp_path / "c").symlink_to("a")
    seen.add(tree_digest(tmp_path))
    assert len(seen) == 4
