"""Any mix of transfers: the fast pools deliver when the slow, obvious ones in `oracles` do."""

from collections.abc import Sequence
from functools import partial
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hfedms_sim.world.airtime import FairPool, FifoPool
from hfedms_sim.world.clock import Clock
from hfedms_sim.world.stories import Story, Together
from tests.verification.oracles import fair_speed, serve_in_order, share_step_by_step
from tests.verification.queueing import Log, PoolOf, Seconds, Served, serve

# Round numbers make arrivals, ends and sizes coincide; the others never do.
airtimes_s = st.sampled_from([0.5, 1.0, 1.5, 3.0]) | st.floats(1e-3, 100.0)
gaps_s = st.sampled_from([0.0, 0.0, 0.25, 0.5, 1.0]) | st.floats(0.0, 100.0)
transfers = st.lists(st.tuples(gaps_s, airtimes_s), min_size=1, max_size=25)
senders = st.lists(st.lists(airtimes_s, min_size=1, max_size=6), min_size=1, max_size=8)
channel_counts = st.sampled_from([1, 2, 3, 4, 8, inf])
unit_counts = st.sampled_from([None, None, 1, 2, 5, 6, 12])
latencies_s = st.sampled_from([0.0, 0.015, 2.0])
# A transfer of days has to be as right as one of milliseconds.
scales = st.sampled_from([1e-3, 1.0, 86_400.0])

# The same examples every time, as the seeds of the replications are.
thoroughly = settings(max_examples=300, deadline=None, derandomize=True)


def assert_same(measured_s: Seconds, expected_s: Sequence[float], sent_s: Seconds) -> None:
    """Responses agree to 1e-9, or to what a clock in floating point resolves at the end of the run."""
    clock_s = 1e-13 * float(np.max(measured_s))
    assert measured_s - sent_s == pytest.approx(np.array(expected_s) - sent_s, rel=1e-9, abs=clock_s)


def assert_shared(served: Served, channels: float, resource_units: int | None, latency_s: float) -> None:
    speed = fair_speed(channels, resource_units)
    ended_s = share_step_by_step(served.sent_s.tolist(), served.airtime_s.tolist(), speed)
    assert_same(served.delivered_s, [end_s + latency_s for end_s in ended_s], served.sent_s)
    assert np.isnan(served.started_s).all()


def assert_in_order(served: Served, channels: float, latency_s: float) -> None:
    started_s, ended_s = serve_in_order(served.sent_s.tolist(), served.airtime_s.tolist(), channels)
    assert_same(served.delivered_s, [end_s + latency_s for end_s in ended_s], served.sent_s)
    assert_same(served.started_s, started_s, served.sent_s)


def scaled(mix: list[tuple[float, float]], scale: float) -> tuple[list[float], list[float]]:
    return [gap_s * scale for gap_s, _ in mix], [airtime_s * scale for _, airtime_s in mix]


def serve_senders(pool_of: PoolOf, queues_s: list[list[float]]) -> Served:
    """Each sender sends its next transfer when the one before is delivered: sends coincide with ends."""
    env = Clock()
    log = Log(env, pool_of(env))

    def sender(queue_s: list[float]) -> Story:
        for airtime_s in queue_s:
            yield log.send(airtime_s)

    env.run(Together(env, map(sender, queues_s)))
    return log.served()


@thoroughly
@given(transfers, channel_counts, unit_counts, latencies_s, scales)
def test_fair_sharing_equals_serving_everyone_step_by_step(
    mix: list[tuple[float, float]], channels: float, resource_units: int | None, latency_s: float, scale: float
) -> None:
    pool_of = partial(FairPool, channels=channels, resource_units=resource_units, latency_s=latency_s)
    assert_shared(serve(pool_of, *scaled(mix, scale)), channels, resource_units, latency_s)


@thoroughly
@given(senders, channel_counts, unit_counts, latencies_s)
def test_fair_sharing_is_exact_when_a_delivery_starts_the_next_transfer(
    queues_s: list[list[float]], channels: float, resource_units: int | None, latency_s: float
) -> None:
    pool_of = partial(FairPool, channels=channels, resource_units=resource_units, latency_s=latency_s)
    assert_shared(serve_senders(pool_of, queues_s), channels, resource_units, latency_s)


@thoroughly
@given(transfers, channel_counts, latencies_s, scales)
def test_fifo_equals_taking_the_server_that_is_free_first(
    mix: list[tuple[float, float]], channels: float, latency_s: float, scale: float
) -> None:
    pool_of = partial(FifoPool, channels=channels, latency_s=latency_s)
    assert_in_order(serve(pool_of, *scaled(mix, scale)), channels, latency_s)


@thoroughly
@given(senders, channel_counts, latencies_s)
def test_fifo_is_exact_when_a_delivery_starts_the_next_transfer(
    queues_s: list[list[float]], channels: float, latency_s: float
) -> None:
    pool_of = partial(FifoPool, channels=channels, latency_s=latency_s)
    assert_in_order(serve_senders(pool_of, queues_s), channels, latency_s)
