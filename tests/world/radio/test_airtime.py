"""Sharing airtime by hand: small cases whose times can be worked out on paper."""

from itertools import permutations
from typing import Any

import pytest
from simpy import Environment
from simpy.events import ProcessGenerator

from hfedms_sim.world.radio.airtime import FairPool, FifoPool, Pool


def send_at(
    env: Environment,
    pool: Pool,
    log: list[Any],
    start_s: float,
    airtime_s: float,
    name: str,
    latency_s: float = 0.0,
) -> None:
    def process() -> ProcessGenerator:
        yield env.timeout(start_s)
        began_s = yield pool.send(airtime_s, latency_s)
        log.append((name, began_s, env.now) if isinstance(pool, FifoPool) else (name, env.now))

    env.process(process())


def test_a_transfer_alone_takes_its_airtime(env: Environment, log: list[Any]) -> None:
    send_at(env, FairPool(env, 1), log, 2.0, 5.0, "a")
    env.run()
    assert log == [("a", 7.0)]


def test_a_newcomer_halves_the_speed_until_it_has_gone(env: Environment, log: list[Any]) -> None:
    """a has 10 s: 4 alone, then 2 in the 4 s that b's 2 s take, then 4 alone again: 4 + 4 + 4."""
    pool = FairPool(env, 1)
    send_at(env, pool, log, 0.0, 10.0, "a")
    send_at(env, pool, log, 4.0, 2.0, "b")
    env.run()
    assert log == [("b", 8.0), ("a", 12.0)]


def test_as_many_transfers_as_channels_do_not_disturb_each_other(env: Environment, log: list[Any]) -> None:
    pool = FairPool(env, 2)
    send_at(env, pool, log, 0.0, 3.0, "a")
    send_at(env, pool, log, 1.0, 3.0, "b")
    env.run()
    assert log == [("a", 3.0), ("b", 4.0)]


def test_three_transfers_on_two_channels_run_at_two_thirds(env: Environment, log: list[Any]) -> None:
    pool = FairPool(env, 2)
    for name in "abc":
        send_at(env, pool, log, 0.0, 4.0, name)
    env.run()
    assert log == [("a", 6.0), ("b", 6.0), ("c", 6.0)]


def test_dedicated_channels_share_nothing(env: Environment, log: list[Any]) -> None:
    pool = FairPool(env, float("inf"))
    for name, airtime_s in zip("abc", (3.0, 1.0, 2.0), strict=True):
        send_at(env, pool, log, 0.0, airtime_s, name)
    env.run()
    assert log == [("b", 1.0), ("c", 2.0), ("a", 3.0)]


def test_a_scheduler_with_whole_units_wastes_the_remainder(env: Environment, log: list[Any]) -> None:
    """Seven devices share 12 units, one each: 7 / 12 of the airtime is used, so all end at 12 S."""
    pool = FairPool(env, 1, resource_units=12)
    for number in range(7):
        send_at(env, pool, log, 0.0, 1.0, str(number))
    env.run()
    assert {time_s for _, time_s in log} == {12.0}


@pytest.mark.parametrize(
    ("active", "speed"), [(1, 1.0), (2, 0.5), (5, 2 / 12), (7, 1 / 12), (12, 1 / 12), (13, 1 / 13)]
)
def test_speed_with_twelve_units(env: Environment, log: list[Any], active: int, speed: float) -> None:
    pool = FairPool(env, 1, resource_units=12)
    for number in range(active):
        send_at(env, pool, log, 0.0, 1.0, str(number))
    env.run()
    assert log[-1][1] == pytest.approx(1 / speed)


def test_a_duty_cycle_caps_each_sender(env: Environment, log: list[Any]) -> None:
    """At 10 % each, ten fit on 1 channel; the eleventh slows all down to 1 / 11."""
    pool = FairPool(env, 1, duty_cycle=0.1)
    send_at(env, pool, log, 0.0, 1.0, "alone")
    for number in range(11):
        send_at(env, pool, log, 100.0, 1.0, str(number))
    env.run()
    assert log[0] == ("alone", pytest.approx(10.0))
    assert [time_s for _, time_s in log[1:]] == pytest.approx([111.0] * 11)


@pytest.mark.parametrize("pool_type", [FairPool, FifoPool])
def test_latency_delays_the_delivery_and_frees_the_air(
    env: Environment, log: list[Any], pool_type: type[FairPool] | type[FifoPool]
) -> None:
    pool = pool_type(env, 1)
    send_at(env, pool, log, 0.0, 2.0, "a", 0.5)
    send_at(env, pool, log, 2.0, 2.0, "b", 0.5)
    env.run()
    assert [entry[-1] for entry in log] == [2.5, 4.5]


def test_transfers_that_end_together_arrive_each_after_its_own_latency(env: Environment, log: list[Any]) -> None:
    pool = FairPool(env, 1)
    for name, latency_s in zip("abcd", (0.5, 0.0, 2.0, 0.5), strict=True):
        send_at(env, pool, log, 0.0, 1.0, name, latency_s)
    env.run()
    assert log == [("b", 4.0), ("a", 4.5), ("d", 4.5), ("c", 6.0)]


def test_first_come_is_first_served_on_every_channel(env: Environment, log: list[Any]) -> None:
    pool = FifoPool(env, 2)
    for name, start_s, airtime_s in (("a", 0.0, 5.5), ("b", 1.0, 2.0), ("c", 1.5, 1.0), ("d", 1.6, 1.0)):
        send_at(env, pool, log, start_s, airtime_s, name)
    env.run()
    assert log == [("b", 1.0, 3.0), ("c", 3.0, 4.0), ("d", 4.0, 5.0), ("a", 0.0, 5.5)]


def test_precision_does_not_wear_out(env: Environment, log: list[Any]) -> None:
    """After a year of back-to-back traffic a millisecond is still a millisecond."""
    pool = FairPool(env, 1)
    send_at(env, pool, log, 0.0, 3.15e7, "year")
    send_at(env, pool, log, 3.15e7 + 1, 1e-3, "short")
    env.run()
    assert log[1][1] - (3.15e7 + 1) == pytest.approx(1e-3, rel=1e-5)


@pytest.mark.parametrize("airtimes_s", list(permutations([1.0, 2.0, 3.0, 4.0])))
def test_a_burst_ends_in_the_order_of_its_lengths_however_it_was_sent(
    env: Environment, airtimes_s: tuple[float, ...]
) -> None:
    """When the n-th has ended, the n shortest have had all their airtime and each other one as much as the n-th."""
    pool, ends_s = FairPool(env, 1), []
    for airtime_s in airtimes_s:
        pool.send(airtime_s).callbacks.append(lambda _: ends_s.append(env.now))
    env.run()
    assert ends_s == [4.0, 7.0, 9.0, 10.0]
