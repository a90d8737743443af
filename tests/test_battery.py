"""How long a battery lasts, by hand and off a run; and how the closing table says it."""

from dataclasses import replace
from io import StringIO
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from hfedms_sim.report.energy import energy_rows, extrapolated_line
from hfedms_sim.report.tables import closing_table, targets_table
from hfedms_sim.result import RunResult
from hfedms_sim.simulation import run
from hfedms_sim.world.energy.sensor_energy import SensorEnergy
from tests.conftest import FAST, tiny_scenario

CURRENTS = {"voltage_v": 1.0, "sleep_ma": 1.0, "connected_ma": 10.0, "receive_ma": 100.0, "transmit_ma": 1000.0}


def spent(total_j: list[float], elapsed_s: float, rest_w: float) -> SensorEnergy:
    nothing = np.zeros(len(total_j))
    rest = np.full(len(total_j), rest_w)
    return SensorEnergy(np.array(total_j), *[nothing] * 6, elapsed_s=elapsed_s, rest_w=rest)


def test_a_day_costs_its_rounds_above_rest_and_a_day_at_rest() -> None:
    """Two rounds took 100 s. The first sensor spent 10.1 J, of which 0.1 J it would have spent at rest (1 mW): 5 J a
    round above rest. The second has rested all the time. A day at rest is 86.4 J."""
    energy = spent([10.1, 0.1], elapsed_s=100.0, rest_w=1e-3)
    assert energy.joules_a_day(rounds=2, rounds_per_day=1.0) == pytest.approx([5 + 86.4, 86.4])
    assert energy.joules_a_day(rounds=2, rounds_per_day=24.0) == pytest.approx([120 + 86.4, 86.4])


def test_a_day_has_no_more_rounds_than_fit_in_it() -> None:
    """Rounds of 50 s: 1,728 of them are a day without a break, 864 times what 100 s have cost."""
    energy = spent([10.1, 0.1], elapsed_s=100.0, rest_w=1e-3)
    assert energy.joules_a_day(rounds=2, rounds_per_day=1e6) == pytest.approx([864 * 10.1, 86.4])


def played(sources: dict[str, str] | None = None, **radio: Any) -> RunResult:
    profile = FAST | {"energy": CURRENTS, "sources": sources or {}} | radio
    cells = [{"name": "hall", "profile": profile}]
    sensors = {"count": 8, "battery_wh": 2.0, "rounds_per_day": 4.0}
    return run(tiny_scenario(cells=cells, sensors=sensors), timing_only=True)


def test_the_lives_of_a_run_follow_from_its_joules() -> None:
    result = played()
    summary, life = result.summary, result.summary["battery_life"]
    mean_w = summary["energy_j"] / 8 / summary["simulated_s"]
    assert life["continuous"]["mean_d"] == pytest.approx(2.0 * 3600 / mean_w / 86_400)
    above_j = (summary["energy_j"] / 8 - 1e-3 * summary["simulated_s"]) / summary["rounds"]
    assert life["rounds_per_day"]["mean_d"] == pytest.approx(7200 / (4 * above_j + 86.4))
    assert summary["battery_life"]["continuous"]["worst_d"] < life["continuous"]["mean_d"]
    airtime_s = result.transfers.groupby("sensor")["airtime_s"].sum()
    assert life["continuous"]["worst_sensor"] in airtime_s.index


def test_the_worst_sensor_is_the_one_whose_transfers_take_most() -> None:
    """With a timer of nothing and neither waiting nor work, a sensor's joules are those of its rows, and of rest."""
    result = played(channels="dedicated", inactivity_s=0.0)
    joules = result.transfers.groupby("sensor")["energy_j"].sum()
    assert result.summary["battery_life"]["continuous"]["worst_sensor"] == joules.idxmax()


def test_a_radio_that_spends_nothing_lasts_for_ever() -> None:
    free = {"voltage_v": 1.0} | dict.fromkeys(("sleep_ma", "connected_ma", "receive_ma", "transmit_ma"), 0.0)
    life = played(energy=free).summary["battery_life"]
    assert life["continuous"] == {"mean_d": None, "worst_d": None, "worst_sensor": 0}


def shown(result: RunResult, table: Any = closing_table) -> str:
    text = StringIO()
    Console(width=120, file=text).print(table(result))
    return " ".join(text.getvalue().split())


def test_the_closing_table_has_the_states_that_matter_and_both_lives() -> None:
    result = played(idle={"mode": "edrx", "cycle_s": 10.0})
    rows = dict(energy_rows(result))
    assert rows["in states"].startswith("transmit ")
    assert "compute" not in rows["in states"]  # an instant device spends nothing
    first, *lives = rows["battery life"].splitlines()
    assert first == "on 2 Wh"
    assert [life.rpartition(", ")[2] for life in lives] == ["if rounds go on like these", "at 4 rounds a day"]
    assert all(f"(sensor {result.summary['battery_life']['continuous']['worst_sensor']})" in life for life in lives)
    assert "‡" not in shown(result)


def test_joules_from_extrapolated_figures_are_marked_in_every_table() -> None:
    result = played({"energy.transmit_ma": "extrapolated from Cat-1", "latency_s": "extrapolated"})
    assert result.summary["energy_extrapolated"] == ["fast: energy.transmit_ma"]
    note = "‡ joules rest on figures that are extrapolated, not measured on this radio: fast: transmit_ma"
    assert " mW a sensor ‡" in shown(result)
    assert note in shown(result)
    assert note in shown(result, lambda one: targets_table([one]))


def test_the_line_names_each_profile_and_figure_once() -> None:
    assert extrapolated_line([]) is None
    line = extrapolated_line(["a: energy.page_j", "a: energy.setup_j", "b: energy.page_j", "a: energy.page_j"])
    assert line is not None
    assert line.endswith(": a: page_j, setup_j; b: page_j")


def test_a_run_of_an_older_version_has_the_life_of_its_mean_sensor_alone() -> None:
    result = played()
    new = ("energy_by_state", "energy_extrapolated", "battery_life")
    older = replace(result, summary={key: value for key, value in result.summary.items() if key not in new})
    rows = dict(energy_rows(older))
    assert list(rows) == ["energy", "battery life"]
    assert rows["battery life"].endswith(" on 2 Wh, if rounds go on like these")
