"""Tables as text, CSV, LaTeX and Markdown, and all exhibits of an experiment as files. The drawing is in figures.py.

Text, LaTeX and Markdown are for reading: floats have four significant digits, but the digits before the point are
never cut, and a whole number is a whole number. CSV is for programs: every digit, so that reading a float gives the
same float.
"""

import csv
import re
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import rich.table
from rich.console import Console
from rich.text import Text

from hfedms_sim.errors import unwritable
from hfedms_sim.exhibits import Figure, Table, Value
from hfedms_sim.report.figures import draw
from hfedms_sim.system.files import write_atomically

PICTURE_ENDINGS = ("png", "svg", "pdf")

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{each: f"\\{each}" for each in "&%$#_{}"},
    "[": "{[}",  # bare, at the start of a row, it would be an argument of the line break before it
    "*": "{*}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
_MARKDOWN = re.compile(r"[\\`*_\[\]|~$]")  # what could begin markup; a backslash before it stops that
_WIDEST_COLUMNS = 1_000  # of a text file: no table is wrapped


def table_text(table: Table) -> rich.table.Table:
    """Return the table for a terminal, its note below it."""
    shown = rich.table.Table(title=Text(table.title), title_justify="left", caption_justify="left")
    shown.caption = Text(table.note) if table.note else None
    for heading, is_number in zip(table.header, _number_columns(table), strict=True):
        shown.add_column(Text(heading), justify="right" if is_number else "left")
    for row in table.rows:
        shown.add_row(*(Text(formatted(value)) for value in row))
    return shown


def table_csv(table: Table) -> str:
    """Return header and rows with every digit; an empty cell is None or the empty text."""
    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(table.header)
    writer.writerows([repr(value) if isinstance(value, float) else value for value in row] for row in table.rows)
    return file.getvalue()


def table_latex(table: Table) -> str:
    """Return a plain tabular, to be put into a table of one's own; title and note are comments above it."""
    columns = "".join("r" if is_number else "l" for is_number in _number_columns(table))
    comments = [f"% {' '.join(text.split())}" for text in (table.title, table.note) if text]
    rows = [_latex_row(row) for row in table.rows]
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\hline", _latex_row(table.header), r"\hline", *rows]
    return "\n".join([*comments, *lines, r"\hline", r"\end{tabular}", ""])


def table_markdown(table: Table) -> str:
    """Return the table as GitHub's Markdown has it, its title in bold above and its note below."""
    rule = " | ".join("---:" if is_number else "---" for is_number in _number_columns(table))
    lines = [_markdown_row(table.header), f"| {rule} |", *(_markdown_row(row) for row in table.rows)]
    title = [f"**{_markdown(table.title)}**", ""] if table.title else []
    note = ["", _markdown(table.note)] if table.note else []
    return "\n".join([*title, *lines, *note, ""])


def formatted(value: Value) -> str:
    """Return a cell as people read it: 1,234,567, 0.1235, 12,346, 1.2e-07."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if 1_000 <= abs(value) < 1e15 else f"{value:.4g}"


def escaped(text: str) -> str:
    """Return the text so that LaTeX prints it as it is."""
    signs = "".join(_LATEX.get(each, each) for each in " ".join(text.split()))
    return signs.replace("--", "-{}-").replace("--", "-{}-")  # else two are a dash; again, for three


def write_exhibits(tables: Sequence[Table], figures: Sequence[Figure], directory: Path) -> tuple[Path, ...]:
    """Write each table as NAME.txt, .csv, .tex and .md, each figure as NAME.png, .svg and .pdf; return the files.

    Each file is there whole or not at all; those that were there are replaced.
    """
    for kind, names in (("tables", [table.name for table in tables]), ("figures", [each.name for each in figures])):
        if len(set(names)) < len(names):
            raise ValueError(f"two {kind} have the same name: {sorted(names)}")
    texts = {f"{table.name}.{ending}": text for table in tables for ending, text in _texts(table).items()}
    written = [directory / name for name in texts]
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for path, text in zip(written, texts.values(), strict=True):
            write_atomically(path, text)
    except OSError as error:
        raise unwritable(directory, error) from None
    for figure in figures:
        for ending in PICTURE_ENDINGS:
            written.append(directory / f"{figure.name}.{ending}")
            draw(figure, written[-1])
    return tuple(written)


def _texts(table: Table) -> dict[str, str]:
    return {"txt": _plain_text(table), "csv": table_csv(table), "tex": table_latex(table), "md": table_markdown(table)}


def _plain_text(table: Table) -> str:
    console = Console(file=StringIO(), width=_WIDEST_COLUMNS, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(table_text(table))
    return "\n".join(line.rstrip() for line in capture.get().splitlines()) + "\n"


def _number_columns(table: Table) -> list[bool]:
    """Return which columns hold numbers only; they are set flush right."""
    columns = [[row[index] for row in table.rows] for index in range(len(table.header))]
    return [bool(column) and not any(isinstance(value, str) for value in column) for column in columns]


def _latex_row(cells: Sequence[Value]) -> str:
    return " & ".join(escaped(formatted(cell)) for cell in cells) + r" \\"


def _markdown_row(cells: Sequence[Value]) -> str:
    return f"| {' | '.join(_markdown(formatted(cell)) for cell in cells)} |"


def _markdown(text: str) -> str:
    """Return the text so that Markdown shows it as it is: no new column, no emphasis, link, code or tag."""
    return _MARKDOWN.sub(r"\\\g<0>", " ".join(text.split())).replace("&", "&amp;").replace("<", "&lt;")
