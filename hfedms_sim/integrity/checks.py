"""What was looked at and what came of it, a line each; and whether the files of a directory match their checksums."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from hfedms_sim.errors import InputError
from hfedms_sim.system.checksums import SUMS, Checksums

_MOST_NAMED = 3


class Check(NamedTuple):
    """One thing that was looked at."""

    verdict: Literal["ok", "note", "problem"]
    """`note`: something could not be looked at, or is not listed anywhere; nothing is wrong with that."""
    line: str
    """What it is, and what came of it."""

    def __str__(self) -> str:
        return self.line if self.verdict == "ok" else f"{self.verdict}: {self.line}"


class At(NamedTuple):
    """How far a verification is."""

    done: int
    total: int
    what: str
    """What is counted, in the plural."""


OnProgress = Callable[[At], None]


@dataclass(frozen=True)
class Verification:
    """What was looked at in a directory, and what came of it."""

    directory: Path
    checks: tuple[Check, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        """What is damaged or does not agree, a line each."""
        return tuple(check.line for check in self.checks if check.verdict == "problem")

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be looked at, and files that nobody has listed, a line each."""
        return tuple(check.line for check in self.checks if check.verdict == "note")

    @property
    def is_sound(self) -> bool:
        """Whether there is no problem."""
        return not self.problems


def ok(line: str) -> Check:
    """Return that something is as it should be."""
    return Check("ok", line)


def note(line: str) -> Check:
    """Return that something could not be looked at, or is nobody's."""
    return Check("note", line)


def problem(line: str) -> Check:
    """Return that something is damaged, or does not agree."""
    return Check("problem", line)


def has_problem(checks: Collection[Check]) -> bool:
    """Return whether one of these is a problem."""
    return any(check.verdict == "problem" for check in checks)


def check_files(directory: Path, own: Collection[str], elsewhere: str | None = None) -> Iterator[Check]:
    """Compare files with SHA256SUMS. `own` belong to the result, and are there; below `elsewhere` others look."""
    checksums = Checksums(directory)
    try:
        listed = checksums.listed()
        damages = checksums.damages()
    except InputError as error:
        yield problem(str(error))
        return
    if listed is None:
        why = "an earlier version wrote it, or it was killed at its very end"
        yield note(f"{directory}: has no {SUMS} ({why}), so that files that were changed do not show")
        return
    yield from (problem(str(damage)) for damage in damages)
    yield from (problem(f"{directory / name}: {SUMS} does not list it") for name in own if name not in listed)
    if not damages:
        yield ok(f"{directory}: {len(listed)} files match their checksums")
    others = sorted(_files_in(directory, elsewhere) - {SUMS, *listed, *own})
    if others:
        yield note(f"{directory}: {_named(others)} not listed, and not looked at")


def _files_in(directory: Path, elsewhere: str | None) -> set[str]:
    """Return all files of a directory, but for those below one of its own, by their paths within it."""
    places = [path for path in directory.iterdir() if path.name != elsewhere]
    files = [path for place in places for path in ([place] if place.is_file() else place.rglob("*"))]
    return {path.relative_to(directory).as_posix() for path in files if path.is_file()}


def _named(names: list[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} is"
    shown = [*names[:_MOST_NAMED], *([f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else [])]
    return f"{', '.join(shown[:-1])} and {shown[-1]} are"
