"""Plays cases: in this process through click, or as a process of its own, each in a directory that is then looked at.

ROOT/sentinel/    must not change
ROOT/sources/     real files, copied from
ROOT/cases/NAME/  the working directory of a case; kept if it fails
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from time import process_time
from typing import NamedTuple

from fuzz.entries import ENTRIES, Words
from fuzz.judging import MOST_BYTES, MOST_PROCESSOR_S, Outcome, faults_of, tree_digest
from fuzz.sources import Sources

LONGEST_S = 120.0
"""By the wall clock: then a case counts as hanging."""
_LIMITS = {"HFEDMS_SIM_TIME_LIMIT": f"{MOST_PROCESSOR_S:.0f}s", "HFEDMS_SIM_MEMORY_LIMIT": f"{MOST_BYTES / 1e9:.0f}GB"}


class Played(NamedTuple):
    name: str
    words: Words
    exit_code: int
    processor_s: float
    memory_bytes: float
    faults: list[str]
    said: str
    """The last line of standard error."""

    def as_json(self) -> str:
        return json.dumps(self._asdict())


class Ground:
    """The directory that all cases are played in."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root, self._seed = root, seed
        self.sources = Sources(root / "sources")
        (root / "sentinel").mkdir(parents=True, exist_ok=True)
        (root / "sentinel" / "precious").write_text("not to be changed\n")
        self.sources.make()
        self._before = self._guarded()

    def play(self, entry: str, number: int, *, as_process: bool) -> Played:
        """Make a case, play it, and look at what it did."""
        place = self._place(f"{entry}-{number}")
        words = ENTRIES[entry](Random(f"{self._seed}/{entry}/{number}"), place, self.sources)
        return self._judged(place, words, as_process=as_process)

    def play_files(self, name: str, files: Mapping[str, str], words: Sequence[str]) -> Played:
        """Play a command in a directory with these files, and look at what it did."""
        place = self._place(name)
        for path, text in files.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_text(text)
        return self._judged(place, list(words), as_process=False)

    def _place(self, name: str) -> Path:
        place = self.root / "cases" / name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        return place

    def _judged(self, place: Path, words: Words, *, as_process: bool) -> Played:
        outcome = _of_process(words, place) if as_process else _in_process(words, place)
        faults = faults_of(outcome)
        if self._guarded() != self._before:
            faults.append("changed something outside its directory")
            self._before = self._guarded()
        if not faults:
            shutil.rmtree(place, ignore_errors=True)
        code, spent_s, peak_bytes = outcome.exit_code, outcome.processor_s, outcome.memory_bytes
        said = (outcome.stderr.splitlines() or [""])[-1][:300]
        return Played(place.name, words, code, spent_s, peak_bytes, faults, said)

    def _guarded(self) -> str:
        return tree_digest(self.root / "sentinel") + tree_digest(self.sources.directory)


def _in_process(words: Words, place: Path) -> Outcome:
    from click.testing import CliRunner

    from hfedms_sim.cli import main

    before, here = process_time(), Path.cwd()
    _forget_peak()
    os.chdir(place)
    try:
        result = CliRunner().invoke(main, words, env=_LIMITS, catch_exceptions=True)
    finally:
        os.chdir(here)
    raised = "" if result.exception is None or isinstance(result.exception, SystemExit) else repr(result.exception)
    spent_s = process_time() - before
    return Outcome(result.exit_code, result.stdout, result.stderr, spent_s, _peak_bytes(), raised[:300])


def _of_process(words: Words, place: Path) -> Outcome:
    command = [sys.executable, "-m", "hfedms_sim.cli", *words]
    try:
        done = subprocess.run(
            command, cwd=place, env={**os.environ, **_LIMITS}, capture_output=True, timeout=LONGEST_S, check=False
        )
    except subprocess.TimeoutExpired:
        return Outcome(-9, "", "", LONGEST_S, 0.0, "nothing: it hangs")
    out, error = (each.decode("utf-8", "replace") for each in (done.stdout, done.stderr))
    return Outcome(done.returncode, out, error, 0.0, 0.0)  # time and memory are judged in process


def _forget_peak() -> None:
    """Let the peak of memory count from here."""
    Path("/proc/self/clear_refs").write_text("5")


def _peak_bytes() -> float:
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return 1024.0 * int(status["VmHWM"].split()[0])
