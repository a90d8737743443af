"""The store: own and others' rounds, the newest two checkpoints and the pinned ones, and whom it belongs to."""

from pathlib import Path

import numpy as np
import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.lineage import LineageStore, Metrics, State

MEASURED = Metrics(0.5, 1.0, 0.1, 0.5, 0.9, None)


def state(value: float) -> State:
    return {"weights/w": np.full(3, value, dtype=np.float32)}


def filled(directory: Path, rounds: int, pins: tuple[str, ...] = ()) -> LineageStore:
    directory.mkdir(exist_ok=True)
    store = LineageStore(directory, pins=pins)
    for number in range(1, rounds + 1):
        store.note_learnt(number, f"l{number}", True)
        store.note_metrics(number, f"l{number}", None, MEASURED)
        store.save(number, f"l{number}", state(number))
    return store


def kept(directory: Path) -> list[str]:
    return sorted(f"{path.parent.name}/{path.stem}" for path in directory.glob("*/*.safetensors"))


def test_the_newest_two_and_the_pinned_are_kept(tmp_path: Path) -> None:
    store = filled(tmp_path / "a", 5, pins=("l2",))
    assert kept(tmp_path / "a") == ["checkpoints/00000004-l4", "checkpoints/00000005-l5", "pinned/00000002-l2"]
    store.save(6, "l6", state(6), pinned=True)
    assert kept(tmp_path / "a") == ["checkpoints/00000005-l5", "pinned/00000002-l2", "pinned/00000006-l6"]


def test_the_newest_state_on_the_way_is_found_and_a_damaged_one_is_skipped_in_one_line(tmp_path: Path) -> None:
    filled(tmp_path / "a", 5).close()
    notices: list[str] = []
    store = LineageStore(tmp_path / "a", on_notice=notices.append)
    way = [f"l{number}" for number in range(1, 8)]
    place, found = store.newest_state(way) or (None, {})
    assert (place, found["weights/w"][0]) == (4, 5.0)
    path = tmp_path / "a" / "checkpoints" / "00000005-l5.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    place, found = store.newest_state(way) or (None, {})
    assert (place, found["weights/w"][0]) == (3, 4.0)
    assert len(notices) == 1
    assert "00000005-l5.safetensors: checkpoint skipped" in notices[0]
    assert not path.exists()
    assert store.newest_state(["l1", "other"]) is None


def test_what_another_run_has_learnt_is_taken_over_and_its_directory_left_alone(tmp_path: Path) -> None:
    filled(tmp_path / "a", 3).close()
    (tmp_path / "b").mkdir()
    before = {path: path.read_bytes() for path in (tmp_path / "a").rglob("*") if path.is_file()}
    store = LineageStore(tmp_path / "b", [tmp_path / "a"])
    assert store.recall_round(2, "l2") is True
    assert store.metrics(2, "l2", None) == MEASURED
    assert store.metrics(2, "l2", 1) is None  # with another probe
    assert store.recall_round(2, "other") is None
    assert store.newest_state(["l1", "l2", "l3"]) is not None
    store.close()
    alone = LineageStore(tmp_path / "b")
    assert alone.metrics(2, "l2", None) == MEASURED
    assert alone.newest_state(["l3"]) is None
    assert {path: path.read_bytes() for path in (tmp_path / "a").rglob("*") if path.is_file()} == before


def test_a_checkpoint_that_another_run_has_dropped_meanwhile_is_passed_over_in_silence(tmp_path: Path) -> None:
    writer = filled(tmp_path / "a", 3)
    notices: list[str] = []
    reader = LineageStore(None, [tmp_path / "a"], on_notice=notices.append)
    writer.save(4, "l4", state(4))  # drops that of round 2
    place, _ = reader.newest_state(["l1", "l2"]) or (None, {})
    assert place is None
    assert not notices


def test_a_directory_that_learns_from_another_root_is_refused_with_the_difference(tmp_path: Path) -> None:
    directory = tmp_path / "run" / "learning"
    directory.mkdir(parents=True)
    root = LineageStore(directory).claim({"threads": 1, "model": "cnn"})
    assert LineageStore(directory).claim({"model": "cnn", "threads": 1}) == root
    with pytest.raises(InputError, match=r"run: was trained with another threads: 1, now 2"):
        LineageStore(directory).claim({"threads": 2, "model": "cnn"})


@pytest.mark.parametrize("damage", ["", "{", "[1]", '{"settings": {"threads": 7}, "lineage": "x"}'])
def test_a_damaged_root_is_reported_and_written_anew(tmp_path: Path, damage: str) -> None:
    LineageStore(tmp_path).claim({"threads": 1})
    sound = (tmp_path / "root.json").read_text()
    (tmp_path / "root.json").write_text(damage)
    notices: list[str] = []
    LineageStore(tmp_path, on_notice=notices.append).claim({"threads": 1})
    assert len(notices) == 1
    assert (tmp_path / "root.json").read_text() == sound


def test_a_store_without_a_directory_keeps_nothing() -> None:
    store = LineageStore(None)
    store.note_learnt(1, "l1", True)
    assert store.is_empty
    assert not store.keeps_checkpoints()
    assert store.recall_round(1, "l1") is None
