"""Timing tables stay what they were: with the profiles and scenarios kept here, run for run."""

import json
from pathlib import Path

import pytest

from hfedms_sim.scenario import shipped
from tests.conftest import some_of
from tests.golden.tables import DIGESTS, HERE, Case, cases, digests

IN_EVERY_RUN = ("own",)  # radios; the others in `make thorough`
RECORDED = json.loads(DIGESTS.read_text())


@pytest.mark.parametrize("case", some_of(cases(), [case for case in cases() if case.profile in IN_EVERY_RUN]), ids=str)
def test_the_timing_tables_are_those_that_were_recorded(case: Case) -> None:
    assert digests(case) == RECORDED[str(case)]


def test_every_recorded_run_is_compared() -> None:
    assert {str(case) for case in cases()} == set(RECORDED)
    assert sum(recorded != "refused" for recorded in RECORDED.values()) > 100


def test_every_shipped_scenario_is_kept() -> None:
    assert {path.stem for path in Path(HERE / "scenarios").glob("*.yaml")} == set(shipped("scenario"))
