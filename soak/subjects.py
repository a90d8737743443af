"""The commands that write a directory, and what an uninterrupted one of each comes to."""

from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from soak import outcomes
from soak.commands import HFEDMS_SIM, TINY_PAPER, Command, Surroundings
from soak.moments import bytes_of, files_below
from soak.outcomes import Outcome, Reading


@dataclass(frozen=True)
class Subject:
    """A command that writes a directory, but for `--out`. Words that end in .yaml are files of the soak's own."""

    name: str
    words: tuple[str, ...]
    reading: Reading
    program: tuple[str, ...] = HFEDMS_SIM

    @property
    def is_trained(self) -> bool:
        """Return whether it learns anything."""
        return "--timing-only" not in self.words and "settings" not in self.words

    @property
    def has_workers(self) -> bool:
        """Return whether it plays in processes of its own, two at a time."""
        return "--jobs" in self.words

    def command(self, scenarios: Path, out: Path) -> list[str]:
        """Return the command that begins in `out`, or goes on if there is something."""
        words = [self._located(word, scenarios) for word in self.words]
        going_on = ["--resume"] if out.exists() else []
        return [*self.program, *words, "--quiet", "--out", str(out), *going_on]

    @staticmethod
    def _located(word: str, scenarios: Path) -> str:
        return ",".join(str(scenarios / each) if each.endswith(".yaml") else each for each in word.split(","))


class Whole(NamedTuple):
    """What an uninterrupted command came to, where it is, how long it took and how large it is."""

    outcome: Outcome
    directory: Path
    took_s: float
    size_bytes: int


_RADIOS = ("--profiles", "radio0.yaml,radio1.yaml,radio2.yaml")
_TWO_JOBS = ("--jobs", "2")

SUBJECTS: dict[str, Subject] = {
    subject.name: subject
    for subject in (
        Subject("run-plain", ("run", "plain.yaml"), outcomes.of_run),
        Subject("run-faulty", ("run", "faulty.yaml"), outcomes.of_run),
        Subject("run-compressed", ("run", "compressed.yaml"), outcomes.of_run),
        Subject("run-windows", ("run", "windows.yaml"), outcomes.of_run),
        Subject("run-timing", ("run", "many.yaml", "--timing-only"), outcomes.of_run),
        Subject(
            "compare-strategies",
            ("compare", "plain.yaml", "--strategies", "fedavg,fedprox,hfedms-d,fedasync", *_TWO_JOBS),
            outcomes.of_campaign,
        ),
        Subject("compare-radios", ("compare", "poisson.yaml", *_RADIOS, *_TWO_JOBS), outcomes.of_campaign),
        Subject(
            "compare-timing",
            ("compare", "many.yaml", "--seeds", "1:12", "--timing-only", *_RADIOS, *_TWO_JOBS),
            outcomes.of_campaign,
        ),
        Subject(
            "sweep-faulty",
            ("sweep", "faulty.yaml", "--grid", "strategy.interval=2,3", "--seeds", "1,2", *_TWO_JOBS),
            outcomes.of_campaign,
        ),
        Subject("sweep-alone", ("sweep", "plain.yaml", "--grid", "rounds=5,20"), outcomes.of_campaign),
        Subject("paper-forgetting", ("paper", "forgetting", *_TWO_JOBS), outcomes.of_experiments, TINY_PAPER),
        Subject("paper-scc", ("paper", "scc"), outcomes.of_experiments, TINY_PAPER),
        Subject("paper-settings", ("paper", "settings"), outcomes.of_experiments),
    )
}


class Wholes:
    """Uninterrupted commands, each played once, when it is first asked for."""

    def __init__(self, directory: Path, scenarios: Path, cache: Path) -> None:
        self._directory = directory
        self._scenarios = scenarios
        self._cache = cache
        self._found: dict[str, Whole] = {}
        self._locks = {name: Lock() for name in SUBJECTS}

    def of(self, subject: Subject) -> Whole:
        """Return what the subject comes to when nobody disturbs it."""
        with self._locks[subject.name]:
            if subject.name not in self._found:
                self._found[subject.name] = self._played(subject)
            return self._found[subject.name]

    def _played(self, subject: Subject) -> Whole:
        place = Surroundings(self._directory / subject.name, self._cache)
        for directory in (place.home, place.temporary):
            directory.mkdir(parents=True)
        out = place.directory / "out"
        ended = Command(subject.command(self._scenarios, out), place).ended()
        ended.require(0)
        return Whole(subject.reading(out), out, ended.took_s, bytes_of(files_below(out)))
