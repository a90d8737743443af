"""A run leaves Python's garbage collector as it found it."""

import gc
from collections.abc import Iterator

import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.simulation import run
from hfedms_sim.world.world import World
from tests.conftest import tiny_scenario


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    yield
    gc.unfreeze()
    gc.enable()


@pytest.mark.parametrize("is_on", [True, False])
def test_it_is_as_it_was_found_between_rounds_and_after_them(is_on: bool) -> None:
    if not is_on:
        gc.disable()
    found: list[bool] = []
    run(tiny_scenario(rounds=3), timing_only=True, on_round=lambda _: found.append(gc.isenabled()))
    assert [*found, gc.isenabled()] == [is_on] * 4


def test_it_is_on_again_after_a_round_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise InputError("no such round")

    monkeypatch.setattr(World, "play", fail)
    with pytest.raises(InputError, match="no such round"):
        run(tiny_scenario(), timing_only=True)
    assert gc.isenabled()


@pytest.mark.parametrize("is_frozen", [True, False])
def test_nothing_is_frozen_or_thawed(is_frozen: bool) -> None:
    if is_frozen:
        gc.freeze()
    frozen = gc.get_freeze_count()
    run(tiny_scenario(rounds=2), timing_only=True)
    assert gc.get_freeze_count() == pytest.approx(frozen, rel=0.01)


def test_thresholds_stay() -> None:
    before = gc.get_threshold()
    run(tiny_scenario(rounds=2), timing_only=True)
    assert gc.get_threshold() == before
