"""The command line as somebody calls it who means no good: whatever comes of it, it is no traceback."""

from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from hfedms_sim.cli import main
from hfedms_sim.commands.terminal import TRACEBACK
from hfedms_sim.scenario import scenario_yaml
from tests.conftest import tiny_scenario


def hfedms_sim(*arguments: object) -> Result:
    """Call a command in this process. An exception that is no exit is what nobody may see."""
    done = CliRunner(env={TRACEBACK: "1"}).invoke(main, [str(argument) for argument in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def refused(*arguments: object, code: int = 2) -> str:
    """Call a command that must be refused, and return its one line."""
    done = hfedms_sim(*arguments)
    assert done.exit_code == code, done.output
    *notes, line = done.stderr.strip().splitlines()
    assert line.startswith("error: ")
    assert all(note.startswith("note: ") for note in notes)
    assert len(line) < 1_000
    return line


def written(path: Path, **changes: Any) -> Path:
    """Write a scenario of a few sensors, which a command plays in no time."""
    path.write_text(scenario_yaml(tiny_scenario(**({"rounds": 2} | changes))), encoding="utf-8")
    return path


def contents(directory: Path) -> dict[str, bytes | None]:
    """Return all files of a directory with what is in them, and its directories and links with nothing."""
    return {
        str(path.relative_to(directory)): path.read_bytes() if path.is_file() and not path.is_symlink() else None
        for path in directory.rglob("*")
    }
