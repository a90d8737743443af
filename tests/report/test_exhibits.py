"""Exhibits as text, CSV, LaTeX and pictures."""

import csv
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Boxes, Figure, HeatMap, Line, Lines, Panel, Table
from hfedms_sim.report.exhibits import draw, escaped, formatted, table_csv, table_latex, table_markdown, write_exhibits
from tests.conftest import some_of
from tests.report.samples import FIGURE, PANELS, TABLE

ENDINGS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


def test_every_special_character_of_latex_is_escaped() -> None:
    assert escaped(r"a & b % $ # _ { } ~ ^ \ ") == (
        r"a \& b \% \$ \# \_ \{ \} \textasciitilde{} \textasciicircum{} \textbackslash{}"
    )


def test_a_row_of_latex_cannot_become_an_argument_of_the_line_break_before_it() -> None:
    rows = table_latex(Table("t", "", ("a",), (("[2pt]",), ("*",)))).splitlines()
    assert rows[3:6] == [r"\hline", r"{[}2pt] \\", r"{*} \\"]


def test_latex_is_a_plain_tabular_with_numbers_flush_right() -> None:
    assert table_latex(TABLE).splitlines() == [
        "% What it cost",
        "% Simulated.",
        r"\begin{tabular}{lrr}",
        r"\hline",
        r"strategy & rounds & hours \\",
        r"\hline",
        r"fedavg & 490 & 1,259 \\",
        r"hfedms-d & 1,234,567 & 0.1235 \\",
        r"none &  & 1.25e-09 \\",
        r"\hline",
        r"\end{tabular}",
    ]


def test_markdown_has_numbers_flush_right_and_title_and_note_around_it() -> None:
    assert table_markdown(TABLE).splitlines() == [
        "**What it cost**",
        "",
        "| strategy | rounds | hours |",
        "| --- | ---: | ---: |",
        "| fedavg | 490 | 1,259 |",
        "| hfedms-d | 1,234,567 | 0.1235 |",
        "| none |  | 1.25e-09 |",
        "",
        "Simulated.",
    ]


def test_what_markdown_would_read_as_markup_is_shown_as_it_is() -> None:
    text = table_markdown(Table("t", "", ("a|b",), (("<b> & *x* `y`\nz",),)))
    assert text.splitlines() == [r"| a\|b |", "| --- |", r"| &lt;b> &amp; \*x\* \`y\` z |"]


def test_a_title_of_several_lines_stays_a_comment() -> None:
    assert table_latex(replace(TABLE, title="one\ntwo")).startswith("% one two\n% Simulated.\n")


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.123456, "0.1235"), (12345.6, "12,346"), (999.96, "1000"), (0.0, "0"), (7, "7"), (-1234.5, "-1,234")],
)
def test_floats_have_four_significant_digits_and_all_those_before_the_point(value: float, shown: str) -> None:
    assert formatted(value) == shown


TEXT = st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1)


@given(st.lists(st.tuples(TEXT, st.integers(), st.floats(allow_nan=False)), min_size=1))
def test_csv_gives_back_every_text_and_every_digit(rows: list[tuple[str, int, float]]) -> None:
    header, *read = csv.reader(StringIO(table_csv(Table("t", "", ("a,b", 'c"', "d"), tuple(rows))), newline=""))
    assert header == ["a,b", 'c"', "d"]
    assert [(text, int(whole), float(real)) for text, whole, real in read] == rows


@pytest.mark.parametrize("ending", some_of(ENDINGS, kept=("png",)))
@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.title)
def test_every_panel_is_drawn_with_every_ending(panel: Panel, ending: str, tmp_path: Path) -> None:
    draw(Figure("one", "", (panel,)), tmp_path / f"one.{ending}")
    assert (tmp_path / f"one.{ending}").read_bytes().startswith(ENDINGS[ending])


@pytest.mark.thorough
@pytest.mark.parametrize("ending", ENDINGS)
def test_the_same_figure_is_the_same_bytes(ending: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        draw(FIGURE, tmp_path / f"{name}.{ending}")
    assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"two.{ending}").read_bytes()


def test_a_label_is_in_the_legend_once_whatever_panels_it_is_in(tmp_path: Path) -> None:
    draw(FIGURE, tmp_path / "figure.svg")
    svg = (tmp_path / "figure.svg").read_text(encoding="utf-8")
    assert svg.count("<!-- fedavg -->") == 1
    assert svg.count("<!-- hfedms-d, interval=3 -->") == 1


@pytest.mark.parametrize("values", [((None,),), ((0.5,),)])
def test_a_heat_map_of_one_cell_is_drawn(values: tuple[tuple[float | None]], tmp_path: Path) -> None:
    draw(Figure("one", "", (HeatMap("", "", "", ("x",), ("y",), values),)), tmp_path / "one.png")
    assert (tmp_path / "one.png").stat().st_size > 0


@pytest.mark.thorough
def test_all_exhibits_are_written_and_nothing_else_is_left(tmp_path: Path) -> None:
    written = write_exhibits([TABLE], [FIGURE], tmp_path / "out")
    names = ["costs.csv", "costs.md", "costs.tex", "costs.txt", "everything.pdf", "everything.png", "everything.svg"]
    assert sorted(path.name for path in written) == names
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names
    text = (tmp_path / "out" / "costs.txt").read_text(encoding="utf-8")
    assert "│ hfedms-d │ 1,234,567 │   0.1235 │" in text
    assert text.endswith("Simulated.\n")


def test_where_nothing_can_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file: cannot be written"):
        write_exhibits([TABLE], [], tmp_path / "file")


def test_two_tables_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="two tables"):
        write_exhibits([TABLE, TABLE], [], tmp_path)


def test_shapes_that_do_not_fit_are_refused_when_an_exhibit_is_made() -> None:
    with pytest.raises(ValueError, match="cells of a row: 1, but 2 columns"):
        Table("t", "", ("a", "b"), ((1,),))
    with pytest.raises(ValueError, match="values of y: 1, but 2"):
        Line("l", (1.0, 2.0), (1.0,))
    with pytest.raises(ValueError, match="band's edge: 0, but 1"):
        Line("l", (1.0,), (1.0,), low=(0.5,))
    with pytest.raises(ValueError, match="rows: 0, but 1 labels of y"):
        HeatMap("", "", "", ("x",), ("y",), ())
    with pytest.raises(ValueError, match="no cell 1, 0"):
        HeatMap("", "", "", ("x",), ("y",), ((1.0,),), marked=((1, 0),))
    with pytest.raises(ValueError, match="an exhibit's name"):
        Figure("../x", "", (Lines("", "", "", ()),))
    with pytest.raises(ValueError, match="at least one panel"):
        Figure("x", "", ())
    assert Boxes("", "", ()).groups == ()


def test_signs_that_latex_would_print_as_others_are_escaped() -> None:
    assert escaped("a<b|c>d --- e") == r"a\textless{}b\textbar{}c\textgreater{}d -{}-{}- e"
