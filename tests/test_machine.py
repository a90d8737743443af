"""What the machine has left, as its files say it."""

from pathlib import Path

import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.system.machine import MEMORY_LIMIT, available_memory_bytes, free_disk_bytes


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A system with 600 KiB left, in whose control groups there is no limit."""
    for name in ("proc/self", "sys/fs/cgroup/job"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "proc/meminfo").write_text("MemTotal:       1000 kB\nMemAvailable:    600 kB\n")
    (tmp_path / "proc/self/cgroup").write_text("0::/job\n")
    (tmp_path / "sys/fs/cgroup/job/memory.max").write_text("max\n")
    (tmp_path / "sys/fs/cgroup/job/memory.current").write_text("1000\n")
    return tmp_path


def test_memory_is_what_the_system_says_is_available(root: Path) -> None:
    assert available_memory_bytes(root) == 600 * 1024


def test_a_container_may_have_less(root: Path) -> None:
    (root / "sys/fs/cgroup/job/memory.max").write_text("409600\n")
    (root / "sys/fs/cgroup/job/memory.current").write_text("102400\n")
    assert available_memory_bytes(root) == 409600 - 102400
    (root / "sys/fs/cgroup/job/memory.stat").write_text("anon 1\ninactive_file 400\n")
    assert available_memory_bytes(root) == 409600 - 102400 + 400  # files that are only cached


def test_the_group_around_a_group_counts_too(root: Path) -> None:
    (root / "sys/fs/cgroup/memory.max").write_text("5000\n")
    (root / "sys/fs/cgroup/memory.current").write_text("2000\n")
    assert available_memory_bytes(root) == 3000


def test_a_container_that_is_full_has_nothing_left(root: Path) -> None:
    (root / "sys/fs/cgroup/job/memory.max").write_text("100\n")
    assert available_memory_bytes(root) == 0


def test_a_system_that_does_not_tell_is_not_asked_twice(tmp_path: Path) -> None:
    assert available_memory_bytes(tmp_path) is None


def test_what_the_user_allows_is_the_answer_where_it_is_less(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MEMORY_LIMIT, "1kB")
    assert available_memory_bytes(root) == 1000
    monkeypatch.setenv(MEMORY_LIMIT, "1GB")
    assert available_memory_bytes(root) == 600 * 1024
    monkeypatch.setenv(MEMORY_LIMIT, "all")
    with pytest.raises(InputError, match="HFEDMS_SIM_MEMORY_LIMIT = 'all': must be a number with a unit"):
        available_memory_bytes(root)


def test_a_directory_that_is_not_there_has_the_room_of_the_one_above(tmp_path: Path) -> None:
    above = free_disk_bytes(tmp_path)
    assert above is not None
    assert free_disk_bytes(tmp_path / "a" / "b") == pytest.approx(above, rel=0.1)
