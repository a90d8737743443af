"""Why nothing can be learnt from another run, in one line."""

import json
from pathlib import Path
from typing import Any

import pytest

from hfedms_sim.lineage import LineageStore
from hfedms_sim.simulation import run
from tests.conftest import tiny_scenario

SETTINGS: dict[str, Any] = {
    "data": {"set": "glyphs", "seed": 1},
    "batch": 20,
    "strategy": {"name": "fedavg", "learning_rate": 0.01, "momentum": None},
    "seed": 1,
}


def taught(tmp_path: Path, **changes: Any) -> Path:
    """Return the learning of a run that started from the settings with these changes, and has one round."""
    learning = tmp_path / "other" / "learning"
    learning.mkdir(parents=True)
    with LineageStore(learning) as store:
        store.claim(SETTINGS | changes)
        store.note_learnt(1, "l1", True)
    return learning


def told(other: Path, *lineages: str) -> list[str]:
    notices: list[str] = []
    store = LineageStore(None, [other], on_notice=notices.append)
    store.claim(SETTINGS)
    for number, lineage in enumerate(lineages, 1):
        store.recall_round(number, lineage)
    return [line.removeprefix(f"nothing to learn from {other.parent}: ") for line in notices]


def test_a_run_of_the_same_settings_and_rounds_has_nothing_to_be_told_of(tmp_path: Path) -> None:
    assert told(taught(tmp_path), "l1", "l2") == []


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"strategy": {"name": "fedavg", "learning_rate": 0.05, "momentum": None}},
            "it has another strategy.learning_rate (0.05, here 0.01)",
        ),
        ({"batch": 30}, "it has another stream.batch (30, here 20)"),
        ({"seed": 2, "data": {"set": "glyphs", "seed": 2}}, "it has another seed (2, here 1)"),
        ({"strategy": {"name": "fedprox", "mu": 0.1}}, "it has another strategy.name (fedprox, here fedavg)"),
        (
            {"batch": 30, "seed": 2, "threads": 2, "torch": "1", "strategy": SETTINGS["strategy"]},
            "it has another stream.batch (30, here 20), seed (2, here 1), threads (2, here none) and 1 more",
        ),
    ],
)
def test_the_settings_that_differ_are_named_with_both_values(changes: Any, line: str, tmp_path: Path) -> None:
    assert told(taught(tmp_path, **changes), "other") == [line]


def test_the_same_settings_with_other_rounds_part_in_a_round_that_is_named(tmp_path: Path) -> None:
    line = "it has the same settings, but other sensors or samples took part in round 1"
    assert told(taught(tmp_path), "other", "another") == [line]


def test_a_run_that_has_learnt_nothing_says_so(tmp_path: Path) -> None:
    (tmp_path / "other" / "learning").mkdir(parents=True)
    assert told(tmp_path / "other" / "learning") == ["it has learnt nothing itself"]


@pytest.mark.parametrize("root", ["{", '{"settings": {}, "lineage": "x"}', "[" * 5000, None])
def test_without_a_sound_root_only_the_rounds_tell(root: str | None, tmp_path: Path) -> None:
    other = taught(tmp_path, batch=30)
    (other / "root.json").unlink() if root is None else (other / "root.json").write_text(root)
    assert told(other, "l1") == []
    assert told(other, "other") == ["it has no sound root.json, and its rounds are not those of this run"]


def test_a_run_tells_it_once_and_learns_all_the_same(tmp_path: Path) -> None:
    run(tiny_scenario(rounds=1), out=tmp_path / "first")
    settings = json.loads((tmp_path / "first" / "learning" / "root.json").read_text())["settings"]
    notices: list[str] = []
    other = {"name": "hfedms-d", "interval": 3, "beta": 2, "sample_ratio": 0.5, "learning_rate": 0.5}
    result = run(tiny_scenario(rounds=2, strategy=other), learn_from=[tmp_path / "first"], on_notice=notices.append)
    before = settings["strategy"]["learning_rate"]
    assert notices == [
        f"nothing to learn from {tmp_path / 'first'}: it has another strategy.learning_rate ({before}, here 0.5)"
    ]
    assert result.provenance["rounds_trained"] == 2
