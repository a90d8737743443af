"""Any mix of transfers: the fast pools deliver when the slow, obvious ones in `oracles` do."""

from collections.abc import Sequence
from functools import partial
from itertools import cycle
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simpy import Environment
from simpy.events import ProcessGenerator

from hfedms_sim.world.radio.airtime import FairPool, FifoPool
from tests.verification.oracles import fair_speed, queue_step_by_step, serve_in_order, share_step_by_step
from tests.verification.queueing import Log, PoolOf, Seconds, Served, serve

# Round numbers make arrivals, ends and sizes coincide; the others never do.
airtimes_s = st.sampled_from([0.5, 1.0, 1.5, 3.0]) | st.floats(1e-3, 100.0)
gaps_s = st.sampled_from([0.0, 0.0, 0.25, 0.5, 1.0]) | st.floats(0.0, 100.0)
patiences_s = st.sampled_from([0.0, 0.5, 1.0, 2.0]) | st.floats(0.0, 200.0) | st.none()  # None: never cancelled
transfers_with_cancels = st.lists(st.tuples(gaps_s, airtimes_s, patiences_s), min_size=1, max_size=25)
transfers = st.lists(st.tuples(gaps_s, airtimes_s), min_size=1, max_size=25)
senders = st.lists(st.lists(airtimes_s, min_size=1, max_size=6), min_size=1, max_size=8)
channel_counts = st.sampled_from([1, 2, 3, 4, 8, inf])
shared_counts = channel_counts | st.sampled_from([1.5, 2.4, 155 / 62, 6.75])  # a cell's capacity need be no whole rate
unit_counts = st.sampled_from([None, None, 1, 2, 5, 6, 12])
latencies = st.sampled_from([(0.0,), (0.015,), (2.0,), (0.1, 0.0, 0.5, 0.1)])  # of one transfer after the other
# A transfer of days has to be as right as one of milliseconds.
scales = st.sampled_from([1e-3, 1.0, 86_400.0])

# The same examples every time, as the seeds of the replications are.
thoroughly = settings(max_examples=300, deadline=None, derandomize=True)


def assert_same(measured_s: Seconds, expected_s: Sequence[float], sent_s: Seconds) -> None:
    """Responses agree to 1e-9, or to what a clock in floating point resolves at the end of the run."""
    clock_s = 1e-13 * float(np.max(measured_s))
    assert measured_s - sent_s == pytest.approx(np.array(expected_s) - sent_s, rel=1e-9, abs=clock_s)


def later(ended_s: Sequence[float], latencies_s: Sequence[float]) -> list[float]:
    return [end_s + latency_s for end_s, latency_s in zip(ended_s, cycle(latencies_s), strict=False)]


def assert_shared(served: Served, channels: float, resource_units: int | None, latencies_s: Sequence[float]) -> None:
    speed = fair_speed(channels, resource_units)
    ended_s, _ = share_step_by_step(served.sent_s.tolist(), served.airtime_s.tolist(), speed)
    assert_same(served.delivered_s, later(ended_s, latencies_s), served.sent_s)
    assert (served.started_s == served.sent_s).all()


def assert_in_order(served: Served, channels: float, latencies_s: Sequence[float]) -> None:
    started_s, ended_s = serve_in_order(served.sent_s.tolist(), served.airtime_s.tolist(), channels)
    assert_same(served.delivered_s, later(ended_s, latencies_s), served.sent_s)
    assert_same(served.started_s, started_s, served.sent_s)


def scaled(mix: list[tuple[float, float]], scale: float) -> tuple[list[float], list[float]]:
    return [gap_s * scale for gap_s, _ in mix], [airtime_s * scale for _, airtime_s in mix]


def serve_senders(pool_of: PoolOf, queues_s: list[list[float]], latencies_s: Sequence[float]) -> Served:
    """Each sender sends its next transfer when the one before is delivered: sends coincide with ends."""
    env = Environment(0.0)
    log = Log(env, pool_of(env), latencies_s)

    def sender(queue_s: list[float]) -> ProcessGenerator:
        for airtime_s in queue_s:
            yield log.send(airtime_s)

    env.run(env.all_of([env.process(sender(queue_s)) for queue_s in queues_s]))
    return log.served()


@thoroughly
@given(transfers, shared_counts, unit_counts, latencies, scales)
def test_fair_sharing_equals_serving_everyone_step_by_step(
    mix: list[tuple[float, float]],
    channels: float,
    resource_units: int | None,
    latencies_s: Sequence[float],
    scale: float,
) -> None:
    pool_of = partial(FairPool, channels=channels, resource_units=resource_units)
    assert_shared(serve(pool_of, *scaled(mix, scale), latencies_s), channels, resource_units, latencies_s)


