"""The rows as data: who says it, what it is worth, and that nothing about them can be muddled up."""

from pathlib import Path

import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.scenario import load_profile, shipped
from hfedms_sim.scenario.yaml_io import dump_yaml
from hfedms_sim.validation.rows import Row, load_rows, shipped_rows

ROWS = shipped_rows().rows

SOUND = {
    "id": "X1",
    "what": "a throughput",
    "value": 1.0,
    "unit": "kbit/s",
    "source": "a book, page 7",
    "cites": "a book",
    "kind": "independent",
    "profile": "ethernet",
    "play": {"message_bytes": 1000},
    "reads": "uplink_kbps",
}


def written(directory: Path, *rows: dict[str, object]) -> Path:
    path = directory / "rows.yaml"
    path.write_text(dump_yaml({"base": {"name": "validate"}, "rows": list(rows)}))
    return path


def test_there_are_at_least_twenty_rows_that_are_played_and_twelve_of_them_are_independent() -> None:
    played = [row for row in ROWS if not row.missing]
    assert len(played) >= 20
    assert sum(row.kind == "independent" for row in played) >= 12


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_a_row_whose_source_is_named_by_its_profile_is_a_calibration(row: Row) -> None:
    named = " ".join(load_profile(row.profile).sources.values()).casefold()
    assert row.kind == "calibration" or row.cites.casefold() not in named


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_the_words_that_would_name_a_source_in_a_profile_name_it_in_the_row(row: Row) -> None:
    """Otherwise the rule above would look for something else."""
    assert row.cites.casefold() in row.source.casefold()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_a_row_plays_a_shipped_profile_and_says_where_its_number_comes_from(row: Row) -> None:
    assert row.profile in shipped("profile")
    assert len(row.source) > len("a book")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_a_row_brings_figures_of_the_radio_only_if_they_are_its_sources_own(row: Row) -> None:
    """E9 has the constants of its paper."""
    brought = [key for key in (row.play.set if row.play else {}) if key.startswith("cells")]
    assert not brought or row.id.startswith("E9")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"value": None}, "needs value, or low and high"),
        ({"low": 1.0, "high": 2.0}, "needs value, or low and high"),
        ({"value": None, "low": 3.0, "high": 2.0}, r"low \(3\) must be below high \(2\)"),
        ({"value": None, "low": 3.0}, "needs value, or low and high"),
        ({"unit": "Mbit/s"}, "uplink_kbps is in kbit/s, not Mbit/s"),
        ({"play": None}, "needs play and reads, or not_testable"),
        ({"kind": "guess"}, "kind"),
        ({"source": ""}, "source"),
        ({"tolerance": 5.0}, "tolerance"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_faulty_row_is_refused_in_one_line_that_names_file_and_fault(
    tmp_path: Path, change: dict[str, object], complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint) as raised:
        load_rows(written(tmp_path, SOUND | change))
    assert str(raised.value).startswith(str(tmp_path))
    assert "\n" not in str(raised.value)


def test_two_rows_with_one_id_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'X1' is used twice"):
        load_rows(written(tmp_path, SOUND, SOUND))


def test_a_row_is_played_as_soon_as_all_keys_it_needs_exist(tmp_path: Path) -> None:
    lacking = SOUND | {"id": "X2", "needs": ["latency_s", "energy.of_tomorrow"]}
    able = SOUND | {"needs": ["latency_s"]}
    first, second = load_rows(written(tmp_path, able, lacking)).rows
    assert first.missing == ""
    assert second.missing == "profile keys energy.of_tomorrow"


def test_a_single_number_is_both_ends_of_its_range(tmp_path: Path) -> None:
    ranged = SOUND | {"id": "X2", "value": None, "low": 2.0, "high": 3.0}
    assert [row.ends for row in load_rows(written(tmp_path, SOUND, ranged)).rows] == [(1.0, 1.0), (2.0, 3.0)]
