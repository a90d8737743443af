"""Every quantity against numbers worked out by hand, on tables that no world has made."""

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from hfedms_sim.errors import RunError
from hfedms_sim.loading import load_scenario
from hfedms_sim.result import RunResult
from hfedms_sim.scenario import Currents, Idle
from hfedms_sim.validation.quantities import UNITS, Quantity, read_quantity

CURRENTS = Currents(voltage_v=2.0, sleep_ma=0.5, connected_ma=1.0, receive_ma=10.0, transmit_ma=20.0)

# Round 1 is nonsense, so that reading it would show.
TRANSFERS = pd.DataFrame(
    [
        (1, "down", 999, 0.0, 0.0, 50.0, 9.0, 9.0),
        (1, "up", 999, 50.0, 50.0, 90.0, 9.0, 9.0),
        (2, "down", 1000, 100.0, 101.0, 103.0, 1.0, 0.3),
        (2, "up", 1000, 110.0, 114.0, 115.0, 1.0, 0.5),
        (3, "down", 1000, 120.0, 120.0, 121.0, 1.0, 0.3),
        (3, "up", 1000, 130.0, 130.0, 133.0, 2.0, 0.7),
    ],
    columns=["round", "direction", "bytes", "ready_s", "start_s", "end_s", "airtime_s", "energy_j"],
)
ROUNDS = pd.DataFrame(
    [(1, 0.0, 100.0, 77.0), (2, 100.0, 120.0, 3.0), (3, 120.0, 150.0, 5.0)],
    columns=["round", "start_s", "end_s", "energy_j"],
)
WORK = pd.DataFrame([(115.0, 116.5, 3.0), (133.0, 134.5, 3.0)], columns=["start_s", "end_s", "energy_j"])


def made_run(currents: Currents | None = CURRENTS, **changes: Any) -> RunResult:
    scenario = load_scenario("quickstart")
    profile = scenario.cells[0].profile.model_copy(update={"energy": currents, "inactivity_s": 7.0} | changes)
    cell = scenario.cells[0].model_copy(update={"profile": profile})
    frames = {"transfers": TRANSFERS, "rounds": ROUNDS, "work": WORK}
    tables: dict[str, Any] = {name: pa.Table.from_pandas(frame) for name, frame in frames.items()}
    return RunResult(scenario.model_copy(update={"cells": (cell,)}), {}, {}, tables)


@pytest.mark.parametrize(
    ("quantity", "expected"),
    [
        ("uplink_kbps", 8 * 2.0 / (1 + 3)),
        ("downlink_kbps", 8 * 2.0 / (2 + 1)),
        ("uplink_s", (5 + 3) / 2),
        ("downlink_s", (3 + 1) / 2),
        ("exchange_s", 4 + 2),
        ("awake_s", 4 + 2 + 7),
        ("airtime_s", 1.5),
        ("uplink_j", 0.6),
        ("uplink_j_per_mb", 1.2 / 0.002),
        ("exchange_j", 4.0),
        ("current_ma", 8.0 / 50 / 2 * 1000),
        ("battery_d", 2400 / (8.0 / 50 / 2 * 1000) / 24),
        ("uplink_battery_d", 2400 / (0.6 / 300 / 2 * 1000 + 0.5) / 24),
        ("forward_s", 0.5),
        ("work_w", 2.0),
    ],
)
def test_a_quantity_is_what_its_equation_says(quantity: Quantity, expected: float) -> None:
    assert read_quantity(quantity, made_run(), period_s=300.0, battery_mah=2400.0) == pytest.approx(expected)


def test_with_release_assistance_a_sensor_is_awake_until_its_message_is_delivered() -> None:
    run = made_run(release_assistance=True)
    assert read_quantity("awake_s", run, period_s=None, battery_mah=None) == pytest.approx((5 + 3) / 2)


@pytest.mark.parametrize(
    ("idle", "rest_ma"),
    [
        (Idle(mode="listening"), 10.0),
        (Idle(mode="edrx", cycle_s=4.0), 0.5 + 0.002 / 4 / 2 * 1000),
        (Idle(mode="psm"), 0.5),
    ],
    ids=lambda value: getattr(value, "mode", ""),
)
def test_messages_without_an_answer_leave_the_radio_at_rest_as_its_profile_says(idle: Idle, rest_ma: float) -> None:
    run = made_run(CURRENTS.model_copy(update={"page_j": 0.002}), idle=idle)
    expected = 2400 / (0.6 / 300 / 2 * 1000 + rest_ma) / 24
    assert read_quantity("uplink_battery_d", run, period_s=300.0, battery_mah=2400.0) == pytest.approx(expected)


def test_every_quantity_has_a_unit_and_can_be_read() -> None:
    for quantity in UNITS:
        assert read_quantity(quantity, made_run(), period_s=300.0, battery_mah=2400.0) > 0


@pytest.mark.parametrize("quantity", ["current_ma", "uplink_battery_d"])
def test_a_profile_without_currents_is_named(quantity: Quantity) -> None:
    with pytest.raises(RunError, match="lte-cat-m2: has no energy"):
        read_quantity(quantity, made_run(None), period_s=300.0, battery_mah=2400.0)


def test_a_battery_needs_a_charge_and_messages_need_a_period() -> None:
    with pytest.raises(RunError, match="battery_mah"):
        read_quantity("battery_d", made_run(), period_s=300.0, battery_mah=None)
    with pytest.raises(RunError, match="period_s"):
        read_quantity("uplink_battery_d", made_run(), period_s=None, battery_mah=2400.0)
