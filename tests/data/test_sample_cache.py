"""Caches of generated samples change nothing but the time it takes."""

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hfedms_sim.data.glyphs import glyphs as glyphs_module
from hfedms_sim.data.glyphs.glyphs import Glyphs
from hfedms_sim.data.sample_cache import RecentSamples
from hfedms_sim.data.sample_cache import cache_home as home_of

DATA = Glyphs(seed=1, devices=3, types=2)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The devices that were drawn, in order."""
    log: list[int] = []
    draw = glyphs_module.write_characters

    def logged(draws, device, labels):  # type: ignore[no-untyped-def]
        log.append(device)
        return draw(draws, device, labels)

    monkeypatch.setattr(glyphs_module, "write_characters", logged)
    return log


def cached_files(home: Path) -> list[Path]:
    return [path for path in home.rglob("*") if path.is_file()]


def test_cached_images_are_those_drawn(drawn: list[int], cache_home: Path) -> None:
    fresh = DATA.train_inputs(1)
    assert np.array_equal(DATA.train_inputs(1), fresh)
    assert len(DATA.test_inputs(1)) > 0
    assert drawn == [1]
    assert [path.name for path in cached_files(cache_home)] == ["1.glyphs"]


def test_both_polarities_share_a_cache_but_other_settings_do_not(drawn: list[int]) -> None:
    DATA.train_inputs(0)
    Glyphs(seed=1, devices=9, types=2, ink="dark").train_inputs(0)
    assert drawn == [0]
    Glyphs(seed=2, devices=3, types=2).train_inputs(0)
    Glyphs(seed=1, devices=3, types=3).train_inputs(0)
    assert drawn == [0, 0, 0]


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "garbage", "directory"])
def test_a_damaged_file_is_drawn_again(damage: str, drawn: list[int], cache_home: Path) -> None:
    fresh = DATA.train_inputs(1)
    (file,) = cached_files(cache_home)
    content = file.read_bytes()
    if damage == "directory":
        file.unlink()
        file.mkdir()
    else:
        flipped = content[:5000] + bytes([content[5000] ^ 1]) + content[5001:]
        file.write_bytes({"flip": flipped, "cut": content[:-1], "empty": b"", "garbage": b"\x80\x04."}[damage])
    assert np.array_equal(DATA.train_inputs(1), fresh)
    assert drawn == [1, 1]
    if damage != "directory":
        assert file.read_bytes() == content  # and mended
    assert len(cached_files(cache_home)) == (0 if damage == "directory" else 1)  # no temporary file stays


@pytest.mark.parametrize("home", ["/dev/null/nowhere", "/proc/nowhere", "/tmp/\x7f" + "x" * 300])
def test_without_a_place_to_write_it_works_the_same(
    home: str, drawn: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = DATA.train_inputs(1)
    monkeypatch.setenv("XDG_CACHE_HOME", home)
    assert np.array_equal(DATA.train_inputs(1), fresh)
    assert drawn == [1, 1]


def test_the_cache_is_in_the_users_cache_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for ignored in ("", "relative/path"):
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert home_of() == tmp_path / ".cache" / "hfedms_sim"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert home_of() == tmp_path / ".cache" / "hfedms_sim"


def test_without_a_home_nothing_is_cached(drawn: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    assert home_of() is None
    assert len(DATA.train_inputs(1)) > 0


def test_data_of_another_skew_has_a_cache_of_its_own_and_the_default_keeps_the_old_one(
    drawn: list[int], cache_home: Path
) -> None:
    skewed = replace(DATA, skew=1.5)
    DATA.train_inputs(1)
    images = skewed.train_inputs(1)
    assert drawn == [1, 1]
    assert np.array_equal(skewed.train_inputs(1), images)
    replace(DATA, skew=1.0).train_inputs(1)
    assert drawn == [1, 1]
    assert sorted(path.parent.parent.name for path in cached_files(cache_home)) == [
        "glyphs-1-seed-1-types-2",
        "glyphs-1-seed-1-types-2-skew-1.5",
    ]


def test_memory_keeps_what_was_asked_for_last_up_to_its_bytes() -> None:
    recent = RecentSamples(most_bytes=30)
    samples = {device: np.full(10, device, dtype=np.uint8) for device in range(5)}
    for device in range(3):
        recent.put(device, samples[device])
    assert recent.get(0) is samples[0]
    recent.put(3, samples[3])
    assert [recent.get(device) is None for device in range(4)] == [False, True, False, False]
    recent.put(3, samples[4])
    assert recent.get(3) is samples[4]
    assert recent.get(0) is samples[0]


def test_what_is_larger_than_the_memory_is_not_kept() -> None:
    recent = RecentSamples(most_bytes=30)
    recent.put(0, np.zeros(10, dtype=np.uint8))
    recent.put(1, np.zeros(31, dtype=np.uint8))
    assert recent.get(1) is None
    assert recent.get(0) is not None
    recent.put(2, np.zeros(30, dtype=np.uint8))
    assert recent.get(2) is not None


def test_a_copy_of_a_memory_is_empty() -> None:
    recent = RecentSamples(most_bytes=30)
    recent.put(0, np.zeros(10, dtype=np.uint8))
    assert copy.deepcopy(recent).get(0) is None
