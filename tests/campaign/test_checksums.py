"""The checksums of a campaign's own files, and that its trials' directories stay as they were listed."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hfedms_sim.campaign import Axes, Campaign, conduct, open_campaign, read_records, trials_of
from hfedms_sim.campaign.finished import finished_trials
from hfedms_sim.campaign.tasks import Task, TrialTask
from hfedms_sim.errors import InputError
from hfedms_sim.run_directory import RunDirectory
from hfedms_sim.system.checksums import SUMS, Checksums
from tests.campaign.factory import POISSON, HereWorkers, write_factory, write_radios

REFUSED = r"damaged \(its checksum in SHA256SUMS does not match\)"
TABLES = {"comparison.csv", "trials.csv", "curves.csv"}


def conducted(place: Path, workers: HereWorkers | None = None) -> list[str]:
    """Play, or go on with, a campaign of radios that part on the way; return what was noted."""
    axes, out = Axes(profiles=write_radios(place, (4e3, 2e5, 5e5))), place / "out"
    directory = RunDirectory(out, is_new=False) if out.exists() else RunDirectory.at(out)
    notices: list[str] = []
    trials = trials_of(write_factory(place, stream=POISSON), axes)
    conduct(Campaign(directory, trials, on_notice=notices.append), workers or HereWorkers())
    return notices


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained campaign, to be copied."""
    made = tmp_path_factory.mktemp("campaign")
    conducted(made)
    return made


@pytest.fixture
def copy(place: Path, tmp_path: Path) -> Path:
    return shutil.copytree(place, tmp_path / "copy")


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x01
    path.write_bytes(content)


def test_a_campaign_lists_its_own_files_and_leaves_its_trials_to_themselves(place: Path) -> None:
    own = {*(Checksums(place / "out").listed() or {})}
    assert own == {"campaign.json", "training_tree.json", *TABLES, *(f"records/{name}.json" for name in names(place))}
    assert not Checksums(place / "out").damages()


def names(place: Path) -> list[str]:
    return list(read_records(place / "out"))


def test_no_trial_is_changed_by_those_that_learn_from_it(place: Path) -> None:
    reused = [record.provenance["rounds_reused"] for record in read_records(place / "out").values()]
    assert any(reused)
    for name in names(place):
        directory = place / "out" / "trials" / name
        assert Checksums(directory).listed()
        assert not Checksums(directory).damages()


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("campaign.json", open_campaign),
        ("trials.csv", open_campaign),
        ("campaign.json", finished_trials),
        ("comparison.csv", lambda out: open_campaign(out).comparison),
        ("trials.csv", finished_trials),
    ],
)
def test_a_file_of_a_campaign_that_was_changed_is_refused(copy: Path, name: str, read: Callable[[Path], Any]) -> None:
    flip(copy / "out" / name)
    with pytest.raises(InputError, match=rf"{name}: {REFUSED}"):
        read(copy / "out")


def test_a_table_that_is_gone_does_not_make_a_campaign_unfinished_or_without_refusals(copy: Path) -> None:
    (copy / "out" / "trials.csv").unlink()
    with pytest.raises(InputError, match=r"trials\.csv: damaged \(it is missing, and SHA256SUMS lists it\)"):
        open_campaign(copy / "out")


def test_the_table_rounds_of_a_campaign_is_made_of_sound_tables_only(copy: Path) -> None:
    flip(copy / "out" / "trials" / names(copy)[1] / "rounds.parquet")
    opened = open_campaign(copy / "out")
    assert len(opened.trials) == 3
    with pytest.raises(InputError, match=rf"rounds\.parquet: {REFUSED}"):
        _ = opened.rounds


def test_there_is_no_list_while_a_campaign_goes_on_and_a_sound_one_at_its_end(copy: Path) -> None:
    seen: list[bool] = []

    class Looking(HereWorkers):
        def start(self, key: str, task: Task) -> None:
            if isinstance(task, TrialTask):
                seen.append((copy / "out" / SUMS).exists())
            super().start(key, task)

    (copy / "out" / "records" / f"{names(copy)[0]}.json").unlink()
    assert conducted(copy, Looking()) == []
    assert seen == [False]
    assert not Checksums(copy / "out").damages()
    assert len(Checksums(copy / "out").listed() or {}) == 2 + 3 + 3


def test_a_training_tree_that_was_changed_is_made_anew_and_not_listed_as_it_is(copy: Path) -> None:
    tree = copy / "out" / "training_tree.json"
    text = tree.read_text()
    tree.write_text(text.replace('"parent": null', '"parent":  null', 1))
    assert tree.read_text() != text
    (copy / "out" / "records" / f"{names(copy)[0]}.json").unlink()
    (line,) = conducted(copy)
    assert line == f"{tree}: damaged, and made anew"
    assert tree.read_text() == text
    assert not Checksums(copy / "out").damages()


def test_a_campaign_of_which_campaign_json_was_changed_is_not_gone_on_with(copy: Path) -> None:
    flip(copy / "out" / "campaign.json")
    with pytest.raises(InputError, match=rf"campaign\.json: {REFUSED}"):
        conducted(copy)
    assert (copy / "out" / SUMS).exists()
