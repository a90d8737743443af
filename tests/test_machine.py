"""What the machine has left, as its files say it."""

from math import inf
from pathlib import Path

import pytest

from hfedms_sim import machine


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(machine, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(machine, "_CGROUP", tmp_path)
    (tmp_path / "meminfo").write_text("MemTotal:       1000 kB\nMemAvailable:    600 kB\n")
    return tmp_path


def test_memory_is_what_the_system_says_is_available(files: Path) -> None:
    assert machine.available_memory_bytes() == 600 * 1024


def test_a_container_may_have_less(files: Path) -> None:
    (files / "memory.max").write_text("409600\n")
    (files / "memory.current").write_text("102400\n")
    assert machine.available_memory_bytes() == 409600 - 102400
    (files / "memory.max").write_text("max\n")
    assert machine.available_memory_bytes() == 600 * 1024


def test_a_container_that_is_full_has_nothing_left(files: Path) -> None:
    (files / "memory.max").write_text("100\n")
    (files / "memory.current").write_text("200\n")
    assert machine.available_memory_bytes() == 0.0


def test_a_system_that_does_not_tell_is_taken_by_all_its_pages(files: Path) -> None:
    (files / "meminfo").write_text("nonsense")
    assert 0 < machine.available_memory_bytes() <= inf


def test_a_directory_that_is_not_there_has_the_room_of_the_one_above(tmp_path: Path) -> None:
    assert machine.free_disk_bytes(tmp_path / "a" / "b") == pytest.approx(machine.free_disk_bytes(tmp_path), rel=0.1)
