"""Placed sensors through whole runs: who uses which cell, at which rate, and what does not change with the radio."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.loading import load_scenario
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import run
from hfedms_sim.world.site.path_loss import rate_factor
from tests.conftest import FAST, tiny_scenario
from tests.world.cells import placed_sensors

BUDGET = {"carrier_ghz": 0.8, "bandwidth_hz": 180e3, "device_power_dbm": 23.0, "base_power_dbm": 30.0}
EVERYBODY = {"name": "fedavg", "sample_ratio": 1.0}


def placed(budget: dict[str, Any] | None = None, **changes: Any) -> Scenario:
    """Three cells along a yard of 900 m; sensors anywhere in it."""
    profile = FAST | {"budget": BUDGET | (budget or {})} | changes.pop("profile", {})
    cells = [{"name": f"c{i}", "profile": profile, "x_m": 150.0 + 300.0 * i, "y_m": 50.0} for i in range(3)]
    placement = {"kind": "uniform", "width_m": 900.0, "length_m": 100.0, "environment": "DL"}
    sensors = {"count": 60, "placement": placement}
    return tiny_scenario(**{"sensors": sensors, "cells": cells, "strategy": EVERYBODY, "rounds": 2} | changes)


def test_a_transfer_takes_the_time_of_its_sensors_own_rate() -> None:
    scenario = placed({"device_power_dbm": 0.0, "base_power_dbm": 0.0})
    coverage = placed_sensors(scenario).coverage
    transfers = run(scenario, timing_only=True).transfers
    factors = {"up": rate_factor(coverage.snr_up_db), "down": rate_factor(coverage.snr_down_db)}
    assert factors["up"].min() < 0.9 < factors["up"].max()
    for direction, factor in factors.items():
        rows = transfers[transfers["direction"] == direction]
        expected_s = rows["bytes"].to_numpy() / 1_000 / factor[rows["sensor"].to_numpy()]
        assert rows["airtime_s"].to_numpy() == pytest.approx(expected_s, rel=1e-12)
        names = [scenario.cells[index].name for index in coverage.cell[rows["sensor"].to_numpy()]]
        assert rows["cell"].tolist() == names


def test_another_radio_has_the_same_places_and_the_same_shadowing() -> None:
    one, other = placed(), placed({"device_power_dbm": 14.0}, profile={"uplink_bps": 1e6})
    first, second = (placed_sensors(each) for each in (one, other))
    assert np.array_equal(first.positions_m, second.positions_m)
    assert np.array_equal(first.coverage.coupling_loss_db, second.coverage.coupling_loss_db)
    assert np.array_equal(first.coverage.los, second.coverage.los)


def test_a_repetition_class_gives_its_rates() -> None:
    classes = [
        {"coupling_loss_db": 90.0, "uplink_bps": 8e3, "downlink_bps": 8e3},
        {"coupling_loss_db": 200.0, "uplink_bps": 1e3, "downlink_bps": 2e3},
    ]
    scenario = placed(profile={"repetitions": classes})
    transfers = run(scenario, timing_only=True).transfers
    airtimes_s = {direction: set(rows["airtime_s"]) for direction, rows in transfers.groupby("direction")}
    size_kb = transfers["bytes"].iloc[0] / 1_000
    assert sorted(airtimes_s["up"]) == pytest.approx([size_kb, 8 * size_kb])
    assert sorted(airtimes_s["down"]) == pytest.approx([size_kb, 4 * size_kb])


def test_a_repetition_class_has_its_own_latency_in_both_directions() -> None:
    classes = [
        {"coupling_loss_db": 90.0, "uplink_bps": 8e3, "downlink_bps": 8e3},
        {"coupling_loss_db": 200.0, "uplink_bps": 8e3, "downlink_bps": 8e3, "latency_s": 7.0},
    ]
    for more in ({}, {"duplex": "device-half"}, {"sharing": "fifo", "channels": 30}):
        # alone in a channel, so that what is left of a transfer after its airtime is its latency
        scenario = placed(profile={"channels": 60, "latency_s": 0.5, "repetitions": classes} | more)
        attachment = placed_sensors(scenario)
        transfers = run(scenario, timing_only=True).transfers
        latency_s = transfers["end_s"] - transfers["start_s"] - transfers["airtime_s"]
        expected_s = [(0.5, 7.0)[attachment.coverage_class(sensor)] for sensor in transfers["sensor"]]
        assert set(expected_s) == {0.5, 7.0}
        assert latency_s.tolist() == pytest.approx(expected_s, abs=1e-9)


def test_a_broadcast_arrives_with_the_latency_of_its_last_listener() -> None:
    classes = [
        {"coupling_loss_db": 90.0, "uplink_bps": 8e3, "downlink_bps": 8e3},
        {"coupling_loss_db": 200.0, "uplink_bps": 8e3, "downlink_bps": 8e3, "latency_s": 7.0},
    ]
    strategy = {"name": "hfedms-d", "interval": 2, "beta": 2, "sample_ratio": 1.0, "scatter": "broadcast"}
    scenario = placed(profile={"latency_s": 0.5, "repetitions": classes}, strategy=strategy)
    scattered = run(scenario, timing_only=True).transfers.query("payload == 'scatter'")
    assert len(scattered) == 3
    assert (scattered["end_s"] - scattered["start_s"] - scattered["airtime_s"]).tolist() == pytest.approx([7.0] * 3)


def test_an_extra_loss_is_less_power_at_both_ends() -> None:
    placement = {"kind": "uniform", "width_m": 900.0, "length_m": 100.0, "environment": "DL", "extra_loss_db": 20.0}
    lossy = placed(sensors={"count": 60, "placement": placement})
    weak = placed({"device_power_dbm": 3.0, "base_power_dbm": 10.0})
    one, other = (run(each, timing_only=True).arrow("transfers") for each in (lossy, weak))
    assert one.equals(other)


def test_the_mine_has_sensors_in_every_repetition_class() -> None:
    scenario = load_scenario("open-pit-mine")
    loss_db = placed_sensors(scenario).coupling_loss_db
    shares = [(loss_db <= 144).mean(), ((loss_db > 144) & (loss_db <= 154)).mean(), (loss_db > 154).mean()]
    assert min(shares) > 0.05


def test_sensors_out_of_coverage_take_no_part_and_are_listed() -> None:
    scenario = placed({"device_power_dbm": -35.0})
    covered = placed_sensors(scenario).covered
    assert 0 < len(covered) < 60
    result = run(scenario, timing_only=True)
    assert set(result.transfers["sensor"]) == set(covered.tolist())
    outside = [f"sensor {sensor}" for sensor in range(60) if sensor not in covered]
    assert result.faults["entity"].tolist() == outside
    chained = placed({"device_power_dbm": -35.0}, strategy={"name": "hfedms-s", "beta": 2, "sample_ratio": 1.0})
    assert set(run(chained, timing_only=True).captures["sensor"]) == set(covered.tolist())


def test_a_factory_without_coverage_is_refused() -> None:
    placement = {"kind": "uniform", "width_m": 900.0, "length_m": 100.0, "extra_loss_db": 150.0}
    with pytest.raises(InputError, match="no sensor is in coverage"):
        run(placed(sensors={"count": 60, "placement": placement}), timing_only=True)


def test_cells_need_places_and_budgets() -> None:
    cells = [{"name": "a", "profile": FAST | {"budget": BUDGET}}]
    with pytest.raises(InputError, match=r"cells.0: needs x_m and y_m"):
        run(placed(cells=cells), timing_only=True)
    with pytest.raises(InputError, match="profile fast has no budget"):
        run(placed(cells=[{"name": "a", "profile": FAST, "x_m": 1.0, "y_m": 1.0}]), timing_only=True)
    far = {"name": "a", "profile": FAST | {"budget": BUDGET}, "x_m": 901.0, "y_m": 1.0}
    with pytest.raises(InputError, match="outside the hall"):
        run(placed(cells=[far]), timing_only=True)


@pytest.mark.parametrize(
    ("placement", "message"),
    [
        ("{kind: grid, width_m: 10, length_m: 10}", "sensors.placement.pitch_m: is missing"),
        ("{kind: none, width_m: 10}", "width_m = 10: unknown key. Known: kind, environment, extra_loss_db"),
        ("{kind: uniform, width_m: -1, length_m: 10}", "width_m = -1: must be at least 1e-09"),
        ("{kind: grid, width_m: 10, length_m: .nan, pitch_m: 1}", "length_m = nan: must be a finite number"),
        ("{kind: grid, width_m: 10, length_m: 10, pitch_m: -1}", "pitch_m = -1: must be at least 1e-09"),
        ("{kind: clusters, width_m: 10, length_m: 10, clusters: 0, spread_m: 1}", "clusters = 0: must be at least 1"),
        (
            "{kind: clusters, width_m: 10, length_m: 20, clusters: 3, spread_m: 21}",
            "sensors.placement: spread_m = 21: must be at most 20, the hall's longer side",
        ),
        ("{kind: gird}", "Did you mean 'grid'?"),
    ],
)
def test_a_placement_needs_the_figures_of_its_kind(placement: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load_scenario("quickstart", overrides=[f"sensors.placement={placement}"])
    assert message in str(caught.value)


def test_places_come_from_a_csv_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "places.csv").write_text("sensor,x_m,y_m\n0,1,2\n1,3,4\n")
    (tmp_path / "s.yaml").write_text(
        "{name: s, model: tiny-mlp, rounds: 1, strategy: {name: fedavg},"
        " sensors: {count: 2, placement: {kind: csv, width_m: 10.0, length_m: 10.0, path: places.csv}},"
        " cells: [{name: a, profile: lte-cat-m2, x_m: 5.0, y_m: 5.0}]}"
    )
    scenario = load_scenario(str(tmp_path / "s.yaml"))
    assert placed_sensors(scenario).positions_m.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    (tmp_path / "places.csv").write_text("sensor,x_m,y_m\n0,1,-2\n1,3,4\n")
    with pytest.raises(InputError, match=r"places\.csv, line 2"):
        run(scenario, timing_only=True)
