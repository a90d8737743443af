"""What an experiment's directory is made of: its data are part of it, and what is damaged is told, not hidden."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from hfedms_sim.campaign import workers_for
from hfedms_sim.campaign.tasks import Options
from hfedms_sim.errors import InputError
from hfedms_sim.paper.catalogue import EXPERIMENTS
from hfedms_sim.paper.conduct import Conductor
from hfedms_sim.paper.study import Study
from tests.paper.test_command import refused
from tests.paper.test_conduct import FORGETTING, INTERVALS, SCC, TINY, conductor

PARAMETERS = EXPERIMENTS["parameters"]


def on_data(directory: Path, data: Path | None) -> Conductor:
    study = Study(TINY, data, chosen_seeds=(1,))
    return Conductor(study, directory, lambda: workers_for(1, None, Options()), "hfedms-sim paper")


@pytest.fixture(scope="module")
def conducted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("paper")
    conductor(directory).conduct(INTERVALS)
    return directory


@pytest.fixture
def copy(conducted: Path, tmp_path: Path) -> Path:
    shutil.copytree(conducted / "intervals", tmp_path / "copy" / "intervals")
    return tmp_path / "copy"


def data_at(path: Path, seed: int) -> Path:
    images = np.random.default_rng(seed).integers(0, 256, (4, 28, 28), dtype=np.uint8)
    np.savez(path, images=images, labels=np.arange(4), device=np.arange(4))
    return path


def test_other_data_are_another_experiment_whatever_their_file_is_called(tmp_path: Path) -> None:
    one, other = data_at(tmp_path / "one.npz", 1), data_at(tmp_path / "other.npz", 2)
    place = tmp_path / "out"
    on_data(place, one).conduct(PARAMETERS)
    on_data(place, Path(shutil.copy(one, tmp_path / "renamed.npz"))).require_place(PARAMETERS, resume=True)
    for data, now in ((other, "sha256:"), (None, "glyphs")):
        with pytest.raises(InputError, match=f"was made with another data: 'sha256:.*, now '{now}"):
            on_data(place, data).require_place(PARAMETERS, resume=True)


def test_a_directory_that_does_not_say_on_which_data_it_was_made_is_gone_on_with(copy: Path) -> None:
    marker = copy / "intervals" / "experiment.json"
    said = json.loads(marker.read_text())
    assert said.pop("data") == "glyphs"
    marker.write_text(json.dumps(said))
    conductor(copy).require_place(INTERVALS, resume=True)
    conductor(copy).conduct(INTERVALS)
    assert json.loads(marker.read_text())["data"] == "glyphs"


def test_nothing_is_shown_of_a_finished_directory_that_was_damaged_since(copy: Path) -> None:
    place = copy / "intervals"
    (place / "campaign.json").write_text((place / "campaign.json").read_text()[:100])
    claims = (place / "claims.json").read_bytes()
    with pytest.raises(InputError, match=r"campaign\.json: damaged"):
        conductor(copy, without_training=True).require_place(INTERVALS, resume=True)
    assert (place / "claims.json").read_bytes() == claims


def test_a_damaged_record_of_an_unfinished_directory_is_named_and_left_out(copy: Path) -> None:
    place = copy / "intervals"
    (place / "SHA256SUMS").unlink()
    record = sorted((place / "records").iterdir())[0]
    record.write_text(record.read_text().replace('"round"', '"rounds"', 1))
    reader = conductor(copy, without_training=True)
    told: list[str] = []
    reader.on_notice = told.append
    reader.require_place(INTERVALS, resume=True)
    outcome = reader.conduct(INTERVALS)
    assert [line for line in told if record.name in line and "damaged" in line and "left out" in line]
    assert sum(not row[1] for row in outcome.tables[0].rows) == 1  # one of five T has no accuracy


def test_what_is_still_to_play_counts_each_trial_once_and_none_that_is_finished(copy: Path, tmp_path: Path) -> None:
    """Forgetting's trials are among those of intervals; SCC has three of its own."""
    fresh, played = conductor(tmp_path / "fresh"), conductor(copy)
    assert fresh.unfinished_seconds([INTERVALS, FORGETTING]) == fresh.unfinished_seconds([INTERVALS]) > 0
    assert played.unfinished_seconds([INTERVALS, FORGETTING]) == 0
    assert 0 < played.unfinished_seconds([SCC]) < fresh.unfinished_seconds([SCC])


def test_readings_plays_both_readings(tmp_path: Path) -> None:
    line = refused("readings", "--reading", "program", "--out", str(tmp_path / "out"))
    assert line == "error: paper readings plays both readings; leave --reading out"
    assert not (tmp_path / "out").exists()
