"""A whole run: the directory it leaves, its replay, its provenance, the lineage."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.loading import CHOICES, load_scenario, scenario_of
from hfedms_sim.run_directory import RunDirectory
from hfedms_sim.simulation import Progress, open_run, run
from hfedms_sim.trace import TABLES
from tests.conftest import FAST, tiny_scenario

FILES = {
    "scenario.yaml", "provenance.json", "summary.json", "rounds.parquet", "transfers.parquet", "work.parquet",
    "captures.parquet", "faults.parquet", "sensors.parquet", "learning", "SHA256SUMS",
}  # fmt: skip
SUMMARY_KEYS = [
    "scenario", "strategy", "profile", "seed", "rounds", "stopped", "simulated_s", "wall_s", "coverage",
    "final_accuracy", "best_accuracy", "final_loss", "bytes", "energy_j", "energy_by_state",
    "energy_extrapolated", "energy_missing", "battery_life", "faults", "cells", "limited_by", "targets", "closed_form",
    "lineage",
]  # fmt: skip


def test_a_run_leaves_exactly_the_files_of_the_contract(tmp_path: Path) -> None:
    run(tiny_scenario(), timing_only=True, out=tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES


def test_the_tables_have_the_columns_of_the_contract(tmp_path: Path) -> None:
    run(tiny_scenario(), timing_only=True, out=tmp_path / "out")
    for name, table in TABLES.items():
        schema = pq.read_schema(tmp_path / "out" / f"{name}.parquet")
        assert schema.names == [column.name for column in table.columns]
        assert [str(kind).replace("double", "float64") for kind in schema.types] == [c.type for c in table.columns]


def test_the_summary_has_the_keys_of_the_contract(tmp_path: Path) -> None:
    run(tiny_scenario(targets=[0.5]), timing_only=True, out=tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert list(summary) == SUMMARY_KEYS
    assert list(summary["bytes"]) == ["up", "down", "total"]
    (cell,) = summary["cells"]
    assert {key: cell[key] for key in ("name", "sensors")} == {"name": "hall", "sensors": 8}
    assert list(cell) == ["name", "sensors", "directions"]
    assert list(cell["directions"]) == ["up", "down"]
    for use in cell["directions"].values():
        assert list(use) == ["airtime_s", "active_share", "saturated_share", "allowed_airtime_share"]
    assert list(summary["limited_by"]) == ["cause", "share", "detail", "text", "rounds", "shares"]
    assert list(summary["limited_by"]["detail"]) == ["cell", "direction", "sensor", "chain_sensors"]
    assert list(summary["closed_form"]) == ["bytes", "seconds"]
    spent = ("round", "simulated_s", "bytes", "energy_j", "updated_parameters")
    assert summary["targets"] == [{"accuracy": 0.5} | dict.fromkeys(spent)]


def test_running_the_written_scenario_again_gives_the_same_tables(tmp_path: Path) -> None:
    run(tiny_scenario(), timing_only=True, out=tmp_path / "first")
    replayed = load_scenario(str(tmp_path / "first" / "scenario.yaml"))
    run(replayed, timing_only=True, out=tmp_path / "second")
    for name in TABLES:
        one, other = ((tmp_path / directory / f"{name}.parquet").read_bytes() for directory in ("first", "second"))
        assert one == other


def test_in_memory_and_on_disk_are_the_same_run(tmp_path: Path) -> None:
    in_memory = run(tiny_scenario(), timing_only=True)
    run(tiny_scenario(), timing_only=True, out=tmp_path / "out")
    opened = open_run(tmp_path / "out")
    for name in TABLES:
        assert opened.arrow(name).equals(in_memory.arrow(name))
    assert opened.scenario == in_memory.scenario
    assert opened.utilisation.equals(in_memory.utilisation)


def test_provenance_says_with_what_and_when(tmp_path: Path) -> None:
    run(tiny_scenario(), timing_only=True, out=tmp_path / "out")
    provenance = json.loads((tmp_path / "out" / "provenance.json").read_text())
    assert provenance["versions"]["simpy"]
    assert provenance["seed"] == 1
    assert provenance["started"] <= provenance["ended"]
    assert set(provenance["wall_s"]) == {"start", "plan", "play", "learn", "evaluate", "write"}


def test_a_long_trace_is_written_in_pieces_and_read_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run(tiny_scenario(rounds=30), timing_only=True)
    monkeypatch.setattr("hfedms_sim.trace.recorder.CHUNK_ROWS", 7)
    monkeypatch.setattr("hfedms_sim.trace.recorder.ROW_GROUP_BATCHES", 3)
    pieces = run(tiny_scenario(rounds=30), timing_only=True, out=tmp_path / "out")
    assert pieces.arrow("transfers").equals(whole.arrow("transfers"))


def test_a_resumed_run_ends_with_the_tables_of_an_uninterrupted_one(tmp_path: Path) -> None:
    def interrupt(progress: Progress) -> None:
        if progress.round == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tiny_scenario(), timing_only=True, out=tmp_path / "out", on_round=interrupt)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"scenario.yaml", "provenance.json", "learning"}
    resumed = run(
        tiny_scenario(), timing_only=True, out=RunDirectory.resumed(tmp_path / "out", tiny_scenario(), CHOICES)
    )
    assert resumed.arrow("transfers").equals(run(tiny_scenario(), timing_only=True).arrow("transfers"))


def test_a_run_that_another_process_writes_is_not_resumed(tmp_path: Path) -> None:
    run(tiny_scenario(), timing_only=True, out=tmp_path / "out")
    writing = RunDirectory.resumed(tmp_path / "out", tiny_scenario(), CHOICES)
    with pytest.raises(InputError, match="another process is writing this run"):
        RunDirectory.resumed(tmp_path / "out", tiny_scenario(), CHOICES)
    writing.unlock()
    RunDirectory.resumed(tmp_path / "out", tiny_scenario(), CHOICES).unlock()


def test_another_scenario_is_not_resumed(tmp_path: Path) -> None:
    run(tiny_scenario(), timing_only=True, out=tmp_path / "out")
    with pytest.raises(InputError, match="another rounds: 6, now 7"):
        RunDirectory.resumed(tmp_path / "out", tiny_scenario(rounds=7), CHOICES)


def test_progress_is_told_after_every_round() -> None:
    told: list[Progress] = []
    result = run(tiny_scenario(), timing_only=True, on_round=told.append)
    assert [progress.round for progress in told] == [1, 2, 3, 4, 5, 6]
    assert told[-1].simulated_s == result.summary["simulated_s"]


CURRENTS = {"voltage_v": 3.6, "sleep_ma": 0.01, "connected_ma": 10.0, "receive_ma": 50.0, "transmit_ma": 100.0}


@pytest.mark.parametrize("strategy", ["hfedms-d", "fedbuff"])
def test_progress_counts_what_the_rounds_sum_up_to(strategy: str) -> None:
    told: list[Progress] = []
    cells = [{"name": "hall", "profile": FAST | {"energy": CURRENTS}}]
    changes = {"cells": cells, "strategy": {"name": strategy}, "evaluate_every": 4}
    rounds = run(tiny_scenario(**changes), on_round=told.append).rounds
    for column in ("uplink_bytes", "downlink_bytes", "energy_j", "updated_parameters"):
        assert [getattr(each, column) for each in told] == rounds[column].cumsum().tolist(), column
    assert [each.phase for each in told] == rounds["phase"].tolist()
    assert [each.simulated_s for each in told] == rounds["end_s"].tolist()
    evaluated = rounds.dropna(subset=["accuracy"])
    assert evaluated["round"].tolist() == [each.round for each in told if each.is_evaluated] == [4, 6]
    for column in ("accuracy", "loss"):
        assert [getattr(each, column) for each in told if each.is_evaluated] == evaluated[column].tolist()
        assert [getattr(each, column) for each in told[:3]] == [None, None, None]
        assert getattr(told[4], column) == evaluated[column].iloc[0]


def test_progress_has_no_joules_where_a_radio_has_none() -> None:
    told: list[Progress] = []
    run(tiny_scenario(), timing_only=True, on_round=told.append)
    assert {each.energy_j for each in told} == {None}
    assert all("energy_j" not in each.figures() for each in told)


def test_the_figures_of_a_round_are_what_was_spent_and_what_was_just_measured() -> None:
    progress = Progress(3, 6, 1.5, 0.25, loss=2.0, uplink_bytes=10, downlink_bytes=20, energy_j=0.0)
    spent = {"simulated_s": 1.5, "energy_j": 0.0, "uplink_bytes": 10, "downlink_bytes": 20, "updated_parameters": 0}
    assert progress.figures() == spent
    assert progress._replace(is_evaluated=True).figures() == spent | {"accuracy": 0.25, "loss": 2.0}


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"cells": [{"name": "hall", "profile": FAST | {"uplink_bps": 1.0}}]}, True),
        ({"targets": [0.9], "rounds": 5}, True),
        ({"seed": 2}, False),
        ({"data": {"skew": 0.5}}, False),
        ({"data": {"skew": 1}}, True),
        ({"model": "mlp"}, False),
        (
            {"strategy": {"name": "hfedms-d", "interval": 3, "beta": 2, "sample_ratio": 0.5, "learning_rate": 0.1}},
            False,
        ),
        (
            {"strategy": {"name": "hfedms-d", "interval": 3, "beta": 2, "sample_ratio": 0.5, "scatter": "broadcast"}},
            True,
        ),
        ({"strategy": {"name": "hfedms-d", "interval": 2, "beta": 2, "sample_ratio": 0.5}}, False),
    ],
)
def test_the_lineage_changes_with_what_is_learnt_and_with_nothing_else(changes: dict[str, object], same: bool) -> None:
    first, other = (run(tiny_scenario(**each), timing_only=True).rounds["lineage"][1] for each in ({}, changes))
    assert (first == other) == same


def test_updated_parameters_count_the_model_in_full_and_the_classifier_in_calibration_rounds() -> None:
    rounds = run(tiny_scenario(), timing_only=True).rounds
    model, classifier = 784 * 16 + 16 + 16 * 62 + 62, 16 * 62 + 62
    per_participant = (rounds["updated_parameters"] / rounds["participants"]).tolist()
    assert per_participant == [model, classifier, classifier] * 2


def test_utilisation_is_airtime_over_what_the_busier_direction_has() -> None:
    """FedAvg with everybody: 8 models down, then 8 up; in full duplex each direction is busy half of the time."""
    everybody = {"name": "fedavg", "sample_ratio": 1.0}
    full = run(tiny_scenario(strategy=everybody), timing_only=True)
    half_cells = [{"name": "hall", "profile": FAST | {"duplex": "cell-half"}}]
    half = run(tiny_scenario(strategy=everybody, cells=half_cells), timing_only=True)
    wired_cells = [{"name": "hall", "profile": FAST | {"channels": "dedicated"}}]
    wired = run(tiny_scenario(strategy=everybody, cells=wired_cells), timing_only=True)
    assert [result.utilisation["hall"] for result in (full, half, wired)] == pytest.approx([0.5, 1.0, 0.5])


def test_a_cell_that_carries_two_and_a_half_devices_is_as_much_quicker_and_as_busy() -> None:
    """8 models down at 2.5 sensors' worth, then 8 up one sensor's worth: 8 / 2.5 and 8 times a model's airtime."""
    profile = FAST | {"downlink_capacity_bps": 20e3}
    scenario = tiny_scenario(
        strategy={"name": "fedavg", "sample_ratio": 1.0}, rounds=1, cells=[{"name": "hall", "profile": profile}]
    )
    result = run(scenario, timing_only=True)
    assert result.summary["simulated_s"] == pytest.approx((8 / 2.5 + 8) * result.transfers["airtime_s"][0])
    assert result.utilisation["hall"] == pytest.approx(8 / (8 / 2.5 + 8))
    half = scenario_of(
        scenario.model_dump()
        | {"cells": [{"name": "hall", "profile": profile | {"uplink_capacity_bps": 20e3, "duplex": "cell-half"}}]}
    )
    both = run(half, timing_only=True)
    assert both.summary["simulated_s"] == pytest.approx(16 / 2.5 * both.transfers["airtime_s"][0])
    assert both.utilisation["hall"] == pytest.approx(1.0)
    assert both.summary["closed_form"]["seconds"] is None


@pytest.mark.parametrize("strategy", ["fedavg", "static-groups", "hfedms-s", "hfedms-d"])
def test_no_strategy_makes_a_sensor_send_and_receive_at_once_so_device_half_is_full(strategy: str) -> None:
    """With latency, two cells and a device that computes, as docs/scenario.md says."""
    radio = FAST | {"latency_s": 0.3, "setup_s": 0.2, "inactivity_s": 1.0}
    full, half = (
        run(
            tiny_scenario(
                cells=[{"name": name, "profile": radio | {"duplex": duplex}} for name in "ab"],
                strategy={"name": strategy},
                sensors={"count": 12},
                compute={"device": "mcu"},
            ),
            timing_only=True,
        )
        for duplex in ("full", "device-half")
    )
    assert full.arrow("transfers").equals(half.arrow("transfers"))
    assert full.arrow("rounds").equals(half.arrow("rounds"))
