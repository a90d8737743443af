"""What may be gone on with: anything else is refused in one line, and nothing changes."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from hfedms_sim.cli import main
from hfedms_sim.simulation import run
from hfedms_sim.system.files import write_atomically
from tests.campaign.factory import write_factory, write_radios
from tests.conftest import tiny_scenario
from tests.interrupted import error_of, outcome, write_scenario


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def contents(directory: Path) -> dict[str, tuple[bytes | None, int]]:
    """All files and directories, and when each was changed."""
    return {
        str(path): (path.read_bytes() if path.is_file() else None, path.stat().st_mtime_ns)
        for path in (directory, *directory.rglob("*"))
    }


def compare(*options: str) -> Any:
    source, (radio,) = write_factory(Path()), write_radios(Path(), (1e5,))
    command = ("compare", f"./{source}", "--profiles", f"./{radio}", "--timing-only", "--quiet", "--out", "out")
    return CliRunner().invoke(main, [*command, *options])


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (None, "campaign.json is missing"),
        ("{", "damaged"),
        ("[1]", "damaged"),
        ('{"name": "a package"}', "is not a campaign's"),
        ('{"options": {}, "trials": []}', "is not a campaign's"),
        ('{"options": {}, "cells": {}}', "older version"),
    ],
)
def test_what_is_no_campaign_is_not_gone_on_with(manifest: str | None, words: str) -> None:
    Path("out").mkdir()
    Path("out/thesis.tex").write_text("years of work")
    if manifest is not None:
        Path("out/campaign.json").write_text(manifest)
    before = contents(Path("out"))
    assert words in error_of(compare("--resume"))
    assert contents(Path("out")) == before


@pytest.mark.parametrize("left", [(), (".campaign.json.part",)])
def test_a_campaign_that_was_killed_before_it_could_write_anything_is_gone_on_with(left: tuple[str, ...]) -> None:
    Path("out").mkdir()
    for name in left:
        Path("out", name).write_text('{"opt')
    assert "exists already" in error_of(compare())
    assert compare("--resume").exit_code == 0
    assert Path("out/comparison.csv").is_file()
    assert not list(Path("out").rglob(".*"))


def test_another_campaign_is_refused_and_stays_as_it_is() -> None:
    assert compare().exit_code == 0
    before = contents(Path("out"))
    assert "another trials" in error_of(compare("--resume", "--rounds", "2"))
    assert contents(Path("out")) == before


def write_data(path: Path, seed: int) -> None:
    draws = np.random.default_rng(seed)
    device = np.repeat(np.arange(8), 40)
    images = draws.integers(0, 256, (len(device), 28, 28), dtype=np.uint8)
    np.savez(path, images=images, labels=draws.integers(0, 62, len(device)), device=device)


def test_other_content_of_a_data_file_is_refused_and_another_place_of_it_is_not() -> None:
    write_data(Path("here.npz"), 1)
    source, (radio,) = write_factory(Path()), write_radios(Path(), (1e5,))

    def compared(data: str, *options: str) -> Any:
        command = ("compare", f"./{source}", "--profiles", f"./{radio}", "--timing-only", "--quiet", "--out", "out")
        named = f"data={{set: npz, path: {Path(data).absolute()}}}"
        return CliRunner().invoke(main, [*command, "--set", named, *options])

    result = compared("here.npz")
    assert result.exit_code == 0, result.output
    assert str(Path().absolute()) not in json.dumps(json.loads(Path("out/campaign.json").read_text())["trials"])
    Path("here.npz").rename("there.npz")
    assert compared("there.npz", "--resume").exit_code == 0
    write_data(Path("there.npz"), 2)
    before = contents(Path("out"))
    assert "other content of the file in trials" in error_of(compared("there.npz", "--resume"))
    assert contents(Path("out")) == before
    assert "no such file" in error_of(compared("here.npz", "--resume"))


def test_a_trained_run_is_not_undone_by_timing_only(tmp_path: Path) -> None:
    path = write_scenario(tmp_path / "s.yaml", rounds=2)
    run(tiny_scenario(rounds=2), out=tmp_path / "run")
    command = ["run", str(path), "--out", str(tmp_path / "run"), "--resume"]
    before = contents(tmp_path / "run")
    assert "was trained" in error_of(CliRunner().invoke(main, [*command, "--timing-only"]))
    assert contents(tmp_path / "run") == before
    (tmp_path / "run" / "provenance.json").write_text("{")
    assert "was trained" in error_of(CliRunner().invoke(main, [*command, "--timing-only"]))
    assert CliRunner().invoke(main, [*command, "--quiet"]).exit_code == 0


def test_a_timing_only_run_may_be_trained_afterwards(tmp_path: Path) -> None:
    path = write_scenario(tmp_path / "s.yaml", rounds=2)
    run(tiny_scenario(rounds=2), out=tmp_path / "run", timing_only=True)
    run(tiny_scenario(rounds=2), out=tmp_path / "trained")
    command = ["run", str(path), "--out", str(tmp_path / "run"), "--resume", "--quiet"]
    assert CliRunner().invoke(main, [*command, "--timing-only"]).exit_code == 0
    assert CliRunner().invoke(main, command).exit_code == 0
    assert outcome(tmp_path / "run") == outcome(tmp_path / "trained")


def test_a_link_at_a_temporary_name_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / ".file.json.part").symlink_to(victim)
    write_atomically(tmp_path / "file.json", "{}")
    assert victim.read_text() == "precious"
    assert (tmp_path / "file.json").read_text() == "{}"
    assert not (tmp_path / "file.json").is_symlink()
    run(tiny_scenario(rounds=1), out=tmp_path / "run", timing_only=True)
    for name in ("rounds.parquet", "summary.json", "scenario.yaml"):
        (tmp_path / "run" / f".{name}.part").symlink_to(victim)
    path = write_scenario(tmp_path / "s.yaml", rounds=1)
    command = ["run", str(path), "--out", str(tmp_path / "run"), "--resume", "--timing-only", "--quiet"]
    assert CliRunner().invoke(main, command).exit_code == 0
    assert victim.read_text() == "precious"
