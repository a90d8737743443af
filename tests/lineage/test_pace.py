"""Checkpoints never take more than their share of the time."""

import pytest

from hfedms_sim.lineage.pace import SHARE, Pace


class HandClock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.mark.parametrize("round_s", [0.001, 0.1, 3.0])
@pytest.mark.parametrize("checkpoint_s", [0.002, 0.1, 2.0])
def test_the_share_is_kept_and_used(round_s: float, checkpoint_s: float) -> None:
    clock = HandClock()
    pace, written = Pace(model_bytes=10**6, clock=clock), 0
    for _ in range(20_000):
        clock.now_s += round_s
        if pace.is_due():
            with pace.timed():
                clock.now_s += checkpoint_s
            written += 1
    elapsed_s = clock.now_s - 100.0
    assert pace.spent_s == pytest.approx(written * checkpoint_s)
    assert pace.spent_s <= max(SHARE * elapsed_s, checkpoint_s)  # the first is written before its cost is known
    if elapsed_s > 100 * checkpoint_s / SHARE:
        assert pace.spent_s > 0.9 * min(SHARE * elapsed_s, 20_000 * checkpoint_s)


def test_a_large_model_waits_longer_for_its_first_checkpoint() -> None:
    clock = HandClock()
    small, large = (Pace(size, clock=clock) for size in (10**4, 10**9))
    clock.now_s += 1.0
    assert small.is_due()
    assert not large.is_due()