@thoroughly
@given(senders, shared_counts, unit_counts, latencies)
def test_fair_sharing_is_exact_when_a_delivery_starts_the_next_transfer(
    queues_s: list[list[float]], channels: float, resource_units: int | None, latencies_s: Sequence[float]
) -> None:
    pool_of = partial(FairPool, channels=channels, resource_units=resource_units)
    assert_shared(serve_senders(pool_of, queues_s, latencies_s), channels, resource_units, latencies_s)


@thoroughly
@given(transfers, channel_counts, latencies, scales)
def test_fifo_equals_taking_the_server_that_is_free_first(
    mix: list[tuple[float, float]], channels: float, latencies_s: Sequence[float], scale: float
) -> None:
    pool_of = partial(FifoPool, channels=channels)
    assert_in_order(serve(pool_of, *scaled(mix, scale), latencies_s), channels, latencies_s)


@thoroughly
@given(senders, channel_counts, latencies)
def test_fifo_is_exact_when_a_delivery_starts_the_next_transfer(
    queues_s: list[list[float]], channels: float, latencies_s: Sequence[float]
) -> None:
    pool_of = partial(FifoPool, channels=channels)
    assert_in_order(serve_senders(pool_of, queues_s, latencies_s), channels, latencies_s)


def send_and_cancel(
    pool_of: PoolOf, mix: list[tuple[float, float, float | None]]
) -> tuple[list[float], list[float], list[float], list[float]]:
    """When each was sent and cancelled (or never), when it was delivered (or never), and the airtime it has had."""
    env = Environment(0.0)
    pool = pool_of(env)
    sent_s: list[float] = []
    cancelled_s, delivered_s, received_s = ([inf] * len(mix) for _ in range(3))

    def one(number: int, airtime_s: float, patience_s: float | None) -> ProcessGenerator:
        delivery = pool.send(airtime_s)
        if patience_s is None:
            yield delivery
        else:
            cancelled_s[number] = env.now + patience_s
            yield delivery | env.timeout(patience_s)
        if delivery.processed:
            delivered_s[number] = env.now
        received_s[number] = delivery.cancel()

    def arrivals() -> ProcessGenerator:
        for number, (gap_s, airtime_s, patience_s) in enumerate(mix):
            if gap_s:
                yield env.timeout(gap_s)
            sent_s.append(env.now)
            env.process(one(number, airtime_s, patience_s))

    env.process(arrivals())
    env.run()
    return sent_s, cancelled_s, delivered_s, received_s


def assert_cancelled_exactly(
    measured: list[list[float]], expected: tuple[list[float], list[float]], longest_s: float
) -> None:
    """Who was not cancelled ends when the oracle says; all have had the airtime it says."""
    sent_s, cancelled_s, delivered_s, received_s = measured
    ended_s, expected_received_s = expected
    clock_s = 1e-12 * max(*ended_s, longest_s)
    assert received_s == pytest.approx(expected_received_s, rel=1e-9, abs=clock_s)
    patient = [number for number, time_s in enumerate(cancelled_s) if time_s == inf]
    measured_s = [delivered_s[each] - sent_s[each] for each in patient]
    assert measured_s == pytest.approx([ended_s[each] - sent_s[each] for each in patient], rel=1e-9, abs=clock_s)


@thoroughly
@given(transfers_with_cancels, shared_counts, unit_counts)
def test_when_some_are_cancelled_the_others_share_what_they_leave_exactly(
    mix: list[tuple[float, float, float | None]], channels: float, resource_units: int | None
) -> None:
    pool_of = partial(FairPool, channels=channels, resource_units=resource_units)
    measured = list(send_and_cancel(pool_of, mix))
    airtime_s = [airtime_s for _, airtime_s, _ in mix]
    expected = share_step_by_step(measured[0], airtime_s, fair_speed(channels, resource_units), measured[1])
    assert_cancelled_exactly(measured, expected, max(airtime_s))


@thoroughly
@given(transfers_with_cancels, channel_counts)
def test_when_some_are_cancelled_the_next_in_the_queue_moves_up_exactly(
    mix: list[tuple[float, float, float | None]], channels: float
) -> None:
    measured = list(send_and_cancel(partial(FifoPool, channels=channels), mix))
    airtime_s = [airtime_s for _, airtime_s, _ in mix]
    expected = queue_step_by_step(measured[0], airtime_s, channels, measured[1])
    assert_cancelled_exactly(measured, expected, max(airtime_s))


@pytest.mark.parametrize("count", [2, 3, 10])
def test_cancelling_one_of_n_halfway_saves_the_others_its_other_half(count: int) -> None:
    """n of 1 s share one channel; when each has had half, at n / 2, one goes: the others need (n - 1) / 2 more."""
    env, ends_s = Environment(0.0), list[float]()
    pool = FairPool(env, 1)
    first, *others = [pool.send(1.0) for _ in range(count)]
    for each in others:
        each.callbacks.append(lambda _: ends_s.append(env.now))
    env.run(until=count / 2)
    assert first.cancel() == pytest.approx(0.5)
    env.run()
    assert ends_s == pytest.approx([count / 2 + (count - 1) / 2] * (count - 1))
