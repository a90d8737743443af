"""Plans and records as plain data, and the lineage hash."""

from dataclasses import replace

import pytest

from hfedms_sim.rounds import Participation, RoundRecord, WorkStep, lineage_after, lineage_root

BATCH = ((0, 50),)
RECORD = RoundRecord(
    round=1,
    cycle=1,
    phase="full",
    chains=((Participation(4, BATCH, True, True), Participation(2, BATCH, True, True)),
            (Participation(7, BATCH, True, True),)),
    arrived=(True, True),
    start_s=0.0,
    end_s=10.0,
)  # fmt: skip


def with_first(**changes: object) -> RoundRecord:
    first, *others = RECORD.chains[0]
    return replace(RECORD, chains=((first._replace(**changes), *others), RECORD.chains[1]))


@pytest.mark.parametrize(
    ("step", "without_memory", "with_memory"),
    [
        (WorkStep("extract", 1), 50, 50),
        (WorkStep("extract", 1, needs_memory=True), 0, 50),
        (WorkStep("extract", 1, over_batch=False, over_memory=True), 0, 200),
        (WorkStep("calibrate", 1, over_memory=True), 50, 250),
        (WorkStep("calibrate", 1, over_memory=True, needs_memory=True), 0, 250),
    ],
)
def test_work_covers_the_batch_the_memory_or_both(step: WorkStep, without_memory: int, with_memory: int) -> None:
    assert step.samples(50, 0) == without_memory
    assert step.samples(50, 200) == with_memory


@pytest.mark.parametrize(
    "changed",
    [
        replace(RECORD, phase="calibration"),
        replace(RECORD, arrived=(True, False)),
        replace(RECORD, chains=RECORD.chains[::-1]),
        replace(RECORD, chains=((*RECORD.chains[0], *RECORD.chains[1]),), arrived=(True,)),
        with_first(sensor=5),
        with_first(samples=((1, 50),)),
        with_first(samples=((0, 49),)),
        with_first(samples=((0, 20), (30, 30))),
        with_first(samples=()),
        with_first(trained=False),
        with_first(got_scatter=False),
    ],
)
def test_whatever_changes_what_is_learnt_changes_the_lineage(changed: RoundRecord) -> None:
    assert lineage_after("root", changed) != lineage_after("root", RECORD)


@pytest.mark.parametrize(
    "changed", [replace(RECORD, start_s=5.0), replace(RECORD, end_s=1e6), replace(RECORD, round=9)]
)
def test_times_and_round_numbers_do_not_change_the_lineage(changed: RoundRecord) -> None:
    assert lineage_after("root", changed) == lineage_after("root", RECORD)


def test_the_lineage_depends_on_all_rounds_before() -> None:
    assert lineage_after("a", RECORD) != lineage_after("b", RECORD)
    assert lineage_root({"seed": 1}) != lineage_root({"seed": 2})
    assert lineage_root({"a": 1, "b": 2}) == lineage_root({"b": 2, "a": 1})


def test_an_empty_round_has_a_lineage() -> None:
    assert len(lineage_after("root", replace(RECORD, chains=(), arrived=()))) == 64
