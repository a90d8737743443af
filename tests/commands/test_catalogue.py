"""list --json: what programs read."""

import json
from typing import Any

import pytest
from click.testing import CliRunner

from hfedms_sim.cli import main
from hfedms_sim.models import MODELS
from hfedms_sim.scenario import load_profile, shipped
from hfedms_sim.strategies import STRATEGIES

KEYS = {
    "scenarios": ["name", "description", "sensors", "strategy", "profiles", "model", "data", "rounds"],
    "profiles": ["name", "description", "uplink_bps", "downlink_bps", "duplex"],
    "strategies": ["name", "rule", "paper"],
    "models": [
        "name", "description", "input_shape", "classes", "parameters", "classifier_parameters", "model_bytes",
        "multiply_adds",
    ],
    "datasets": ["name", "description"],
}  # fmt: skip


def listed(what: str) -> list[dict[str, Any]]:
    result = CliRunner().invoke(main, ["list", what, "--json"])
    assert result.exit_code == 0, result.output
    entries: list[dict[str, Any]] = json.loads(result.stdout)
    return entries


@pytest.mark.parametrize("what", KEYS)
def test_a_list_has_the_keys_that_are_promised(what: str) -> None:
    assert {tuple(entry) for entry in listed(what)} == {tuple(KEYS[what])}


def test_everything_is_listed_with_its_figures() -> None:
    assert [entry["name"] for entry in listed("strategies")] == list(STRATEGIES)
    assert [entry["name"] for entry in listed("models")] == list(MODELS)
    assert {entry["name"]: entry["uplink_bps"] for entry in listed("profiles")} == {
        name: load_profile(name).uplink_bps for name in shipped("profile")
    }
    quickstart = next(entry for entry in listed("scenarios") if entry["name"] == "quickstart")
    assert (quickstart["sensors"], quickstart["profiles"], quickstart["data"]) == (80, ["lte-cat-m2"], "glyphs")
