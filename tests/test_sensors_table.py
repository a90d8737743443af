"""The table of sensors: one row each, in agreement with the transfers and with what is known of the sensors' radios."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from hfedms_sim.loading import load_scenario
from hfedms_sim.result import is_finished
from hfedms_sim.rounds import EVERYONE
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import open_run, run
from hfedms_sim.trace import TABLES, Trace, export_trace
from hfedms_sim.world import sensor_rows
from tests.conftest import FAST, tiny_scenario, without_checksums
from tests.world.cells import placed_sensors

BUDGET = {"carrier_ghz": 0.8, "bandwidth_hz": 180e3, "device_power_dbm": -35.0, "base_power_dbm": 30.0}
CLASSES = [
    {"coupling_loss_db": 75.0, "uplink_bps": 8e3, "downlink_bps": 8e3},
    {"coupling_loss_db": 88.0, "uplink_bps": 4e3, "downlink_bps": 2e3},
]
JOULES = [column.name for column in TABLES["sensors"].columns if column.name.endswith("_j")]


def placed(**profile: Any) -> Scenario:
    """Sixty sensors on two cells, some of them out of reach."""
    radio = FAST | {"budget": BUDGET} | profile
    placement = {"kind": "uniform", "width_m": 900.0, "length_m": 100.0, "environment": "DL"}
    cells = [{"name": f"c{i}", "profile": radio, "x_m": 150.0 + 600.0 * i, "y_m": 50.0} for i in range(2)]
    return tiny_scenario(
        sensors={"count": 60, "placement": placement}, cells=cells, rounds=3, compute={"device": "mcu"},
        strategy={"name": "hfedms-d", "interval": 2, "beta": 3, "sample_ratio": 0.7, "scatter": "broadcast"},
    )  # fmt: skip


def test_sensors_that_stand_nowhere_have_their_cells_full_rates_and_no_place() -> None:
    cells = [{"name": "a", "profile": FAST}, {"name": "b", "profile": FAST | {"name": "b", "uplink_bps": 4e3}}]
    sensors = run(tiny_scenario(cells=cells), timing_only=True).sensors
    assert sensors["sensor"].tolist() == list(range(8))
    assert sensors["cell"].tolist() == ["a", "b"] * 4
    assert sensors["uplink_bps"].tolist() == [8e3, 4e3] * 4
    assert sensors["downlink_bps"].tolist() == [8e3] * 8
    assert sensors["covered"].all()
    assert set(sensors["coverage_class"]) == {0}
    assert set(sensors["compute"]) == {"instant"}
    assert (
        sensors[["x_m", "y_m", "line_of_sight", "coupling_loss_db", "snr_up_db", "snr_down_db"]].isna().all(axis=None)
    )
    assert sensors[JOULES[:-1]].isna().all(axis=None)
    assert set(sensors["compute_j"]) == {0.0}
    assert len(JOULES) == 7


@pytest.mark.parametrize("profile", [{}, {"repetitions": CLASSES}], ids=["by signal", "by class"])
def test_placed_sensors_have_the_figures_of_their_attachment(profile: dict[str, Any]) -> None:
    scenario = placed(**profile)
    attachment, sensors = placed_sensors(scenario), run(scenario, timing_only=True).sensors
    covered = sensors["covered"].to_numpy(dtype=bool)
    assert 0 < covered.sum() < 60
    assert np.flatnonzero(covered).tolist() == attachment.covered.tolist()
    assert sensors[["x_m", "y_m"]].to_numpy().tolist() == attachment.positions_m.tolist()
    assert sensors["coupling_loss_db"].tolist() == attachment.coupling_loss_db.tolist()
    assert sensors["line_of_sight"].tolist() == attachment.coverage.los.tolist()
    # 180 kHz: noise up -116.447275 dBm, down -112.447275 dBm; SNR = power - loss - noise
    assert (sensors["snr_up_db"] + sensors["coupling_loss_db"]).tolist() == pytest.approx([81.447275] * 60)
    assert (sensors["snr_down_db"] + sensors["coupling_loss_db"]).tolist() == pytest.approx([142.447275] * 60)
    assert sensors["cell"].tolist() == [scenario.cells[attachment.cell(sensor)].name for sensor in range(60)]
    inside = sensors[covered]
    assert inside["uplink_bps"].tolist() == [8e3 * attachment.factor("up", each) for each in inside["sensor"]]
    assert inside["downlink_bps"].tolist() == [8e3 * attachment.factor("down", each) for each in inside["sensor"]]
    assert inside["coverage_class"].tolist() == [attachment.coverage_class(each) for each in inside["sensor"]]
    assert inside["coverage_class"].nunique() == (2 if profile else 1)
    assert sensors.loc[~covered, ["uplink_bps", "downlink_bps", "coverage_class"]].isna().all(axis=None)


def test_a_sensors_traffic_is_that_of_its_transfers_and_of_the_broadcasts_it_heard() -> None:
    result = run(placed(), timing_only=True)
    sensors, transfers = result.sensors.set_index("sensor"), result.transfers
    own = transfers[transfers["sensor"] >= 0]
    broadcasts = transfers[transfers["sensor"] == EVERYONE]
    assert len(broadcasts) > 0
    # who took part in a full round, in a cell, has heard its broadcast
    chained = own[own["group"] >= 0].query("direction == 'down'")
    heard = broadcasts.merge(chained, on=["round", "cell"], suffixes=("", "_chain"))
    heard_by = heard.groupby("sensor_chain")
    counted = own.groupby("sensor").size().add(heard_by.size(), fill_value=0)
    down = own.query("direction == 'down'").groupby("sensor")["bytes"].sum().add(heard_by["bytes"].sum(), fill_value=0)
    airtime_s = own.groupby("sensor")["airtime_s"].sum().add(heard_by["airtime_s"].sum(), fill_value=0)
    active = sensors.loc[counted.index]
    assert active["transfers"].tolist() == counted.tolist()
    assert active["downlink_bytes"].tolist() == down.reindex(counted.index, fill_value=0).tolist()
    assert active["uplink_bytes"].tolist() == own.query("direction == 'up'").groupby("sensor")["bytes"].sum().tolist()
    assert active["airtime_s"].tolist() == pytest.approx(airtime_s.tolist())
    silent = sensors.drop(counted.index)
    assert (silent[["transfers", "uplink_bytes", "downlink_bytes", "airtime_s"]] == 0).all(axis=None)
    assert set(sensors["compute"]) == {"mcu"}


def test_how_sensors_are_cut_into_chunks_changes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    whole = run(placed(), timing_only=True).sensors
    monkeypatch.setattr(sensor_rows, "_CHUNK", 7)
    parts = run(placed(), timing_only=True, out=tmp_path / "out").sensors
    pd.testing.assert_frame_equal(whole, parts, check_exact=True)


def test_equal_runs_have_equal_files(tmp_path: Path) -> None:
    files = [run(placed(), timing_only=True, out=tmp_path / name).directory for name in ("one", "two")]
    one, two = (directory / "sensors.parquet" for directory in files if directory is not None)
    assert one.read_bytes() == two.read_bytes()


def test_a_directory_of_an_earlier_version_opens_with_no_sensors(tmp_path: Path) -> None:
    run(tiny_scenario(), timing_only=True, out=tmp_path / "out")
    (without_checksums(tmp_path / "out") / "sensors.parquet").unlink()
    assert is_finished(tmp_path / "out")
    opened = open_run(tmp_path / "out")
    assert opened.sensors.empty
    assert list(opened.sensors.columns) == [column.name for column in TABLES["sensors"].columns]
    written = export_trace(tmp_path / "out", "csv")
    assert (written / "sensors.csv").read_text().startswith('"sensor","cell","x_m"')


def test_columns_of_an_earlier_version_are_read_under_their_names_of_today(tmp_path: Path) -> None:
    run(placed(), timing_only=True, out=tmp_path / "out")
    path, now = without_checksums(tmp_path / "out") / "sensors.parquet", open_run(tmp_path / "out").sensors
    former = {"uplink_bytes": "bytes_up", "downlink_bytes": "bytes_down"}
    table = pq.read_table(path)
    pq.write_table(table.rename_columns([former.get(name, name) for name in table.column_names]), path)
    assert "bytes_up" in pd.read_parquet(path).columns
    assert open_run(tmp_path / "out").sensors.equals(now)


def test_a_csv_has_the_sensors(tmp_path: Path) -> None:
    run(placed(), timing_only=True, out=tmp_path / "out")
    table = pd.read_csv(export_trace(tmp_path / "out", "csv") / "sensors.csv")
    assert len(table) == 60
    assert table["covered"].dtype == bool


def test_a_column_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="sensors has no column colour"):
        Trace().sensors.extend({"sensor": np.arange(2), "colour": np.arange(2)})


def test_the_mine_shows_what_its_classes_are_worth() -> None:
    sensors = run(load_scenario("open-pit-mine", rounds=1), timing_only=True).sensors
    rates_bps = sensors[sensors["covered"]].groupby("coverage_class")["uplink_bps"].mean()
    assert rates_bps.is_monotonic_decreasing
    assert len(rates_bps) > 1
