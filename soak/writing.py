"""Actions on commands that write a directory: left alone, killed, interrupted, two at a time, refused."""

import os
import shutil
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic, sleep

from soak.commands import Command, UnexpectedError
from soak.killing import killed_and_finished, killed_and_read
from soak.moments import Watch, drawn
from soak.outcomes import fingerprints
from soak.processes import workers_of
from soak.reading import chosen
from soak.scene import Scene
from soak.subjects import SUBJECTS

_LONGEST_INTERRUPTION_S = 20.0
"""It is to take 5 s at most; the soak keeps the machine busy."""
_BEGUN = ("scenario.yaml", "campaign.json", "*/campaign.json")
_ALL = list(SUBJECTS.values())
_LONG = [subject for subject in _ALL if subject.name != "paper-settings"]


def left_alone(scene: Scene) -> None:
    """Play a command in one go: it comes to what it came to before."""
    scene.finish(scene.random.choice(_ALL))


def killed(scene: Scene) -> None:
    """Kill a command up to four times, and go on, sometimes at once."""
    killed_and_finished(scene, scene.random.choice(_ALL), scene.random.randint(1, 4))


def reader_killed(scene: Scene) -> None:
    """Kill whoever makes something of what is finished, twice."""
    killed_and_read(scene, chosen(scene), kills=2)


def interrupted(scene: Scene) -> None:
    """Interrupt a command by Ctrl-C or SIGTERM: it ends in order and soon, and goes on."""
    subject, random = scene.random.choice(_LONG), scene.random
    whole = scene.whole(subject)
    command = scene.begin(subject)
    _until(lambda: _has_begun(scene.out), command)
    sent = random.choice([signal.SIGINT, signal.SIGTERM])
    if Watch(scene.out).awaits(drawn(random, "bytes"), command, whole.size_bytes):
        command.signal(sent, to_all=sent == signal.SIGINT)
    begun_s = monotonic()
    ended = scene.end(command, 0, 130)
    if monotonic() - begun_s > _LONGEST_INTERRUPTION_S:
        raise UnexpectedError(f"took {monotonic() - begun_s:.1f} s to end")
    if ended.exit_code and not ended.errors.splitlines()[-1].startswith("interrupted; to go on: "):
        raise UnexpectedError(f"does not say how to go on: {ended.errors[-500:]!r}")
    scene.finish(subject)


def worker_killed(scene: Scene) -> None:
    """Kill one worker of a campaign: its trial is tried again, and nobody else notices."""
    subject = scene.random.choice([subject for subject in _ALL if subject.has_workers])
    whole = scene.whole(subject)
    command = scene.begin(subject)
    _until(lambda: bool(workers_of(command.session)), command)
    moment = drawn(scene.random, "bytes")
    if Watch(scene.out).awaits(moment, command, whole.size_bytes) and (found := workers_of(command.session)):
        os.kill(scene.random.choice(found), signal.SIGKILL)
    scene.end(command, 0)
    scene.finish(subject)


def two_at_once(scene: Scene) -> None:
    """Start a command twice on one directory: one works, the other is refused in one line."""
    subject, random = scene.random.choice(_LONG), scene.random
    scene.whole(subject)
    if random.random() < 0.3:
        first, second = scene.begin(subject), scene.begin(subject)  # neither finds a directory, unless it is late
        refusals = {0, 2}
    else:
        first = scene.begin(subject)
        _until(lambda: _has_begun(scene.out), first)
        sleep(random.uniform(0.0, 2.0))
        second = scene.begin(subject)
        _until(lambda: not second.is_running, first)
        refusals = {2} if first.is_running else {0, 2}
    codes = (_end_of_one(scene, second, refusals), _end_of_one(scene, first, {0, 2}))
    if codes == (2, 2):
        raise UnexpectedError("both were refused")
    scene.finish(subject)


def refused(scene: Scene) -> None:
    """Ask for what cannot be: one line, exit code 2, and a finished directory stays as it is."""
    subject = scene.random.choice([subject for subject in _LONG if subject.words[0] != "paper"])
    shutil.copytree(scene.whole(subject).directory, scene.out)
    before = fingerprints(scene.out)
    again = subject.command(scene.scenarios, scene.out)
    nowhere = subject.command(scene.scenarios, scene.out / "nothing")
    others: list[Sequence[str]] = [
        again[:-1],
        [*again, "--set", "strategy.learning_rate=0.02"],
        [*again, "--set", "strategy.learning_rat=0.02"],
        [*nowhere, "--resume"],
    ]
    scene.end(scene.start(scene.random.choice(others)), 2).require_error(2)
    if fingerprints(scene.out) != before:
        raise UnexpectedError("what was refused has changed the directory")


def _end_of_one(scene: Scene, command: Command, exit_codes: set[int]) -> int:
    """Return how one of two commands has ended: it worked, or was refused in one line."""
    ended = scene.end(command, *exit_codes)
    if ended.exit_code:
        ended.require_error(2)
    return ended.exit_code


def _has_begun(out: Path) -> bool:
    return any(any(out.glob(name)) for name in _BEGUN)


def _until(has_come: Callable[[], bool], command: Command) -> None:
    while command.is_running and not has_come():
        sleep(0.005)
