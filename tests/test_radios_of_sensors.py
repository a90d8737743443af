"""A mixed factory: which sensor has which radio, as the cells' counts or the positions' file say."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from click.testing import CliRunner

from hfedms_sim.cli import main
from hfedms_sim.errors import InputError
from hfedms_sim.loading import load_scenario, scenario_of
from hfedms_sim.scenario import Scenario
from hfedms_sim.seeds import Draws
from hfedms_sim.simulation import run
from hfedms_sim.simulation.preflight import checked_file
from hfedms_sim.world.site.attachment import make_attachment
from tests.conftest import FAST, tiny_scenario
from tests.world.cells import placed_sensors

EVERYBODY = {"name": "fedavg", "sample_ratio": 1.0}
BUDGET = {"carrier_ghz": 0.8, "bandwidth_hz": 1e6, "device_power_dbm": 23.0, "base_power_dbm": 30.0}
BROAD = FAST | {"name": "broad", "budget": BUDGET}
NARROW = FAST | {"name": "narrow", "budget": BUDGET | {"bandwidth_hz": 1e5}}
"""It carries less everywhere, so a sensor that may choose never takes it."""
HALL = {"kind": "uniform", "width_m": 60.0, "length_m": 40.0}


def counted(*counts: int | None, **changes: Any) -> Scenario:
    cells = [
        {"name": f"c{number}", "profile": FAST} | ({} if count is None else {"sensors": count})
        for number, count in enumerate(counts)
    ]
    return tiny_scenario(**{"cells": cells, "strategy": EVERYBODY, "rounds": 1} | changes)


def hall(count: int = 300, placement: dict[str, Any] | None = None, sensors: tuple[int, ...] = ()) -> dict[str, Any]:
    """Return a hall with two broad cells and a narrow one between them, as a file would have it."""
    cells: list[dict[str, Any]] = [
        {"name": "west", "profile": BROAD, "x_m": 10.0, "y_m": 20.0},
        {"name": "middle", "profile": NARROW, "x_m": 30.0, "y_m": 20.0},
        {"name": "east", "profile": BROAD, "x_m": 50.0, "y_m": 20.0},
    ]
    for cell, own in zip(cells, sensors, strict=False):
        cell["sensors"] = own
    return {
        "name": "hall",
        "rounds": 1,
        "model": "tiny-mlp",
        "sensors": {"count": count, "placement": placement or HALL},
        "cells": cells,
        "strategy": EVERYBODY,
    }


def cells_used(scenario: Scenario) -> dict[int, str]:
    """Return the cell of every sensor, as the transfers of a run say."""
    transfers = run(scenario, timing_only=True).transfers
    pairs = transfers[["sensor", "cell"]].drop_duplicates()
    assert pairs["sensor"].is_unique
    return dict(zip(pairs["sensor"].tolist(), pairs["cell"].tolist(), strict=True))


def sensors_by_cell(scenario: Scenario) -> dict[str, int]:
    summary = run(scenario, timing_only=True).summary
    return {cell["name"]: cell["sensors"] for cell in summary["cells"]}


def test_the_first_sensors_use_the_first_cell_as_many_as_it_counts() -> None:
    assert cells_used(counted(5, 0, 3)) == {sensor: "c0" if sensor < 5 else "c2" for sensor in range(8)}


def test_without_counts_sensors_go_round_the_cells() -> None:
    assert cells_used(counted(None, None, None)) == {sensor: f"c{sensor % 3}" for sensor in range(8)}


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ((5, 2), "cells: their sensors add up to 7; must be sensors.count, which is 8"),
        ((5, 4), "cells: their sensors add up to 9; must be sensors.count, which is 8"),
        ((5, None, 3), "cells: all have sensors or none has; 'c1' has none, another cell has"),
        ((9, -1), "cells.1.sensors = -1: must be at least 0"),
    ],
)
def test_check_and_run_refuse_wrong_counts_in_one_line(
    counts: tuple[int | None, ...], message: str, tmp_path: Path
) -> None:
    raw = tiny_scenario().model_dump(mode="json", exclude_defaults=True)
    names = [{"name": f"c{number}", "profile": FAST} for number in range(len(counts))]
    raw["cells"] = [cell | {"sensors": count} for cell, count in zip(names, counts, strict=True)]
    path = tmp_path / "s.yaml"
    path.write_text(yaml.safe_dump(raw))
    assert [str(problem) for problem in checked_file(str(path)).problems] == [f"{path}: {message}"]
    with pytest.raises(InputError) as refused:
        load_scenario(str(path))
    assert str(refused.value) == f"{path}: {message}"


def test_a_factory_with_another_number_of_sensors_needs_other_counts() -> None:
    with pytest.raises(InputError, match=r"their sensors add up to 90; must be sensors\.count, which is 30"):
        load_scenario("mixed-factory", overrides=["sensors.count=30"])
    changes = ["sensors.count=30", *(f"cells.{cell}.sensors=10" for cell in range(3))]
    assert load_scenario("mixed-factory", overrides=changes).sensors_of_cells == (10, 10, 10)


def test_the_shipped_mixed_factory_has_sensors_in_every_cell_as_written() -> None:
    scenario = load_scenario("mixed-factory", rounds=1)
    written = {cell.name: cell.sensors for cell in scenario.cells}
    assert min(count or 0 for count in written.values()) > 0
    assert sensors_by_cell(scenario) == written
    expected = [cell.name for cell in scenario.cells for _ in range(cell.sensors or 0)]
    assert cells_used(scenario) == dict(enumerate(expected))  # all of them report


def test_placed_sensors_leave_a_cell_empty_if_they_may_choose_and_not_if_it_counts_its_own() -> None:
    assert sensors_by_cell(scenario_of(hall()))["middle"] == 0
    assert sensors_by_cell(scenario_of(hall(sensors=(150, 100, 50))))["middle"] == 100


def test_a_module_takes_the_best_of_the_cells_with_its_technology() -> None:
    """250 modules are broad whichever broad cell counts them; 50 are narrow and have one cell."""
    scenario = scenario_of(hall(sensors=(250, 50, 0)))
    attachment = make_attachment(scenario, Draws(scenario.seed))
    free = make_attachment(scenario_of(hall()), Draws(scenario.seed))
    broad, narrow = np.arange(250), np.arange(250, 300)
    assert set(attachment.cells(broad).tolist()) == {0, 2}
    assert np.array_equal(attachment.cells(broad), free.cells(broad))
    assert set(attachment.cells(narrow).tolist()) == {1}
    swapped = make_attachment(scenario_of(hall(sensors=(0, 50, 250))), Draws(scenario.seed))
    assert set(swapped.cells(np.arange(50)).tolist()) == {1}
    assert np.array_equal(swapped.cells(np.arange(50, 300)), free.cells(np.arange(50, 300)))


def test_on_one_common_radio_counts_bind_nobody() -> None:
    raw = hall(sensors=(100, 100, 100))
    for cell in raw["cells"]:
        cell["profile"] = BROAD
    one = run(scenario_of(raw), timing_only=True)
    for cell in raw["cells"]:
        del cell["sensors"]
    other = run(scenario_of(raw), timing_only=True)
    assert one.arrow("transfers").equals(other.arrow("transfers"))


def test_a_cell_column_places_every_sensor_as_written(tmp_path: Path) -> None:
    radios = ["middle" if sensor % 3 else ("west", "east")[sensor % 2] for sensor in range(60)]
    write_positions(tmp_path / "at.csv", radios)
    scenario = scenario_of(hall(60, csv_in(tmp_path)))
    used = cells_used(scenario)
    for sensor, radio in enumerate(radios):
        assert used[sensor] == "middle" if radio == "middle" else used[sensor] in ("west", "east")
    nearest = ["west" if x_m < 30 else "east" for x_m in placed_sensors(scenario).positions_m[:, 0]]
    broad = [sensor for sensor, radio in enumerate(radios) if radio != "middle"]
    assert sum(used[sensor] == nearest[sensor] for sensor in broad) > len(broad) // 2  # by coverage, not by name


def test_wrong_names_and_a_column_beside_counts_are_refused_in_one_line(tmp_path: Path) -> None:
    write_positions(tmp_path / "at.csv", ["west", "midle"])
    assert refusal(tmp_path, hall(2, csv_in(tmp_path))) == (
        f"{tmp_path / 'at.csv'}, line 3: unknown cell 'midle'. Did you mean 'middle'? Known: east, middle, west"
    )
    write_positions(tmp_path / "at.csv", ["west", "middle"])
    assert refusal(tmp_path, hall(2, csv_in(tmp_path), (1, 1, 0))) == (
        f"{tmp_path / 'at.csv'}: its column cell and cells.N.sensors both say which radio a sensor has; leave one out"
    )
    assert refusal(tmp_path, hall(2, csv_in(tmp_path))) is None


def test_a_file_without_the_column_goes_with_counts(tmp_path: Path) -> None:
    rows = "".join(f"{sensor},{sensor},5\n" for sensor in range(6))
    (tmp_path / "at.csv").write_text(f"sensor,x_m,y_m\n{rows}")
    used = cells_used(scenario_of(hall(6, csv_in(tmp_path), (2, 4, 0))))
    assert [used[sensor] == "middle" for sensor in range(6)] == [False, False, True, True, True, True]


def test_a_cell_without_sensors_is_a_note_and_shows_in_the_closing_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    note = "note: hall: 1 of 3 cells has no sensor: middle; cells.N.sensors says how many have which radio"
    Path("hall.yaml").write_text(yaml.safe_dump(hall(60)))
    warned = CliRunner().invoke(main, ["run", "hall.yaml", "--timing-only"])
    assert (warned.exit_code, warned.stderr.count(note)) == (0, 1)
    assert "60 in 3 cells (1 without sensors)" in warned.stdout
    Path("hall.yaml").write_text(yaml.safe_dump(hall(60, sensors=(20, 20, 20))))
    silent = CliRunner().invoke(main, ["run", "hall.yaml", "--timing-only"])
    assert (silent.exit_code, silent.stderr.count("note:")) == (0, 0)
    assert "without sensors" not in silent.stdout


def test_of_many_empty_cells_some_are_named_and_all_are_counted(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        yaml.safe_dump(counted(*[None] * 20).model_dump(mode="json", exclude_defaults=True) | {"strategy": EVERYBODY})
    )
    result = CliRunner().invoke(main, ["run", str(tmp_path / "s.yaml"), "--timing-only", "--out", str(tmp_path / "r")])
    assert "12 of 20 cells have no sensor: c8, c9, c10, c11, c12 and 7 more;" in result.stderr


@pytest.mark.parametrize("placed", [False, True])
def test_dedicated_channels_are_as_many_as_the_cell_has_sensors(placed: bool) -> None:
    """Equal sensors on wires of their own: each is busy half of the time, however many share the cell."""
    wired = FAST | {"channels": "dedicated", "budget": BUDGET | {"base_power_dbm": 60.0, "device_power_dbm": 60.0}}
    cells = [
        {"name": "near", "profile": wired, "sensors": 6, "x_m": 5.0, "y_m": 5.0},
        {"name": "far", "profile": wired | {"name": "other"}, "sensors": 2, "x_m": 5.0, "y_m": 5.0},
    ]
    placement = {"kind": "grid", "width_m": 10.0, "length_m": 10.0, "pitch_m": 1.0} if placed else {"kind": "none"}
    sensors = {"count": 8, "placement": placement}
    result = run(tiny_scenario(cells=cells, sensors=sensors, strategy=EVERYBODY), timing_only=True)
    assert result.utilisation.to_dict() == pytest.approx({"near": 0.5, "far": 0.5})


def test_the_wires_of_sensors_that_were_not_chosen_count_as_unused() -> None:
    cells = [{"name": "hall", "profile": FAST | {"channels": "dedicated"}}]
    few = {"name": "fedavg", "sample_ratio": 0.25}
    result = run(tiny_scenario(cells=cells, strategy=few, rounds=1), timing_only=True)
    assert result.transfers["sensor"].nunique() == 2
    assert result.utilisation["hall"] == pytest.approx(0.5 * 2 / 8)


def csv_in(directory: Path) -> dict[str, Any]:
    return HALL | {"kind": "csv", "path": str(directory / "at.csv")}


def write_positions(path: Path, radios: list[str]) -> None:
    """Sensors stand along the hall, one metre apart, and have the radios of these cells."""
    rows = "".join(f"{sensor},{sensor},20,{radio}\n" for sensor, radio in enumerate(radios))
    path.write_text(f"sensor,x_m,y_m,cell\n{rows}")


def refusal(directory: Path, raw: dict[str, Any]) -> str | None:
    """Return the line with which `check` refuses the scenario, without the scenario's own name."""
    path = directory / "s.yaml"
    path.write_text(yaml.safe_dump(raw))
    problems = checked_file(str(path)).problems
    assert len(problems) <= 1
    return str(problems[0]).removeprefix(f"{path}: ") if problems else None
