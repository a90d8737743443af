"""Commands that make a page, a picture, an export or a text of what is finished, and change nothing else.

What they make is there whole or not at all, and nothing that a later command would trip over.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from soak.commands import HFEDMS_SIM, Command, UnexpectedError
from soak.outcomes import Outcome, leftovers, of_file
from soak.scene import Scene
from soak.subjects import SUBJECTS

_RUNS = ("run-faulty", "run-windows", "run-timing")
_CAMPAIGNS = ("compare-strategies", "compare-radios")
_LEAST_BYTES = 300
_GARBAGE = ".export-"
"""What an export that was killed leaves: under a name of its own, so that nobody trips over it."""


class Making(NamedTuple):
    """What is made: the name of the file or directory, and the command's words before and after what it is made of."""

    name: str
    command: str
    options: tuple[str, ...] = ()


OF_RUNS = (
    Making("page.html", "report", ("--quiet",)),
    Making("gantt.svg", "plot", ("--kind", "gantt")),
    Making("transfers.png", "plot", ("--kind", "transfers")),
    Making("csv", "trace", ("--format", "csv")),
    Making("parquet", "trace", ("--format", "parquet")),
    Making("perfetto.json", "trace", ("--format", "perfetto")),
)
OF_CAMPAIGNS = (Making("page.html", "report", ("--quiet",)), Making("accuracy.pdf", "plot"))
_TEXTS = (("explain", "--json"), ("explain", "--no-what-ifs"), ("show",))


@dataclass(frozen=True)
class Reading:
    """Something that is made of a finished directory, as often as one likes, each time in a place of its own."""

    scene: Scene
    making: Making
    source: Path

    @classmethod
    def of(cls, scene: Scene, making: Making, subject: str) -> "Reading":
        """Copy what a subject came to to where nobody may touch it, and return what is to be made of it."""
        return cls(scene, making, copied(scene, subject))

    def begin(self, place: str, most_bytes: int | None = None) -> Command:
        """Start to make it."""
        path = self._path(place)
        path.parent.mkdir(parents=True, exist_ok=True)
        words = [self.making.command, str(self.source), *self.making.options, "--out", str(path)]
        return self.scene.start([*HFEDMS_SIM, *words], most_bytes)

    def made(self, place: str) -> Outcome:
        """Return what was made in a place."""
        return of_file(self._path(place))

    def require_whole_or_nothing(self, place: str, whole: str) -> None:
        """Refuse half of what was to be made, then make it; an export refuses to replace what is there."""
        is_there = self._path(place).exists()
        if is_there:
            self.scene.require_same(self.made(place), self.made(whole))
        self.scene.end(self.begin(place), 2 if is_there and self.making.command == "trace" else 0)
        self.scene.require_same(self.made(place), self.made(whole))
        left = [name for name in leftovers(self._path(place).parent) if not name.startswith(_GARBAGE)]
        if left:
            raise UnexpectedError(f"left over beside {self._path(place)}: {', '.join(left[:8])}")

    def _path(self, place: str) -> Path:
        return self.scene.out / place / self.making.name


def read(scene: Scene) -> None:
    """Make the same thing twice: both are equal, byte for byte."""
    reading = chosen(scene)
    for place in ("first", "second"):
        scene.end(reading.begin(place), 0)
    scene.require_same(reading.made("second"), reading.made("first"))
    scene.require_clean(scene.out)


def reader_without_room(scene: Scene) -> None:
    """Let whoever makes something write small files only: one line, exit code 1, and nothing is made."""
    reading = chosen(scene)
    scene.end(reading.begin("first"), 0)
    largest_bytes = max(len(content) for content in reading.made("first").values())
    most_bytes = scene.random.randint(_LEAST_BYTES, largest_bytes - 1)
    scene.end(reading.begin("second", most_bytes), 1).require_error(1)
    scene.require_clean(scene.out)
    reading.require_whole_or_nothing("second", "first")


def printed(scene: Scene) -> None:
    """Print the same text twice."""
    source = copied(scene, scene.random.choice(_RUNS))
    name, *options = scene.random.choice(_TEXTS)
    texts = [scene.end(scene.start([*HFEDMS_SIM, name, str(source), *options]), 0).output for _ in range(2)]
    if texts[0] != texts[1] or not texts[0]:
        raise UnexpectedError("two texts of the same run differ, or are empty")


def chosen(scene: Scene) -> Reading:
    """Choose what is made, and of what."""
    of_campaign = scene.random.random() < 0.2
    making = scene.random.choice(OF_CAMPAIGNS if of_campaign else OF_RUNS)
    return Reading.of(scene, making, scene.random.choice(_CAMPAIGNS if of_campaign else _RUNS))


def copied(scene: Scene, subject: str) -> Path:
    """Return a copy of what a subject came to, which nobody may touch."""
    source = scene.surroundings.home / subject
    shutil.copytree(scene.whole(SUBJECTS[subject]).directory, source)
    scene.remember()
    return source
