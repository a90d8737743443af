"""Stories run side by side and end together."""

from typing import Any

import pytest

from hfedms_sim.world.clock import Clock
from hfedms_sim.world.stories import Together


def test_together_happens_when_the_last_story_has_ended(env: Clock, log: list[Any]) -> None:
    def story(name: str, *delays_s: float) -> Any:
        for delay_s in delays_s:
            yield env.timeout(delay_s)
            log.append((name, env.now))

    env.run(Together(env, [story("a", 1.0, 3.0), story("b", 2.0)]))
    assert log == [("a", 1.0), ("b", 2.0), ("a", 4.0)]
    assert env.now == 4.0


def test_a_story_gets_the_value_of_what_it_waited_for(env: Clock, log: list[Any]) -> None:
    def story() -> Any:
        log.append((yield env.timeout(1.0, value="answer")))

    env.run(Together(env, [story()]))
    assert log == ["answer"]


def test_no_stories_and_stories_without_events_end_at_once(env: Clock) -> None:
    def nothing() -> Any:
        return
        yield

    env.run(Together(env, []))
    env.run(Together(env, [nothing(), nothing()]))
    assert env.now == 0.0


def test_a_story_may_wait_for_others_told_together(env: Clock, log: list[Any]) -> None:
    def short() -> Any:
        yield env.timeout(2.0)

    def outer() -> Any:
        yield Together(env, [short(), short()])
        log.append(env.now)

    env.run(Together(env, [outer()]))
    assert log == [2.0]


def test_an_error_in_a_story_stops_the_run(env: Clock) -> None:
    def broken() -> Any:
        yield env.timeout(1.0)
        raise ZeroDivisionError("as it was raised")

    with pytest.raises(ZeroDivisionError, match="as it was raised"):
        env.run(Together(env, [broken()]))
