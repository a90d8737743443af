"""FifoPool against M/M/1, Pollaczek-Khinchine and Erlang C."""

from functools import partial

import pytest

from hfedms_sim.world.radio.airtime import FifoPool
from tests.verification.queueing import assert_agrees, deterministic, erlang_c, exponential, mean_responses_s

LOAD = 0.6


@pytest.mark.thorough
def test_exponential_airtimes_on_one_channel_follow_mm1() -> None:
    served_per_s = 1.0
    measured_s = mean_responses_s(partial(FifoPool, channels=1), exponential, LOAD)
    assert_agrees("M/M/1", measured_s, theory=1.0 / (served_per_s - LOAD))


@pytest.mark.thorough
def test_equal_airtimes_on_one_channel_follow_pollaczek_khinchine() -> None:
    second_moment_s2 = 1.0
    measured_s = mean_responses_s(partial(FifoPool, channels=1), deterministic, LOAD)
    assert_agrees("M/D/1", measured_s, theory=1.0 + LOAD * second_moment_s2 / (2.0 * (1.0 - LOAD)))


@pytest.mark.thorough
def test_exponential_airtimes_on_several_channels_follow_erlang_c() -> None:
    channels, load = 3, 2.1
    measured_s = mean_responses_s(partial(FifoPool, channels=channels), exponential, load)
    assert_agrees(f"M/M/{channels}", measured_s, theory=1.0 + erlang_c(channels, load) / (channels - load))
