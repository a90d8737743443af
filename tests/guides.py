"""Pages that a reader follows from top to bottom: their files, commands, Python and SQL, played in a directory.

What a block is, its language says:

- whatever begins with a comment that is a name, such as `# hall.yaml`: a file of that name;
- `console`: each line after `$ ` is a command, and what follows is what it prints; `...` stands for anything;
- `python`: run in one namespace for the whole page; a block without a language below it is what it prints;
- `sql`: run by DuckDB; a block without a language below it is the result.

After a change to the program, write what the pages show anew with

    python -m tests.guides          # all; or the names of some: tutorial duckdb
"""

import os
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from doctest import ELLIPSIS, OutputChecker
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from click.testing import CliRunner

from hfedms_sim.cli import main

DOCS = Path(__file__).resolve().parent.parent / "docs"
GUIDES = [DOCS / "tutorial.md", *sorted((DOCS / "howto").glob("*.md"))]
FENCED = re.compile(r"^```(\w*)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# (\S+\.(?:yaml|csv|py))\n")
WALL_TIME = re.compile(r"^(│ wall time +│ ).*│$", re.MULTILINE)


class Printed(NamedTuple):
    """What a page shows as printed, and where; what was printed when it was played."""

    start: int
    end: int
    shown: str
    real: str

    @property
    def is_true(self) -> bool:
        return OutputChecker().check_output(self.shown, self.real, ELLIPSIS)


@contextmanager
def inside(directory: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(directory)
    try:
        yield
    finally:
        os.chdir(before)


def needs_duckdb(page: Path) -> bool:
    return "```sql\n" in page.read_text(encoding="utf-8")


def follow(page: Path, directory: Path) -> list[Printed]:
    """Do what the page says in a directory, and return all that it shows beside what was printed."""
    text = page.read_text(encoding="utf-8")
    blocks = list(FENCED.finditer(text))
    known: dict[str, Any] = {"__name__": "guide"}
    found: list[Printed] = []
    with inside(directory):
        for index, block in enumerate(blocks):
            language, content = block[1], block[2]
            if name := FILE_NAME.match(content):
                Path(name[1]).parent.mkdir(parents=True, exist_ok=True)
                Path(name[1]).write_text(
                    content[name.end() :] if name[1].endswith(".csv") else content, encoding="utf-8"
                )
            elif language == "console":
                found += _commands(block)
            elif language in ("python", "sql"):
                real = _python(content, known) if language == "python" else _sql(content)
                below = blocks[index + 1] if index + 1 < len(blocks) else None
                if below is not None and below[1] == "":
                    found.append(Printed(below.start(2), below.end(2), below[2], real))
                elif language == "python":
                    assert not real, f"{page.name} does not show what it prints: {real}"
    return found


def _commands(block: re.Match[str]) -> Iterator[Printed]:
    """Run the commands of a block one after the other; those of other programs are not run."""
    for part in re.finditer(r"^\$ ((?:.*\\\n)*.*\n)((?:(?!\$ ).*\n)*)", block[2], re.MULTILINE):
        words = shlex.split(part[1].replace("\\\n", " "), comments=True)
        if words[0] != "hfedms-sim":
            continue
        result = CliRunner().invoke(main, words[1:], prog_name="hfedms-sim")
        assert result.exit_code == 0, (part[1], result.output)
        start, end = block.start(2) + part.start(2), block.start(2) + part.end(2)
        yield Printed(start, end, part[2], _plain(result.stdout))


def _python(code: str, known: dict[str, Any]) -> str:
    printed = StringIO()
    with redirect_stdout(printed):
        exec(code, known)
    return _plain(printed.getvalue())


def _sql(query: str) -> str:
    import duckdb

    return _plain(str(duckdb.sql(query)))


def _plain(text: str) -> str:
    """Without spaces at the ends of lines, and without how long it took."""
    return "".join(f"{line.rstrip()}\n" for line in WALL_TIME.sub(r"\1...", text).rstrip().splitlines())


def write_guides(pages: list[Path]) -> None:
    """Write what each page shows as it is printed today. Where a page leaves out a part by `...`, it stays as it is."""
    for page in pages:
        with TemporaryDirectory() as directory:
            found = follow(page, Path(directory))
        text = page.read_text(encoding="utf-8")
        for printed in reversed(found):
            if not printed.is_true:
                text = text[: printed.start] + printed.real + text[printed.end :]
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_guides([page for page in GUIDES if not sys.argv[1:] or page.stem in sys.argv[1:]])
