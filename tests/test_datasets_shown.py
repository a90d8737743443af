"""Data sets on the command line: the list, where FEMNIST comes from, and what a copy holds."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from hfedms_sim.cli import main


def shown(*arguments: str, exit_code: int = 0) -> str:
    result = CliRunner().invoke(main, list(arguments))
    assert result.exit_code == exit_code, result.output
    return result.output


def small_npz(path: Path) -> Path:
    rng = np.random.default_rng(1)
    labels, device = np.arange(60) % 10, np.arange(60) // 12
    np.savez(path, images=rng.integers(0, 50, (60, 28, 28), dtype=np.uint8), labels=labels, device=device)
    return path


def test_every_data_set_is_listed() -> None:
    listed = shown("list", "datasets")
    assert all(name in listed for name in ("glyphs", "npz", "leaf", "parquet", "vibration"))


def test_femnist_is_explained_and_its_settings_are_shown() -> None:
    text = shown("show", "femnist")
    assert "LEAF" in text
    assert "data: {set: leaf, path: DIR}" in text


def test_a_copy_is_summed_up(tmp_path: Path) -> None:
    text = shown("show", str(small_npz(tmp_path / "own.npz")))
    assert "50 for training, 10 for testing" in text
    assert "12 to 12, median 12" in text
    assert "10 of 10" in text
    assert "1x28x28" in text
    assert "SHA-256 of own.npz" in text


def test_a_copy_of_features_with_many_classes_is_summed_up(tmp_path: Path) -> None:
    labels = np.arange(300) % 150
    np.savez(tmp_path / "own.npz", inputs=np.zeros((300, 16)), labels=labels, device=np.zeros(300, dtype=int))
    text = shown("show", str(tmp_path / "own.npz"))
    assert "150 of 150" in text
    assert "polarity" not in text


def test_a_data_set_is_shown_with_its_keys() -> None:
    text = shown("show", "vibration")
    assert "data.sensors_per_machine" in text
    assert "data.path" in shown("show", "npz")


def test_what_is_no_data_set_is_refused(tmp_path: Path) -> None:
    shown("show", str(tmp_path), exit_code=2)
    shown("show", str(tmp_path / "missing.npz"), exit_code=2)
    shown("paper", "grouping", "--data", str(tmp_path / "missing.txt"), exit_code=2)


def test_a_relative_path_starts_at_the_scenarios_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small_npz(tmp_path / "own.npz")
    text = "{name: own, rounds: 2, model: tiny-mlp, sensors: {count: 5}, data: {set: npz, path: own.npz}, "
    text += "strategy: {name: hfedms-d, beta: 2}, cells: [{name: hall, profile: ethernet}]}"
    (tmp_path / "own.yaml").write_text(text)
    monkeypatch.chdir("/")
    out = tmp_path / "run"
    shown("run", str(tmp_path / "own.yaml"), "--timing-only", "--out", str(out))
    shown("run", str(out / "scenario.yaml"), "--timing-only", "--out", str(tmp_path / "again"))
    assert (out / "captures.parquet").read_bytes() == (tmp_path / "again" / "captures.parquet").read_bytes()


def test_more_sensors_than_devices_are_refused(tmp_path: Path) -> None:
    path = small_npz(tmp_path / "own.npz")
    out = tmp_path / "run"
    arguments = ["run", "quickstart", "--timing-only", "--out", str(out), "--set", f"data={{set: npz, path: {path}}}"]
    assert "has 5 devices, but sensors.count = 80" in shown(*arguments, exit_code=2)
    assert not out.exists()
