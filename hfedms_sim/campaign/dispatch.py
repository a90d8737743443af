"""Hands tasks to workers, as soon as there is room and each may start, and tries once more what fails."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

from hfedms_sim.campaign.tasks import Task
from hfedms_sim.campaign.workers import At, Finished, Workers

ATTEMPTS = 2
_LOOK_AGAIN_S = 0.5

IsReady = Callable[[str, Collection[str]], bool]
"""Whether a task may start, given its key and those of all that have not ended."""


class DispatchStep(NamedTuple):
    """What has happened since the dispatch step before: which tasks have ended for good, and where the others are."""

    ended: list[Finished]
    running: tuple[str, ...]
    """Names in the order in which they were started; whoever takes the place of one that has ended is among them."""
    at: Mapping[str, At]


def dispatched(
    tasks: Mapping[str, Task], workers: Workers, is_ready: IsReady = lambda key, pending: True
) -> Iterator[DispatchStep]:
    """Have all tasks performed, in their order as far as they are ready; yield a step at least twice a second."""
    attempts = dict.fromkeys(tasks, 0)
    waiting, running = list(tasks), list[str]()

    def start_ready() -> None:
        pending = {*waiting, *running}
        for key in list(waiting):
            if len(running) == workers.capacity:
                break
            if is_ready(key, pending):
                waiting.remove(key)
                running.append(key)
                attempts[key] += 1
                workers.start(key, tasks[key])

    while waiting or running:
        start_ready()
        ended = []
        for each in workers.finished(_LOOK_AGAIN_S):
            running.remove(each.key)
            if each.error is None or each.is_final or attempts[each.key] == ATTEMPTS:
                ended.append(each)
            else:
                waiting.append(each.key)
        start_ready()  # so that whoever is told of the step hears what is running now
        yield DispatchStep(ended, tuple(running), workers.at())
