"""show as a user meets it: closing tables again, single tables in every format, and names as ever."""

import csv
import json
import shutil
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hfedms_sim.cli import main
from hfedms_sim.simulation import open_run
from hfedms_sim.trace import TABLES
from tests.campaign.factory import write_factory, write_radios
from tests.conftest import without_checksums
from tests.interrupted import error_of, write_scenario

MARKUP = "[/b]<b>|$x$"


def hfedms_sim(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(each) for each in arguments])


def shown(*arguments: str | Path) -> str:
    result = hfedms_sim("show", *arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A trained run, and what `run` printed."""
    place = tmp_path_factory.mktemp("trained")
    source = write_scenario(place / "s.yaml", rounds=2, targets=[0.01, 0.99])
    result = hfedms_sim("run", source, "--out", place / "run")
    assert result.exit_code == 0, result.output
    return place / "run", result.stdout


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A campaign in which one radio is refused, in a directory that looks like markup, and what `compare` printed."""
    place = tmp_path_factory.mktemp("compared") / "[b]"
    place.mkdir()
    profiles = ",".join(write_radios(place, (1e5, 2e5, 1e-3)))
    arguments = ("--profiles", profiles, "--seeds", "1,2", "--out", place / "out")
    result = hfedms_sim("compare", write_factory(place, rounds=2), *arguments)
    assert result.exit_code == 0, result.output
    return place / "out", result.stdout


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text)))


def test_a_run_is_shown_as_it_ended(trained: tuple[Path, str]) -> None:
    run, printed = trained
    assert shown(run) == printed
    assert "hall (fast: 8 kbit/s up, 8 kbit/s down)" in printed
    assert "Until the model was good enough" in printed


def test_what_a_file_says_in_brackets_is_text(trained: tuple[Path, str], tmp_path: Path) -> None:
    """Names in scenarios have no brackets, but a directory may come from anywhere."""
    copy = without_checksums(shutil.copytree(trained[0], tmp_path / "copy"))
    summary = json.loads((copy / "summary.json").read_text())
    summary |= {"scenario": MARKUP, "strategy": MARKUP, "profile": MARKUP, "energy_missing": [MARKUP]}
    summary["limited_by"]["text"] = MARKUP
    (copy / "summary.json").write_text(json.dumps(summary))
    text = shown(copy)
    assert f"{MARKUP}: {MARKUP} over {MARKUP}" in text
    assert f"│ limited by     │ {MARKUP} " in text
    assert f"not modelled ({MARKUP})" in text
    assert f"│ {MARKUP} │ 0.01     │" in text
    (row,) = [line for line in shown(copy, "--format", "markdown").splitlines() if line.startswith("| limited by |")]
    assert r"\|" in row


def test_a_campaign_is_shown_as_it_ended(compared: tuple[Path, str]) -> None:
    campaign, printed = compared
    assert shown(campaign) == printed
    assert "4 rounds trained, 4 reused" in printed
    assert "/[b]/" in "".join(printed.split())
    assert "† " in printed


def test_a_timing_only_run_and_campaign_are_shown_as_they_ended(tmp_path: Path) -> None:
    source = write_factory(tmp_path, rounds=1)
    ran = hfedms_sim("run", source, "--timing-only", "--out", tmp_path / "run")
    assert shown(tmp_path / "run") == ran.stdout
    assert "no targets" in error_of(hfedms_sim("show", tmp_path / "run", "--table", "targets"))
    swept = hfedms_sim("sweep", source, "--grid", "rounds=1,2", "--timing-only", "--out", tmp_path / "out")
    assert shown(tmp_path / "out") == swept.stdout
    assert "rounds trained" not in swept.stdout


def test_csv_of_targets_has_every_digit_and_nothing_where_none_was_reached(trained: tuple[Path, str]) -> None:
    run, _ = trained
    reached, missed = rows_of(shown(run, "--table", "targets", "--format", "csv"))
    target, _ = open_run(run).summary["targets"]
    assert float(reached["simulated_s"]) == target["simulated_s"]
    assert (int(reached["round"]), int(reached["bytes"])) == (target["round"], target["bytes"])
    assert (missed["accuracy"], missed["round"], missed["simulated_s"]) == ("0.99", "", "")


@pytest.mark.parametrize("table", ["rounds", "sensors"])
def test_csv_of_rounds_and_sensors_has_every_column_of_the_trace(table: str, trained: tuple[Path, str]) -> None:
    run, _ = trained
    rows = rows_of(shown(run, "--table", table, "--format", "csv"))
    assert list(rows[0]) == [column.name for column in TABLES[table].columns]
    assert len(rows) == len(open_run(run).arrow(table))


