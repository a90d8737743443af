"""The lazy buffers against a slow, obvious one: a real queue, fed sample by sample in order of time."""

import math
from collections import deque
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hfedms_sim.seeds import Draws
from hfedms_sim.world.streams.arrivals import ArrivalPath, PeriodicPath, PoissonPath
from hfedms_sim.world.streams.buffers import Buffers, Capture
from hfedms_sim.world.streams.bursts import BurstyPath
from tests.world.streams.traces import trace_path

# Round times make arrivals and captures coincide.
gaps_s = st.sampled_from([0.0, 0.0, 1.0, 2.0]) | st.floats(0, 20)
asked = st.lists(st.tuples(gaps_s, st.integers(0, 12)), min_size=1, max_size=15)
recorded = st.lists(gaps_s, max_size=60).map(lambda gaps: [sum(gaps[: n + 1]) for n in range(len(gaps))])
sizes = st.tuples(st.integers(1, 6), st.integers(0, 6)).map(lambda size: (size[0], sum(size)))
# The same examples every time.
thoroughly = settings(max_examples=150, deadline=None, derandomize=True)


class Oracle:
    def __init__(self, arrivals_s: Sequence[float], batch: int, buffer: int) -> None:
        self.to_come = deque(enumerate(arrivals_s))
        self.queue: deque[int] = deque()
        self.batch, self.buffer = batch, buffer
        self.arrived = self.overflowed = 0

    def advance(self, now_s: float) -> None:
        while self.to_come and self.to_come[0][1] <= now_s:
            self.queue.append(self.to_come.popleft()[0])
            self.arrived += 1
            if len(self.queue) > self.buffer:
                self.queue.popleft()
                self.overflowed += 1

    def capture(self) -> tuple[list[int], int, int]:
        """Return the samples taken; arrived and overflowed since the last time."""
        taken = sorted(self.queue.pop() for _ in range(min(self.batch, len(self.queue))))
        since, self.arrived, self.overflowed = (self.arrived, self.overflowed), 0, 0
        return taken, *since

    def ready_s(self, now_s: float, samples: int) -> float:
        held = len(self.queue)
        for _, arrival_s in self.to_come:
            if held >= samples:
                break
            held, now_s = min(held + 1, self.buffer), arrival_s
        return now_s if held >= samples else math.inf


def samples_of(capture: Capture) -> list[int]:
    return [first + n for first, length in capture.ranges for n in range(length)]


def waiting(buffers: Buffers, sensor: int, now_s: float, most: int) -> int:
    """Return how many samples the buffer holds, of `most`: the largest number for which nobody has to wait."""
    return max(samples for samples in range(most + 1) if buffers.ready_s(sensor, now_s, samples) == now_s)


def assert_well_formed(capture: Capture, arrivals: int) -> None:
    samples = samples_of(capture)
    assert len(samples) == capture.captured
    assert capture.first_arrival == (samples[0] if samples else arrivals)
    assert all(length > 0 for _, length in capture.ranges)
    ends = [first + length for first, length in capture.ranges]
    assert all(end < first for end, (first, _) in zip(ends, capture.ranges[1:], strict=False))


def assert_same_as_a_queue(
    path: ArrivalPath, arrivals_s: Sequence[float], size: tuple[int, int], asked: list[tuple[float, int]]
) -> None:
    buffers, oracle, now_s = Buffers(path, *size), Oracle(arrivals_s, *size), 0.0
    for gap_s, samples in asked:
        now_s += gap_s
        oracle.advance(now_s)
        assert waiting(buffers, 0, now_s, most=13) == len(oracle.queue) <= size[1]
        assert buffers.ready_s(0, now_s, samples) == oracle.ready_s(now_s, samples)
        capture = buffers.capture(0, now_s)
        assert (samples_of(capture), capture.arrived, capture.overflowed) == oracle.capture()
        assert_well_formed(capture, path.count(0, now_s))


@given(arrivals_s=recorded, size=sizes, asked=asked)
@thoroughly
def test_recorded_samples_are_kept_taken_and_lost_as_in_a_queue(
    arrivals_s: list[float], size: tuple[int, int], asked: list[tuple[float, int]]
) -> None:
    assert_same_as_a_queue(trace_path([arrivals_s]), arrivals_s, size, asked)


