"""Closed forms beside the simulation: bytes exactly, seconds to 1e-9, for any scenario the formulas cover."""

from collections.abc import Callable
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hfedms_sim.closed_form import exact_seconds, exact_traffic, full_rounds, participants_of_chains
from hfedms_sim.loading import load_scenario
from hfedms_sim.models import spec_of
from hfedms_sim.scenario import ModelSpec, NetworkProfile, Scenario
from hfedms_sim.simulation import run
from tests.conftest import FAST, tiny_scenario

Formed = TypeVar("Formed")
BLOCKS = {"uplink_bits": 100, "downlink_bits": 100, "error_rate": 0.1}
SERIAL = [{"name": "hall", "profile": FAST | {"duplex": "cell-half", "downlink_bps": 5e3}}]


def closed(form: Callable[[Scenario, ModelSpec], Formed], scenario: Scenario) -> Formed:
    return form(scenario, spec_of(scenario.model))


@settings(max_examples=40, deadline=None)
@given(
    sensors=st.integers(1, 60),
    rounds=st.integers(1, 12),
    strategy=st.one_of(
        st.fixed_dictionaries({"name": st.just("fedavg"), "sample_ratio": st.floats(0.01, 1)}),
        st.fixed_dictionaries(
            {
                "name": st.just("hfedms-d"),
                "interval": st.integers(1, 4),
                "beta": st.integers(1, 70),
                "growth": st.sampled_from(["log", "linear", "exp"]),
                "alpha": st.floats(0, 3),
                "sample_ratio": st.floats(0.01, 1),
                "class_counts": st.sampled_from(["cycle", "once"]),
            }
        ),
        st.fixed_dictionaries(
            {
                "name": st.just("hfedms-s"),
                "beta": st.integers(1, 70),
                "class_counts": st.sampled_from(["cycle", "once"]),
            }
        ),
    ),
    sharing=st.sampled_from(["fair", "fifo"]),
)
def test_the_simulation_meets_its_closed_form(
    sensors: int, rounds: int, strategy: dict[str, Any], sharing: str
) -> None:
    cells = [{"name": "hall", "profile": SERIAL[0]["profile"] | {"sharing": sharing}}]  # type: ignore[operator]
    scenario = tiny_scenario(sensors={"count": sensors}, rounds=rounds, strategy=strategy, cells=cells)
    summary = run(scenario, timing_only=True).summary
    assert summary["bytes"]["total"] == summary["closed_form"]["bytes"]
    assert summary["simulated_s"] == pytest.approx(summary["closed_form"]["seconds"], rel=1e-9)


def test_reports_are_four_bytes_a_class_a_sensor_and_a_cycle() -> None:
    traffic = closed(exact_traffic, load_scenario("paper-stream", rounds=34))
    assert traffic is not None
    assert traffic.report_bytes == 638_848
    once = closed(exact_traffic, load_scenario("paper-stream", rounds=34, overrides=["strategy.class_counts=once"]))
    assert once is not None
    assert once.report_bytes == 638_848 / 7


def test_the_paper_counts_seven_full_rounds_in_34() -> None:
    assert full_rounds(34, 5) == 7
    assert full_rounds(35, 5) == 7
    assert full_rounds(36, 5) == 8
    assert full_rounds(7, 1) == 7


def test_participants_of_the_papers_run_are_those_of_its_group_table() -> None:
    scenario = load_scenario("paper-stream", rounds=500)
    who = participants_of_chains(scenario, scenario.strategy, interval=5)
    per_cycle = [108] * 7 + [105] * 5 + [108] * 8 + [105] * 13 + [96] * 21 + [108] * 36 + [90] * 10
    assert who.full == sum(per_cycle)
    assert who.calibration == 4 * sum(per_cycle)


@pytest.mark.parametrize(
    "changes",
    [
        {"strategy": {"name": "hfedms-d", "leftover": "spread"}},
        {"strategy": {"name": "hfedms-d", "scatter": "broadcast"}},
    ],
)
def test_options_the_formulas_do_not_cover_have_no_closed_form(changes: dict[str, Any]) -> None:
    assert closed(exact_traffic, tiny_scenario(**changes)) is None
    assert closed(exact_seconds, tiny_scenario(**changes)) is None


def test_a_key_of_profiles_that_the_formula_does_not_know_has_no_closed_form() -> None:
    class Profile(NetworkProfile):
        turnaround_s: float = 0.0

    scenario = tiny_scenario(cells=SERIAL)
    (hall,) = scenario.cells

    def seconds(turnaround_s: float) -> float | None:
        profile = Profile(**hall.profile.model_dump(), turnaround_s=turnaround_s)
        cells = (hall.model_copy(update={"profile": profile}),)
        return closed(exact_seconds, scenario.model_copy(update={"cells": cells}))

    assert seconds(0.0) == closed(exact_seconds, scenario) is not None
    assert seconds(0.5) is None


@pytest.mark.parametrize(
    "cells",
    [
        [{"name": "hall", "profile": FAST}],
        [{"name": "hall", "profile": FAST | {"duplex": "cell-half", "setup_s": 0.1}}],
        [{"name": "hall", "profile": FAST | {"duplex": "cell-half", "blocks": BLOCKS}}],
        [{"name": "hall", "profile": FAST | {"duplex": "cell-half", "channels": 2}}],
        [{"name": "hall", "profile": FAST | {"duplex": "cell-half", "latency_s": 0.1}}],
        [{"name": "hall", "profile": FAST | {"duplex": "cell-half", "resource_units": 12}}],
        [*SERIAL, {"name": "yard", "profile": SERIAL[0]["profile"]}],
    ],
)
def test_seconds_have_a_closed_form_only_where_everything_is_serial(cells: list[Any]) -> None:
    scenario = tiny_scenario(cells=cells)
    assert closed(exact_traffic, scenario) is not None
    assert closed(exact_seconds, scenario) is None
