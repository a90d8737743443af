"""A run leaves Python's garbage collector as it found it."""

import gc
from collections.abc import Iterator

import pytest

from hfedms_sim.simulation import run
from tests.conftest import tiny_scenario


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    yield
    gc.unfreeze()
    gc.enable()


def test_it_is_on_between_rounds_but_does_not_look_through_what_they_left() -> None:
    """A round of 400 sensors leaves some thousand rows behind, which is more than it waits for."""
    enabled: list[bool] = []
    collections: list[int] = []

    def note(phase: str, details: dict[str, int]) -> None:
        if 0 < len(enabled) < 6 and phase == "start":
            collections.append(details["generation"])

    gc.callbacks.append(note)
    try:
        scenario = tiny_scenario(rounds=6, sensors={"count": 400})
        run(scenario, timing_only=True, on_round=lambda _: enabled.append(gc.isenabled()))
    finally:
        gc.callbacks.remove(note)
    assert enabled == [True] * 6
    assert collections == []
    assert gc.get_freeze_count() == 0


def test_what_was_frozen_stays_frozen() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    run(tiny_scenario(rounds=2), timing_only=True)
    assert gc.get_freeze_count() == pytest.approx(frozen, rel=0.01)


def test_off_stays_off() -> None:
    gc.disable()
    run(tiny_scenario(rounds=2), timing_only=True)
    assert not gc.isenabled()
