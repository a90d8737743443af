"""Processes that start at once are SimPy's in everything else; all of them done, and an instant's end, are events."""

from typing import Any

import pytest
from simpy import Environment, Interrupt
from simpy.events import ProcessGenerator

from hfedms_sim.world.processes import AllDone, EndOfInstant, Process


def waiting(env: Environment, log: list[Any], name: str, *delays_s: float) -> ProcessGenerator:
    for delay_s in delays_s:
        yield env.timeout(delay_s)
        log.append((name, env.now))


def nothing() -> ProcessGenerator:
    return
    yield


def broken(env: Environment, delay_s: float) -> ProcessGenerator:
    if delay_s:
        yield env.timeout(delay_s)
    raise ZeroDivisionError("as it was raised")


def test_all_are_done_when_the_last_has_ended(env: Environment, log: list[Any]) -> None:
    env.run(AllDone(env, [waiting(env, log, "a", 1.0, 3.0), waiting(env, log, "b", 2.0)]))
    assert log == [("a", 1.0), ("b", 2.0), ("a", 4.0)]
    assert env.now == 4.0


def test_none_and_some_without_events_are_done_at_once(env: Environment) -> None:
    env.run(AllDone(env, []))
    env.run(AllDone(env, [nothing(), nothing()]))
    assert env.now == 0.0


def test_a_process_may_wait_for_others(env: Environment, log: list[Any]) -> None:
    def outer() -> ProcessGenerator:
        yield AllDone(env, [waiting(env, log, "a", 2.0), waiting(env, log, "b", 2.0)])
        log.append(env.now)

    env.run(AllDone(env, [outer()]))
    assert log == [("a", 2.0), ("b", 2.0), 2.0]


@pytest.mark.parametrize("delay_s", [0.0, 1.0])
def test_an_error_in_one_is_the_error_of_all_and_may_be_handled(
    env: Environment, log: list[Any], delay_s: float
) -> None:
    with pytest.raises(ZeroDivisionError, match="as it was raised"):
        env.run(AllDone(env, [broken(env, delay_s), waiting(env, log, "other", 5.0)]))

    def careful() -> ProcessGenerator:
        try:
            yield AllDone(env, [broken(env, delay_s)])
        except ZeroDivisionError:
            log.append("handled")

    env.run(Process(env, careful()))
    env.run()
    assert log == ["handled", ("other", 5.0)]


def test_an_error_nobody_waits_for_stops_the_run(env: Environment) -> None:
    Process(env, broken(env, 1.0))
    with pytest.raises(ZeroDivisionError):
        env.run()


def test_a_process_runs_to_its_first_event_while_it_is_made(env: Environment, log: list[Any]) -> None:
    def eager() -> ProcessGenerator:
        log.append("started")
        yield env.timeout(1.0)
        return "value"

    process = Process(env, eager())
    assert log == ["started"]
    assert process.is_alive
    assert env.run(process) == "value"


def test_a_process_made_by_another_leaves_that_one_active(env: Environment, log: list[Any]) -> None:
    def inner() -> ProcessGenerator:
        log.append(env.active_process)
        yield env.timeout(1.0)

    def outer() -> ProcessGenerator:
        log.append(Process(env, inner()))
        log.append(env.active_process)
        yield env.timeout(1.0)

    made = Process(env, outer())
    assert log == [log[1], log[1], made]
    assert env.active_process is None


def test_a_process_can_be_interrupted_and_names_itself_when_it_is_over(env: Environment, log: list[Any]) -> None:
    def patient() -> ProcessGenerator:
        try:
            yield env.timeout(10.0)
        except Interrupt as interrupt:
            log.append((interrupt.cause, env.now))

    process = Process(env, patient())
    env.run(until=2.0)
    process.interrupt("cause")
    env.run(process)
    assert log == [("cause", 2.0)]
    with pytest.raises(RuntimeError, match=r"Process\(patient\).* has terminated"):
        process.interrupt()


def test_what_has_happened_and_what_has_failed_are_told_to_whoever_waits_late(env: Environment, log: list[Any]) -> None:
    happened, failed = env.timeout(1.0, "value"), env.event()
    failed.fail(ZeroDivisionError("late"))
    failed.defused = True
    env.run(until=5.0)

    def late() -> ProcessGenerator:
        log.append((yield happened))
        with pytest.raises(ZeroDivisionError, match="late"):
            yield failed
        log.append(env.now)

    env.run(Process(env, late()))
    assert log == ["value", 5.0]


def test_what_is_no_event_is_refused_and_the_process_named(env: Environment) -> None:
    def wrong() -> ProcessGenerator:
        yield 3  # type: ignore[misc]

    with pytest.raises(RuntimeError, match=r'(?s)in wrong.*Invalid yield value "3"'):
        Process(env, wrong())


def test_an_instant_ends_after_all_that_happens_in_it_and_before_any_time_has_passed(
    env: Environment, log: list[Any]
) -> None:
    def last() -> ProcessGenerator:
        yield EndOfInstant(env)
        log.append(("last", env.now))

    Process(env, last())
    env.run(AllDone(env, [waiting(env, log, "a", 0.0, 0.0, 0.0, 1.0), waiting(env, log, "b", 0.0)]))
    assert log == [("a", 0.0), ("b", 0.0), ("a", 0.0), ("a", 0.0), ("last", 0.0), ("a", 1.0)]
