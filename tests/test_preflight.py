"""`check` accepts exactly what `run` accepts, on scenarios broken in every way that is not about spelling."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from click.testing import CliRunner

from hfedms_sim.cli import main
from hfedms_sim.errors import InputError
from hfedms_sim.loading import load_scenario
from hfedms_sim.simulation import run
from hfedms_sim.simulation.preflight import checked_file

HALL: dict[str, Any] = {
    "name": "hall",
    "rounds": 2,
    "model": "tiny-mlp",
    "sensors": {"count": 12, "placement": {"kind": "uniform", "width_m": 60, "length_m": 40}},
    "cells": [{"name": "a", "profile": "lte-cat-m2", "x_m": 30, "y_m": 20}],
    "strategy": {"name": "fedavg"},
}


def mutations(directory: Path) -> list[tuple[str, Any]]:
    """Return keys and values that are well written; some of them no run can start with."""
    positions, short, images, few = (directory / name for name in ("at.csv", "short.csv", "other.npz", "few.npz"))
    positions.write_text("sensor,x_m,y_m\n" + "".join(f"{number},{number},5\n" for number in range(12)))
    short.write_text("sensor,x_m,y_m\n0,1,1\n")
    np.savez(images, images=np.zeros((40, 32, 32), np.uint8), labels=np.zeros(40, np.uint8), device=np.arange(40) % 4)
    np.savez(few, images=np.zeros((40, 28, 28), np.uint8), labels=np.zeros(40, np.uint8), device=np.arange(40) % 4)
    hall = HALL["sensors"]["placement"]
    table = hall | {"kind": "csv"}
    values: dict[str, list[Any]] = {
        "cells.0.x_m": [600],
        "cells.0.y_m": [None],
        "cells.0.profile": ["ethernet", "lorawan-eu868-sf7", "nb-iot-nb2"],
        "sensors.count": [3, 200],
        "sensors.placement": [
            {"kind": "none"},
            hall | {"kind": "grid", "pitch_m": 5},
            hall | {"kind": "grid", "pitch_m": 30},
            hall | {"extra_loss_db": 200},
            hall | {"width_m": 1e4, "length_m": 1e4},
            table | {"path": str(positions)},
            table | {"path": str(short)},
            table | {"path": str(directory / "absent.csv")},
        ],
        "data": [
            {"set": "npz", "path": str(images)},
            {"set": "npz", "path": str(few)},
            {"set": "leaf", "path": str(directory)},
            {"set": "glyphs"},
        ],
        "stream": [
            {"arrival": "trace", "path": str(directory / "absent.csv"), "batch": 5},
            {"arrival": "poisson", "rate_hz": 1.0},
        ],
        "strategy": [{"name": "hfedms-d", "beta": 2}, {"name": "fedavg", "local_optimiser": "adam"}],
        "model": ["mlp"],
        "compute": [{"device": "mcu"}],
        "rounds": [1],
    }
    return [(key, value) for key, choices in values.items() for value in choices]


def changed(base: dict[str, Any], key: str, value: Any) -> None:
    *path, last = key.split(".")
    place: Any = base
    for step in path:
        place = place[int(step)] if isinstance(place, list) else place[step]
    place[last] = value


def refused_by_run(path: Path) -> bool:
    try:
        run(load_scenario(str(path)), timing_only=True)
    except InputError:
        return True
    return False


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(4))
def test_check_and_run_agree_on_mutated_scenarios(tmp_path: Path, part: int) -> None:
    choices, outcomes = mutations(tmp_path), []
    for number in range(50):
        draw = random.Random(f"{part}/{number}")
        scenario = yaml.safe_load(yaml.safe_dump(HALL))
        for key, value in draw.sample(choices, draw.randint(1, 3)):
            changed(scenario, key, value)
        path = tmp_path / f"{number}.yaml"
        path.write_text(yaml.safe_dump(scenario))
        problems = checked_file(str(path)).problems
        assert bool(problems) == refused_by_run(path), (scenario, problems)
        outcomes.append(bool(problems))
    assert 5 < sum(outcomes) < 45  # both happen


def test_check_names_the_file_and_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "hall.yaml"
    path.write_text(yaml.safe_dump(HALL | {"cells": [{"name": "a", "profile": "lte-cat-m2", "x_m": 600, "y_m": 1}]}))
    result = CliRunner().invoke(main, ["check", str(path), "quickstart"])
    assert result.exit_code == 2
    assert f"error: {path}: cells.0: stands at 600, 1, outside the hall" in result.output
    assert "quickstart: ok" in result.output
