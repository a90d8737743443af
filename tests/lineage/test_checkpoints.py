"""A checkpoint is whole, or it is refused."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from hfedms_sim.lineage.checkpoints import DamagedCheckpointError, State, read_checkpoint, write_checkpoint

STATE: State = {
    "weights/a": np.arange(6, dtype=np.float32).reshape(2, 3).T,  # not contiguous
    "table": np.zeros((0, 3), dtype=np.int64),
    "labels": np.array([3, 1, 2]),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_checkpoint(tmp_path / "state.safetensors", 12, "abc", STATE)
    return tmp_path / "state.safetensors"


def test_what_was_written_is_read(path: Path) -> None:
    read = read_checkpoint(path, "abc")
    assert read.keys() == STATE.keys()
    assert all(np.array_equal(read[name], value) and read[name].dtype == value.dtype for name, value in STATE.items())
    assert [each.name for each in path.parent.iterdir()] == ["state.safetensors"]


def test_it_is_a_safetensors_file_like_any_other(path: Path) -> None:
    read = load_file(path)
    assert all(np.array_equal(read[name], value) for name, value in STATE.items())


def test_any_changed_byte_is_noticed_or_changes_nothing(path: Path) -> None:
    """Spaces that pad the header carry nothing."""
    sound = path.read_bytes()
    refused = 0
    for place in range(len(sound)):
        damaged = bytearray(sound)
        damaged[place] ^= 0x04
        path.write_bytes(damaged)
        try:
            read = read_checkpoint(path, "abc")
        except DamagedCheckpointError:
            refused += 1
        else:
            assert all(np.array_equal(read[name], STATE[name]) for name in STATE)
    assert refused > 0.9 * len(sound)


@pytest.mark.parametrize("kept", [0, 1, 7, 100, -1])
def test_a_file_that_was_cut_off_is_refused(path: Path, kept: int) -> None:
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(DamagedCheckpointError):
        read_checkpoint(path, "abc")


def test_a_file_that_is_gone_or_holds_another_lineage_is_refused(path: Path) -> None:
    with pytest.raises(DamagedCheckpointError, match="another lineage"):
        read_checkpoint(path, "abd")
    path.unlink()
    with pytest.raises(FileNotFoundError):
        read_checkpoint(path, "abc")


def test_a_write_that_fails_leaves_the_earlier_file_and_nothing_else(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("hfedms_sim.system.files.os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_checkpoint(path, 13, "abc", {"labels": np.zeros(5)})
    assert read_checkpoint(path, "abc").keys() == STATE.keys()
    assert [each.name for each in path.parent.iterdir()] == ["state.safetensors"]
