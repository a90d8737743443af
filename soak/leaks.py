"""One long campaign of small trials: does the process that leads it hold more and more memory, files or threads?

It has more trials than there is time for and is interrupted at the end. A tenth of its time after a warm-up, which is
ten minutes or a sixth of it, is what the rest is held against.
"""

import csv
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from threading import Event
from time import monotonic
from typing import NamedTuple

from hfedms_sim.campaign.records import read_records
from soak.commands import HFEDMS_SIM, Command, Surroundings, UnexpectedError
from soak.processes import held_by, workers_of

_WARM_UP_S, _WARM_UP_SHARE, _REFERENCE_SHARE = 600.0, 1 / 6, 0.1
_ALLOWED: dict[str, Callable[[float], float]] = {
    "rss_mb": lambda before: 1.05 * before,
    "workers_rss_mb": lambda before: 1.1 * before,
    "descriptors": lambda before: before + 4,
    "threads": lambda before: before + 1,
}
"""What each may grow to. Workers look for garbage now and then only; a record may just be written, a worker started."""
_SAMPLES = 1000
_TRIALS_A_SECOND = 1.0


class Sample(NamedTuple):
    """What the leading process and its workers held at a moment, and how many trials were finished."""

    elapsed_s: float
    rss_mb: float
    descriptors: int
    threads: int
    workers: int
    workers_rss_mb: float
    trials: int


class Growth(NamedTuple):
    """What a column of the samples was right after the warm-up, and the most that it was later."""

    what: str
    then: float
    most: float
    allowed: float

    @property
    def is_flat(self) -> bool:
        return self.most <= self.allowed


def watched(scenarios: Path, place: Surroundings, lasting_s: float, stop: Event) -> list[Sample]:
    """Play the campaign for so long and return the samples, which samples.csv has too; refuse a bad end of it."""
    for directory in (place.home, place.temporary):
        directory.mkdir(parents=True)
    out, table = place.directory / "out", place.directory / "samples.csv"
    trials = max(10, round(_TRIALS_A_SECOND * lasting_s))
    words = ["compare", str(scenarios / "long.yaml"), "--timing-only", "--seeds", f"1:{trials}", "--jobs", "2"]
    command = Command([*HFEDMS_SIM, *words, "--quiet", "--out", str(out)], place)
    try:
        samples = _sampled(command, out, table, lasting_s, stop)
        command.signal(signal.SIGINT)
        command.ended().require(0, 130)
        command.require_gone()
    finally:
        command.remove()
    if len(read_records(out)) < samples[-1].trials:
        raise UnexpectedError("records of the long campaign are lost")
    return samples


def growths(samples: Sequence[Sample]) -> list[Growth]:
    """Return how much the leading process and its workers grew; refuse what was too short to tell."""
    lasting_s = samples[-1].elapsed_s
    warm_s = min(_WARM_UP_S, _WARM_UP_SHARE * lasting_s)
    reference_s = warm_s + _REFERENCE_SHARE * (lasting_s - warm_s)
    then = [sample for sample in samples if warm_s <= sample.elapsed_s <= reference_s and sample.workers]
    later = [sample for sample in samples if sample.elapsed_s > reference_s]
    if not then or not later:
        raise UnexpectedError("too short to tell whether its memory grows")
    return [_growth(what, then, later) for what in _ALLOWED]


def _growth(what: str, then: Sequence[Sample], later: Sequence[Sample]) -> Growth:
    before = median(getattr(sample, what) for sample in then)
    return Growth(what, before, max(getattr(sample, what) for sample in later), _ALLOWED[what](before))


def _sampled(command: Command, out: Path, table: Path, lasting_s: float, stop: Event) -> list[Sample]:
    samples: list[Sample] = []
    started_s = monotonic()
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(Sample._fields)
        while (elapsed_s := monotonic() - started_s) < lasting_s and command.is_running and not stop.is_set():
            sample = _sample(command.session, out, elapsed_s)
            if sample is not None:
                samples.append(sample)
                writer.writerow(sample)
                file.flush()
            stop.wait(max(1.0, lasting_s / _SAMPLES))
    if not samples:
        raise UnexpectedError(f"the long campaign ended at once: {command.ended().errors[-500:]}")
    return samples


def _sample(session: int, out: Path, elapsed_s: float) -> Sample | None:
    held = held_by(session)
    if held is None:
        return None
    workers = [each for process in workers_of(session) if (each := held_by(process)) is not None]
    workers_rss_mb = sum(each.rss_bytes for each in workers) / 1e6
    finished = len(list(out.glob("records/*.json")))
    return Sample(
        round(elapsed_s, 1),
        held.rss_bytes / 1e6,
        held.descriptors,
        held.threads,
        len(workers),
        workers_rss_mb,
        finished,
    )
