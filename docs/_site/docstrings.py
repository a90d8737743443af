"""Docstrings of this package as Sphinx reads them.

They are plain text: sections (Arguments, Returns, Raises) as napoleon knows them, asterisks that are asterisks, and
indented blocks, such as the Example of a function, that are code. Napoleon's own hook is not used: it takes the first
words of a property for its type.
"""

from collections.abc import Iterator

from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, GoogleDocstring

INDENT = " " * 4


def as_plain_text(app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]) -> None:
    """Replace a docstring by what Sphinx shows as its author meant it."""
    lines[:] = GoogleDocstring(list(_with_code(lines)), Config(), app, "function", name, thing, options).lines()


def _with_code(lines: list[str]) -> Iterator[str]:
    """Yield the lines with a mark before indented blocks: those that begin below a blank line, and below text."""
    last, is_code = "", False
    for index, line in enumerate(lines):
        is_below_blank = index > 0 and not lines[index - 1].strip()
        if line.strip() and not line.startswith(INDENT):
            is_code = False
        elif line.strip() and is_below_blank and not last.startswith(INDENT):
            is_code = True
            yield from ("::", "")
        if line.strip():
            last = line
        yield line if is_code else line.replace("*", r"\*")


def setup(app: Sphinx) -> dict[str, bool]:
    """Read every docstring through `as_plain_text`."""
    app.connect("autodoc-process-docstring", as_plain_text)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
