"""The map of a hall: drawn whole or not at all."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from hfedms_sim.cli import main
from hfedms_sim.errors import InputError
from hfedms_sim.loading import load_scenario
from hfedms_sim.report.figures import draw
from hfedms_sim.report.views.coverage import map_figure


@pytest.mark.parametrize(("scenario", "ending"), [("assembly-hall", "png"), ("open-pit-mine", "svg")])
def test_a_placed_scenario_has_a_map(scenario: str, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"hall.{ending}"
    shown = CliRunner().invoke(main, ["show", scenario, "--map", str(path)])
    assert shown.exit_code == 0, shown.output
    assert shown.output.strip() == str(path)
    assert path.read_bytes().startswith({"png": b"\x89PNG", "svg": b"<?xml"}[ending])
    assert list(tmp_path.iterdir()) == [path]


def test_sensors_without_coverage_are_drawn_too(tmp_path: Path) -> None:
    scenario = load_scenario("assembly-hall", overrides=["sensors.placement.extra_loss_db=95"])
    draw(map_figure(scenario), tmp_path / "hall.svg")
    assert "no coverage" in (tmp_path / "hall.svg").read_text()


@pytest.mark.parametrize(
    ("scenario", "name", "message"),
    [
        ("quickstart", "hall.png", "quickstart: no map, its sensors stand nowhere"),
        ("assembly-hall", "hall.doc", "hall.doc: a picture ends in one of"),
        ("assembly-hall", "missing/hall.png", "cannot be written"),
    ],
)
def test_what_cannot_be_drawn_is_refused(scenario: str, name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        draw(map_figure(load_scenario(scenario)), tmp_path / name)
    assert list(tmp_path.iterdir()) == []
