"""The rounds of HFedMS-S and HFedMS-D: reports, groups, payloads, work, and what the memory will hold."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from hfedms_sim.models import spec_of
from hfedms_sim.rounds import Participation, Payload, Plan, RoundRecord
from hfedms_sim.strategies.hfedms import HFedMSD, HFedMSDynamicSettings, HFedMSS, HFedMSState, HFedMSStaticSettings
from tests.strategies.factories import context, factory

CNN = spec_of("cnn")
COUNTS = np.random.default_rng(1).multinomial(50, [1 / 62] * 62, 368).astype(np.int64)
MODEL_BYTES, CLASSIFIER_BYTES = 4 * 6_687_834, 4 * 6_262


def dynamic(sensors: int = 368, **settings: Any) -> HFedMSD:
    settings = {"solver": "exact"} | settings
    return HFedMSD(HFedMSDynamicSettings(**settings), factory(sensors))


def happened(plan: Plan, captured: int = 50, static: bool = False) -> RoundRecord:
    """Everything as planned."""
    first = 0 if static else captured * plan.round
    chains = tuple(
        tuple(Participation(sensor, ((first, captured),), True, True) for sensor in group.sensors)
        for group in plan.groups
    )
    return RoundRecord(plan.round, plan.cycle, plan.phase, chains, (True,) * len(chains), 0.0, 1.0)


def rounds(strategy: HFedMSS | HFedMSD, count: int) -> Iterator[tuple[HFedMSState, Plan]]:
    """The state before each round, and its plan."""
    state = strategy.start()
    for _ in range(count):
        plan = strategy.plan(state, context(COUNTS[: len(strategy.factory.sensors)]))
        yield state, plan
        state = strategy.update(state, plan, happened(plan))


def test_every_static_round_is_full_reports_and_scatters_nothing() -> None:
    strategy = HFedMSS(HFedMSStaticSettings(solver="exact"), factory(368))
    for state, plan in rounds(strategy, 5):
        assert strategy.report(state) == Payload("report", 248)
        assert (plan.phase, plan.payload, plan.scatter) == ("full", Payload("model", MODEL_BYTES), None)
        assert plan.cycle == plan.round


def test_a_cycle_sends_the_model_once_then_only_the_classifier() -> None:
    plans = [plan for _, plan in rounds(dynamic(interval=3), 6)]
    assert [plan.phase for plan in plans] == ["full", "calibration", "calibration"] * 2
    assert [plan.payload.size_bytes for plan in plans] == [MODEL_BYTES, CLASSIFIER_BYTES, CLASSIFIER_BYTES] * 2
    assert [plan.scatter is not None for plan in plans] == [True, False, False] * 2
    assert [plan.trained_parameters for plan in plans] == [6_687_834, 6_262, 6_262] * 2


def test_only_full_rounds_ask_for_reports() -> None:
    strategy = dynamic(interval=3)
    assert [strategy.report(state) is not None for state, _ in rounds(strategy, 6)] == [True, False, False] * 2


def test_an_interval_of_one_never_scatters_and_never_touches_memory() -> None:
    for state, plan in rounds(dynamic(interval=1), 5):
        assert plan.scatter is None
        assert state.memory == {}
        assert [step.kind for step in plan.work] == ["train"]


@pytest.mark.parametrize("cycle", [1, 2, 5, 34, 100])
def test_groups_are_equal_disjoint_and_as_many_as_the_schedule_says(cycle: int) -> None:
    strategy = dynamic(interval=5)
    plan = strategy.plan(
        HFedMSState(round=5 * (cycle - 1) + 1, groups=(), memory={}, captured={}, seen={}), context(COUNTS)
    )
    sensors = [sensor for group in plan.groups for sensor in group.sensors]
    sizes = {len(group.sensors) for group in plan.groups}
    expected = {1: (3, 36), 2: (6, 18), 5: (12, 9), 34: (24, 4), 100: (30, 3)}[cycle]
    assert (len(plan.groups), sizes) == (expected[0], {expected[1]})
    assert len(set(sensors)) == len(sensors)
    assert all(0 <= sensor < 368 for sensor in sensors)


def test_spread_gives_every_left_over_sensor_a_group() -> None:
    settings = {"sample_ratio": 1.0, "beta": 10}
    dropped = dynamic(**settings).plan(dynamic().start(), context(COUNTS))
    spread = dynamic(**settings, leftover="spread").plan(dynamic().start(), context(COUNTS))
    assert dropped.participants == 360
    assert sorted(sensor for group in spread.groups for sensor in group.sensors) == list(range(368))
    assert {len(group.sensors) for group in spread.groups} == {36, 37}


def test_the_same_groups_calibrate_in_the_same_order_unless_told_to_shuffle() -> None:
    kept = [plan.groups for _, plan in rounds(dynamic(interval=3), 3)]
    assert kept[0] == kept[1] == kept[2]
    shuffled = [plan.groups for _, plan in rounds(dynamic(interval=3, order="round"), 3)]
    assert shuffled[1] != shuffled[2]
    for one, other in zip(shuffled[0], shuffled[1], strict=True):
        assert sorted(one.sensors) == sorted(other.sensors)


def test_memory_fills_by_the_cycles_captures_up_to_its_capacity() -> None:
    """3 rounds of 50: 150 after the first cycle a sensor takes part in, then 200."""
    states = [state for state, _ in rounds(dynamic(sensors=8, interval=3, beta=1, sample_ratio=1.0), 7)]
    held = [set(state.memory.values()) for state in states]
    assert held == [set(), set(), set(), {150}, {150}, {150}, {200}]


def test_those_who_did_not_take_part_keep_what_they_had() -> None:
    *_, (state, _) = rounds(dynamic(sensors=40, interval=2, beta=4, sample_ratio=0.3), 41)
    assert all(0 < held <= 200 for held in state.memory.values())
    assert len(state.memory) <= 40


@pytest.mark.parametrize(("scc", "held"), [("off", set()), ("oracle", {150, 300})])
def test_without_scc_nothing_is_held_and_the_oracle_holds_everything(scc: str, held: set[int]) -> None:
    seen: set[int] = set()
    for state, _ in rounds(dynamic(sensors=8, interval=3, beta=1, sample_ratio=1.0, scc=scc), 7):
        seen |= set(state.memory.values())
    assert seen == held


def test_the_oracle_keeps_each_raw_sample_once() -> None:
    strategy = dynamic(sensors=8, interval=3, beta=1, sample_ratio=1.0, scc="oracle")
    state = strategy.start()
    for _ in range(6):
        plan = strategy.plan(state, context(COUNTS[: len(strategy.factory.sensors)]))
        state = strategy.update(state, plan, happened(plan, captured=200, static=True))
    assert set(state.memory.values()) == {200}


def kinds(plan: Plan, captured: int, memory: int) -> list[tuple[str, int]]:
    """A sensor without memory is taken to be one that has not stored a cycle yet."""
    is_first = bool(plan.first_calibrations)
    samples = [(step.kind, step.samples(captured, memory, not memory, is_first)) for step in plan.work]
    return [(kind, count) for kind, count in samples if count]


def test_compensation_extracts_twice_in_the_first_calibration_round() -> None:
    _, first, later = (plan for _, plan in rounds(dynamic(interval=3), 3))
    assert kinds(first, 50, 200) == [("extract", 50), ("extract", 50), ("calibrate", 250)]
    assert kinds(first, 50, 0) == [("extract", 50), ("calibrate", 50)]
    assert kinds(later, 50, 200) == [("extract", 50), ("calibrate", 250)]


@pytest.mark.parametrize(
    ("settings", "with_memory", "without_memory"),
    [
        ({"compensation": "off"}, [("extract", 50), ("calibrate", 250)], [("extract", 50), ("calibrate", 50)]),
        ({"scc": "off"}, [("extract", 50), ("calibrate", 250)], [("extract", 50), ("calibrate", 50)]),
        (
            {"scc": "oracle"},
            [("extract", 50), ("extract", 200), ("calibrate", 250)],
            [("extract", 50), ("calibrate", 50)],
        ),
        ({"first_time": "skip"}, [("extract", 50), ("extract", 50), ("calibrate", 250)], [("extract", 50)]),
    ],
)
def test_options_change_the_work_of_the_first_calibration_round(
    settings: dict[str, Any], with_memory: list[tuple[str, int]], without_memory: list[tuple[str, int]]
) -> None:
    _, first = (plan for _, plan in rounds(dynamic(interval=3, **settings), 2))
    assert kinds(first, 50, 200) == with_memory
    assert kinds(first, 50, 0) == without_memory


def test_a_calibration_rounds_work_is_about_a_third_of_a_full_rounds() -> None:
    full, _, later = (plan for _, plan in rounds(dynamic(interval=3), 3))
    cost = [sum(s.samples(50, 200) * s.multiply_adds_per_sample for s in plan.work) for plan in (full, later)]
    assert cost[1] / cost[0] == pytest.approx(1 / 3, rel=0.01)


def test_participants_extract_after_the_scatter_only_where_there_is_a_memory_to_fill() -> None:
    with_memory, without = (dynamic(scc=scc).plan(dynamic().start(), context(COUNTS)).scatter for scc in ("on", "off"))
    assert with_memory is not None
    assert without is not None
    assert [step.kind for step in with_memory.work] == ["extract"]
    assert without.work == ()


def test_who_has_not_stored_a_cycle_counts_as_such_whatever_it_remembers() -> None:
    """The initial memory is worked with from the start: compensated, and calibrated on but in skipped first cycles."""
    settings = HFedMSDynamicSettings(
        interval=3, beta=2, sample_ratio=0.5, solver="exact", first_time="skip", initial_memory="local-set"
    )
    strategy = HFedMSD(settings, factory(8, local_size=300))
    stored: set[int] = set()
    for state, plan in rounds(strategy, 12):
        sensors = {sensor for group in plan.groups for sensor in group.sensors}
        assert state.stored == stored
        assert {sensor: plan.memory_fill[sensor] for sensor in sensors} == {
            s: 200 if s in stored else 300 for s in sensors
        }
        if plan.phase == "calibration":
            assert plan.never_stored == sensors - stored
            assert [step.samples(50, 300, has_never_stored=True) for step in plan.work][-1] == 0
        if plan.round % 3 == 0:
            stored |= sensors
    assert len(stored) > 4  # so in some cycles both kinds took part


def test_class_counts_that_are_reported_once_form_the_groups_of_every_cycle() -> None:
    strategy = dynamic(interval=3, class_counts="once")
    reporting = dynamic(interval=3)
    state, other = strategy.start(), reporting.start()
    for number in range(1, 10):
        asks = strategy.report(state) is not None
        assert asks == (number == 1)
        plan = strategy.plan(state, context(COUNTS if asks else None))
        same = reporting.plan(other, context(COUNTS))
        assert (plan.groups, plan.group_distance) == (same.groups, same.group_distance)
        state, other = strategy.update(state, plan, happened(plan)), reporting.update(other, same, happened(same))


def test_hfedms_s_too_may_ask_for_class_counts_once() -> None:
    strategy = HFedMSS(HFedMSStaticSettings(solver="exact", class_counts="once"), factory(368))
    state, groups = strategy.start(), []
    for number in range(1, 5):
        asks = strategy.report(state) is not None
        assert asks == (number == 1)
        plan = strategy.plan(state, context(COUNTS if asks else None))
        groups.append(plan.groups)
        state = strategy.update(state, plan, happened(plan))
    assert len(set(groups)) == 4


@pytest.mark.parametrize("epochs", [1, 3])
def test_adam_adds_seven_multiply_adds_for_each_trained_parameter_and_step(epochs: int) -> None:
    """Five samples share a step; a calibration round trains the classifier only."""
    settings = {"interval": 2, "epochs": epochs, "calibration_epochs": epochs}
    plain, adam = (
        [plan.work[-1] for _, plan in rounds(dynamic(local_optimiser=optimiser, **settings), 2)]
        for optimiser in ("sgd", "adam")
    )
    more = [a.multiply_adds_per_sample - p.multiply_adds_per_sample for a, p in zip(adam, plain, strict=True)]
    assert [step.kind for step in adam] == ["train", "calibrate"]
    assert more == [epochs * -(-7 * parameters // 5) for parameters in (6_687_834, 6_262)]
