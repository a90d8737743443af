"""FairPool against the theory of processor sharing: insensitive to the size law, and fair to every size."""

from functools import partial

import numpy as np
import pytest

from hfedms_sim.world.radio.airtime import FairPool
from tests.verification.queueing import (
    CONFIDENCE,
    SIZE_LAWS,
    Seconds,
    Served,
    SizeLaw,
    assert_agrees,
    erlang_c,
    exponential,
    mean_responses_s,
    poisson_replications,
)

LOAD = 0.6
SIZE_BINS = 5


@pytest.mark.thorough
@pytest.mark.parametrize("law", SIZE_LAWS)
def test_one_channel_takes_the_mean_airtime_over_the_idle_share_whatever_the_size_law(law: SizeLaw) -> None:
    measured_s = mean_responses_s(partial(FairPool, channels=1), law, LOAD)
    assert_agrees(f"M/G/1-PS {law.__name__}", measured_s, theory=1.0 / (1.0 - LOAD))


@pytest.mark.thorough
@pytest.mark.parametrize("law", SIZE_LAWS)
def test_several_channels_follow_erlang_c_whatever_the_size_law(law: SizeLaw) -> None:
    channels, load = 3, 2.1
    measured_s = mean_responses_s(partial(FairPool, channels=channels), law, load)
    theory_s = 1.0 + erlang_c(channels, load) / (channels - load)
    assert_agrees(f"M/G/{channels}-PS {law.__name__}", measured_s, theory_s)


def mean_slowdown_by_size(served: Served, inner_edges_s: Seconds) -> Seconds:
    size_bin = np.digitize(served.airtime_s, inner_edges_s)
    total = np.bincount(size_bin, served.response_s / served.airtime_s, SIZE_BINS)
    return total / np.bincount(size_bin, minlength=SIZE_BINS)


@pytest.mark.thorough
def test_slowdown_is_the_same_for_short_and_long_transfers() -> None:
    """One interval per size bin; the confidence is raised so that all of them together have the usual one."""
    inner_edges_s = -np.log1p(-np.arange(1, SIZE_BINS) / SIZE_BINS)  # equally likely bins
    replications = poisson_replications(partial(FairPool, channels=1), exponential, LOAD)
    slowdown = np.array([mean_slowdown_by_size(served, inner_edges_s) for served in replications])
    confidence = 1.0 - (1.0 - CONFIDENCE) / SIZE_BINS
    for number, in_bin in enumerate(slowdown.T):
        assert_agrees(f"slowdown, size bin {number}", in_bin, 1.0 / (1.0 - LOAD), confidence)
