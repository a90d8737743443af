"""The soak: actions one after another, some at a time, until the hours are over, beside one long campaign.

What action N does depends on the seed and on N alone, so that one that failed can be played again by itself.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from threading import Event, Lock, Thread
from time import monotonic
from typing import NamedTuple

from soak import disks, reading, writing
from soak.commands import Surroundings, UnexpectedError
from soak.leaks import Growth, growths, watched
from soak.scenarios import write_scenarios
from soak.scene import Action, Scene
from soak.subjects import Wholes

ACTIONS: dict[str, tuple[Action, int]] = {
    "left alone": (writing.left_alone, 1),
    "killed": (writing.killed, 5),
    "interrupted": (writing.interrupted, 3),
    "worker killed": (writing.worker_killed, 2),
    "two at once": (writing.two_at_once, 3),
    "refused": (writing.refused, 1),
    "files too large": (disks.files_too_large, 2),
    "disk full": (disks.disk_full, 3),
    "read": (reading.read, 2),
    "reader killed": (writing.reader_killed, 3),
    "reader without room": (reading.reader_without_room, 2),
    "printed": (reading.printed, 1),
}
"""What there is to do, and how often it is done relative to the others."""


class Done(NamedTuple):
    """An action that has ended; `fault` says what was not as it must be, if anything was."""

    number: int
    kind: str
    took_s: float
    fault: str | None
    commands: tuple[str, ...]
    directory: Path


@dataclass
class Soak:
    """A soak in a directory of its own."""

    directory: Path
    seed: int
    on_done: Callable[[Done], None] = lambda done: None
    done: list[Done] = field(default_factory=list)
    growths: list[Growth] = field(default_factory=list)
    leak_fault: str | None = None
    stop: Event = field(default_factory=Event)
    _next: int = 0
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._scenarios, self._cache = self.directory / "scenarios", self.directory / "cache"
        self._cache.mkdir(parents=True)
        write_scenarios(self._scenarios)
        self._wholes = Wholes(self.directory / "wholes", self._scenarios, self._cache)

    @property
    def has_failed(self) -> bool:
        """Return whether anything at all was not as it must be."""
        leaks = any(not growth.is_flat for growth in self.growths)
        return leaks or self.leak_fault is not None or any(done.fault is not None for done in self.done)

    @property
    def samples(self) -> Path:
        """Return the table of what the long campaign held."""
        return self._long.directory / "samples.csv"

    def last(self, lasting_s: float, at_a_time: int) -> None:
        """Do actions for so long, so many at a time; whatever is under way at the end, or at Ctrl-C, is finished."""
        deadline_s = monotonic() + lasting_s
        threads = [Thread(target=self._work, args=(deadline_s,)) for _ in range(at_a_time)]
        threads.append(Thread(target=self._watch, args=(lasting_s,)))
        for thread in threads:
            thread.start()
        try:
            _join(threads)
        except KeyboardInterrupt:
            self.stop.set()
            _join(threads)

    def do(self, number: int) -> Done:
        """Do one action."""
        random = Random(f"{self.seed}/{number}")
        kind = random.choices(list(ACTIONS), [weight for _, weight in ACTIONS.values()])[0]
        place = Surroundings(self.directory / "actions" / f"{number:05d}-{kind.replace(' ', '-')}", self._cache)
        scene = Scene(place, self._scenarios, self._wholes, random)
        started_s = monotonic()
        fault = _fault_of(ACTIONS[kind][0], scene)
        done = Done(number, kind, monotonic() - started_s, fault, tuple(scene.said), place.directory)
        if fault is None:
            shutil.rmtree(place.directory)
        return done

    @property
    def _long(self) -> Surroundings:
        return Surroundings(self.directory / "long", self._cache)

    def _work(self, deadline_s: float) -> None:
        while monotonic() < deadline_s and not self.stop.is_set():
            with self._lock:
                self._next += 1
                number = self._next
            done = self.do(number)
            with self._lock:
                self.done.append(done)
                self.on_done(done)

    def _watch(self, lasting_s: float) -> None:
        try:
            self.growths = growths(watched(self._scenarios, self._long, lasting_s, self.stop))
        except Exception as error:
            self.leak_fault = f"{type(error).__name__}: {error}"


def _join(threads: list[Thread]) -> None:
    for thread in threads:
        thread.join()


def _fault_of(action: Action, scene: Scene) -> str | None:
    """Return what was not as it must be; an error of the soak itself is a fault too, and ends nothing else."""
    try:
        try:
            action(scene)
        finally:
            scene.close()
    except UnexpectedError as error:
        return str(error)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None