@given(seed=st.integers(0, 2**32), kind=st.sampled_from(["periodic", "poisson", "bursty"]), size=sizes, asked=asked)
@thoroughly
def test_drawn_samples_are_kept_taken_and_lost_as_in_a_queue(
    seed: int, kind: str, size: tuple[int, int], asked: list[tuple[float, int]]
) -> None:
    draws = Draws(seed)
    path: ArrivalPath = {
        "periodic": PeriodicPath(0.7, draws),
        "poisson": PoissonPath(0.7, draws),
        "bursty": BurstyPath(2.0, 5.0, 10.0, draws),
    }[kind]
    until_s = sum(gap_s for gap_s, _ in asked)
    arrivals_s = [path.time_of(0, number) for number in range(1, path.count(0, until_s) + 14)]
    assert_same_as_a_queue(path, arrivals_s, size, asked)


@given(seed=st.integers(0, 2**32), size=sizes, asked=asked, sensor=st.integers(0, 10**6))
@thoroughly
def test_what_arrived_was_captured_or_overflowed_or_waits(
    seed: int, size: tuple[int, int], asked: list[tuple[float, int]], sensor: int
) -> None:
    path = PoissonPath(0.5, Draws(seed))
    buffers, now_s, accounted = Buffers(path, *size), 0.0, 0
    for gap_s, _ in asked:
        now_s += gap_s
        holds = waiting(buffers, sensor, now_s, most=13)
        assert holds <= size[1]
        capture = buffers.capture(sensor, now_s)
        assert path.count(sensor, now_s) == accounted + capture.overflowed + holds
        accounted += capture.captured + capture.overflowed
        assert path.count(sensor, now_s) == accounted + waiting(buffers, sensor, now_s, most=13)


def test_a_capture_takes_the_newest_and_the_older_wait_for_the_next() -> None:
    buffers = Buffers(trace_path([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]), batch=2, buffer=4)
    assert buffers.capture(0, 5.0) == Capture(3, arrived=5, overflowed=1, captured=2, ranges=((3, 2),))
    assert waiting(buffers, 0, 5.0, most=4) == 2
    assert buffers.capture(0, 6.0) == Capture(2, arrived=1, overflowed=0, captured=2, ranges=((2, 1), (5, 1)))
    assert buffers.capture(0, 7.0) == Capture(1, arrived=0, overflowed=0, captured=1, ranges=((1, 1),))
    assert buffers.capture(0, 8.0) == Capture(6, arrived=0, overflowed=0, captured=0, ranges=())


def test_sensors_have_buffers_of_their_own() -> None:
    buffers = Buffers(trace_path([[1.0], [1.0, 2.0]]), batch=2, buffer=2)
    assert buffers.capture(0, 3.0).captured == 1
    assert waiting(buffers, 1, 3.0, most=2) == 2


def test_ready_is_when_the_missing_sample_comes_or_never() -> None:
    buffers = Buffers(trace_path([[1.0, 2.0, 5.0]]), batch=2, buffer=3)
    assert [buffers.ready_s(0, 1.5, samples) for samples in range(5)] == [1.5, 1.5, 2.0, 5.0, math.inf]
    buffers.capture(0, 2.0)
    assert [buffers.ready_s(0, 2.0, samples) for samples in range(3)] == [2.0, 5.0, math.inf]


def test_time_never_runs_back() -> None:
    buffers = Buffers(trace_path([[1.0, 2.0]]), batch=1, buffer=2)
    buffers.capture(0, 2.0)
    with pytest.raises(ValueError, match="time runs back"):
        buffers.capture(0, 1.0)


@pytest.mark.parametrize(("batch", "buffer"), [(0, 5), (-1, 5), (6, 5)])
def test_a_buffer_holds_at_least_a_batch(batch: int, buffer: int) -> None:
    with pytest.raises(ValueError, match="batch"):
        Buffers(trace_path([[]]), batch, buffer)