def test_classes_and_confusion_are_those_of_the_final_model(trained: tuple[Path, str]) -> None:
    run, _ = trained
    result = open_run(run)
    classes = rows_of(shown(run, "--table", "classes", "--format", "csv"))
    assert [float(row["accuracy"]) for row in classes] == result.accuracy_by_class().tolist()
    assert sum(int(row["test samples"]) for row in classes) == len(result.predictions())
    matrix = rows_of(shown(run, "--table", "confusion", "--format", "csv"))
    counts = [[int(count) for name, count in row.items() if name != "class"] for row in matrix]
    assert counts == result.confusion_matrix().to_numpy().tolist()
    assert [row["class"] for row in matrix] == list(matrix[0])[1:]
    assert "the whole matrix" in shown(run, "--table", "confusion")


@pytest.mark.parametrize("table", ["comparison", "trials"])
def test_csv_of_a_campaign_is_the_file_that_it_left(table: str, compared: tuple[Path, str]) -> None:
    campaign, _ = compared
    assert shown(campaign, "--table", table, "--format", "csv") == (campaign / f"{table}.csv").read_text()


def test_every_trial_has_a_row_and_a_refused_one_its_reason(compared: tuple[Path, str]) -> None:
    text = shown(compared[0], "--table", "trials", "--format", "markdown")
    rows = [line for line in text.splitlines() if line.startswith("| 0")]
    assert [row.split(" | ")[0] for row in rows] == [
        f"| {number:04d}-radio{radio}-fedavg-seed{seed}"
        for number, (radio, seed) in enumerate([(0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (2, 2)], 1)
    ]
    assert all("refused: the first round takes" in row for row in rows[-2:])


def test_markdown_and_latex_have_the_words_of_the_table(trained: tuple[Path, str], compared: tuple[Path, str]) -> None:
    run, _ = trained
    markdown = shown(run, "--format", "markdown")
    assert "| sensors | 8 in 1 cell |" in markdown
    assert "**Until the model was good enough**" in markdown
    assert r"sensors & 8 in 1 cell \\" in shown(run, "--table", "closing", "--format", "latex")
    latex = shown(compared[0], "--format", "latex")
    assert r"time, less reference's" in latex
    assert "\n% " in latex


def test_a_table_that_there_is_not_and_csv_of_two_are_refused(
    trained: tuple[Path, str], compared: tuple[Path, str]
) -> None:
    assert "is a run, whose tables are closing" in error_of(hfedms_sim("show", trained[0], "--table", "trials"))
    assert "is a campaign, whose tables are" in error_of(hfedms_sim("show", compared[0], "--table", "rounds"))
    assert "--table" in error_of(hfedms_sim("show", trained[0], "--format", "csv"))
    assert "runs and campaigns" in error_of(hfedms_sim("show", "quickstart", "--table", "closing"))


def test_a_run_without_a_model_or_an_end_is_one_line(trained: tuple[Path, str], tmp_path: Path) -> None:
    copy = without_checksums(shutil.copytree(trained[0], tmp_path / "copy"))
    (copy / "learning" / "model.safetensors").unlink()
    assert "no model" in error_of(hfedms_sim("show", copy, "--table", "classes"))
    (copy / "summary.json").write_text("{}")
    assert "damaged" in error_of(hfedms_sim("show", copy))
    (copy / "summary.json").unlink()
    assert "not a finished run" in error_of(hfedms_sim("show", copy))


def test_a_directory_of_an_earlier_version_is_shown_without_what_it_lacks(
    trained: tuple[Path, str], tmp_path: Path
) -> None:
    copy = without_checksums(shutil.copytree(trained[0], tmp_path / "copy"))
    (copy / "sensors.parquet").unlink()
    summary = json.loads((copy / "summary.json").read_text())
    for key in ("cells", "limited_by", "energy_missing", "faults"):
        del summary[key]
    (copy / "summary.json").write_text(json.dumps(summary))
    text = shown(copy)
    assert "busiest cell" not in text
    assert "simulated time" in text
    assert "earlier version" in error_of(hfedms_sim("show", copy, "--table", "sensors"))


def test_a_shipped_name_wins_over_a_directory_of_that_name(
    trained: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(trained[0], "quickstart")
    assert shown("quickstart").startswith("name: quickstart")
    assert "Tables and summary: quickstart" in shown("./quickstart")


@pytest.mark.parametrize(("strategy", "codec"), [("hfedms-d", "none"), ("hfedms-plus", "int8")])
def test_a_setting_made_of_others_has_the_defaults_of_its_strategy(strategy: str, codec: str) -> None:
    words = [line.replace("│", " ").split() for line in shown(strategy).splitlines()]
    (relay,) = (line for line in words if line[:1] == ["strategy.compression.relay"])
    assert relay[1] == codec
