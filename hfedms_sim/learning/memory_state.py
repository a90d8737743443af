"""What HFedMS-D's sensors remember, as arrays of the learner's state and back.

Memories refer to the extractor whose space they are in; each extractor is written once, however many refer to it. That
of the current cycle is not, since it is part of the model, nor is the initial one, which every learner begins with.
Which extractor a memory is in must come back as the same object: that is how the learner tells whether a memory is
behind.
"""

from hfedms_sim.learning.networks import Weights
from hfedms_sim.learning.semantics import Memory, Semantics
from hfedms_sim.learning.state import arrays_of, rows, stacked, unstacked, weights_under
from hfedms_sim.lineage import State
from hfedms_sim.rounds import Samples

_INITIAL, _CURRENT = -1, 0  # numbers of the extractors that need not be written; those of others count from 1


def memories_state(memories: dict[int, Memory], current: Weights, initial: Weights) -> State:
    numbers = {id(initial): _INITIAL, id(current): _CURRENT}
    state: State = {}
    table = []
    for sensor, memory in memories.items():
        if id(memory.extractor) not in numbers:
            numbers[id(memory.extractor)] = number = len(numbers) - 1
            state |= arrays_of(f"memory/extractor/{number}", memory.extractor)
        table.append((sensor, len(memory.labels), numbers[id(memory.extractor)]))
    return state | {
        "memory/table": rows(table, 3),
        "memory/vectors": stacked([memory.vectors for memory in memories.values()]),
        "memory/labels": stacked([memory.labels for memory in memories.values()]),
    }


def memories_from(state: State, current: Weights, initial: Weights) -> dict[int, Memory]:
    table = state["memory/table"].tolist()
    numbers = {number for _, _, number in table if number > _CURRENT}
    extractors = {_INITIAL: initial, _CURRENT: current} | {
        number: weights_under(f"memory/extractor/{number}", state) for number in sorted(numbers)
    }
    sizes = [size for _, size, _ in table]
    pieces = zip(
        table, unstacked(state, "memory/vectors", sizes), unstacked(state, "memory/labels", sizes), strict=True
    )
    return {
        sensor: Memory(vectors.clone(), labels.clone(), extractors[number])
        for (sensor, _, number), vectors, labels in pieces
    }


def cycle_state(extracted: dict[int, list[Semantics]], captured: dict[int, list[Samples]]) -> State:
    """What each participant of the cycle has extracted, and which samples of its own these were."""
    entries = [
        (sensor, semantics, samples)
        for sensor in extracted
        for semantics, samples in zip(extracted[sensor], captured[sensor], strict=True)
    ]
    return {
        "cycle/table": rows([(sensor, len(each.labels), len(samples)) for sensor, each, samples in entries], 3),
        "cycle/vectors": stacked([semantics.vectors for _, semantics, _ in entries]),
        "cycle/labels": stacked([semantics.labels for _, semantics, _ in entries]),
        "cycle/ranges": rows([span for _, _, samples in entries for span in samples], 2),
    }


def cycle_from(state: State) -> tuple[dict[int, list[Semantics]], dict[int, list[Samples]]]:
    table = state["cycle/table"].tolist()
    sizes = [size for _, size, _ in table]
    spans = iter(state["cycle/ranges"].tolist())
    extracted: dict[int, list[Semantics]] = {}
    captured: dict[int, list[Samples]] = {}
    pieces = zip(table, unstacked(state, "cycle/vectors", sizes), unstacked(state, "cycle/labels", sizes), strict=True)
    for (sensor, _, ranges), vectors, labels in pieces:
        extracted.setdefault(sensor, []).append(Semantics(vectors.clone(), labels.clone()))
        samples = [next(spans) for _ in range(ranges)]
        captured.setdefault(sensor, []).append(tuple((first, count) for first, count in samples))
    return extracted, captured


def seen_state(seen: dict[int, dict[tuple[int, int], None]]) -> State:
    """The oracle's raw samples, in order."""
    return {"seen": rows([(sensor, *span) for sensor, spans in seen.items() for span in spans], 3)}


def seen_from(state: State) -> dict[int, dict[tuple[int, int], None]]:
    seen: dict[int, dict[tuple[int, int], None]] = {}
    for sensor, first, count in state["seen"].tolist():
        seen.setdefault(sensor, {})[first, count] = None
    return seen
