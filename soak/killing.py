"""Killing a command again and again, and going on each time: what it comes to in the end is always the same."""

import shutil
import signal
from collections import Counter
from itertools import cycle, islice
from time import sleep

from soak.commands import UnexpectedError
from soak.moments import EVENTS, Phase, Watch, drawn
from soak.reading import Reading
from soak.scene import Scene
from soak.subjects import Subject

_MOST_STARTS_PER_KILL = 6
_ALL_AT_ONCE = 0.3
"""How often the workers are killed together with the process that leads them."""
_AT_ONCE = 0.5
"""How often a command goes on without waiting until the workers of the killed one are gone."""


def killed_and_finished(scene: Scene, subject: Subject, kills: int) -> Counter[Phase]:
    """Kill a command so often, then let it finish; return at what it was when it was killed.

    Only kills that have ended it count. One that ended before by itself must have come to the same, and begins anew.
    """
    random, whole, phases = scene.random, scene.whole(subject), Counter[Phase]()
    events = [event for event in EVENTS if subject.is_trained or event != "learning"]
    for event in islice(cycle(random.sample(events, len(events))), _MOST_STARTS_PER_KILL * kills):
        watch, command = Watch(scene.out), scene.begin(subject)
        if watch.awaits(drawn(random, event), command, whole.size_bytes):
            command.signal(signal.SIGKILL, to_all=random.random() < _ALL_AT_ONCE)
        ended = scene.end(command, 0, -signal.SIGKILL, waits=random.random() > _AT_ONCE)
        if ended.exit_code:
            phases[watch.phase()] += 1
        else:
            scene.require_finished(subject)
            shutil.rmtree(scene.out)
        if phases.total() == kills:
            break
    else:
        raise UnexpectedError(f"only {phases.total()} of {kills} kills came before the end")
    scene.finish(subject)
    return phases


def killed_and_read(scene: Scene, reading: Reading, kills: int) -> int:
    """Kill whoever makes something so often: it is there whole or not at all. Return how many kills came in time."""
    took_s = scene.end(reading.begin("first"), 0).took_s
    landed = 0
    for number in range(kills):
        command = reading.begin(str(number))
        sleep(scene.random.uniform(0.0, took_s))
        command.signal(signal.SIGKILL)
        landed += scene.end(command, 0, -signal.SIGKILL).exit_code != 0
        reading.require_whole_or_nothing(str(number), "first")
    return landed
