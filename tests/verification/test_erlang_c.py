"""The formula the pools are verified with is itself checked against its definition and a textbook value."""

from math import factorial

import pytest

from tests.verification.queueing import erlang_c


@pytest.mark.parametrize("load", [0.1, 0.6, 0.95])
def test_with_one_channel_an_arrival_waits_when_the_channel_is_busy(load: float) -> None:
    assert erlang_c(1, load) == pytest.approx(load, rel=1e-14)


@pytest.mark.parametrize(("channels", "load"), [(2, 1.0), (3, 2.1), (4, 2.8), (12, 11.5)])
def test_the_recursion_equals_the_direct_sum(channels: int, load: float) -> None:
    all_busy = load**channels / factorial(channels) * channels / (channels - load)
    some_free = sum(load**busy / factorial(busy) for busy in range(channels))
    assert erlang_c(channels, load) == pytest.approx(all_busy / (some_free + all_busy), rel=1e-13)


def test_two_channels_at_half_load_make_one_arrival_in_three_wait() -> None:
    assert erlang_c(2, 1.0) == pytest.approx(1.0 / 3.0, rel=1e-14)


def test_five_channels_at_four_erlang_give_the_tabulated_value() -> None:
    assert erlang_c(5, 4.0) == pytest.approx(0.5541, abs=5e-5)
