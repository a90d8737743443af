"""The public checks: shipped strategies and networks pass, and each kind of broken one is told what is wrong."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hfedms_sim.checks import check_model, check_strategy
from hfedms_sim.models import MODELS
from hfedms_sim.strategies import SHIPPED


@pytest.mark.parametrize("name", ["fedavg", "fedadam", "hfedms-d"])
def test_shipped_strategies_keep_to_the_contract(name: str) -> None:
    changes: dict[str, Any] = {"beta": 3, "interval": 3} if name == "hfedms-d" else {}
    check_strategy(SHIPPED[name].Settings(name=name, learning_rate=0.05, **changes))


@pytest.mark.thorough
@pytest.mark.parametrize("name", MODELS.shipped)
def test_shipped_networks_keep_to_the_contract(name: str) -> None:
    check_model(MODELS.shipped[name], rounds=2)


@pytest.fixture(scope="module")
def told() -> dict[str, str]:
    """What each of the broken strategies was told, by its name."""
    command = [sys.executable, "-c", "from tests.broken_strategies import main; main()"]
    root = Path(__file__).resolve().parent.parent
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    found: dict[str, str] = json.loads(ended.stdout)
    return found


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("forgetful", "Forgetful: a resumed run ends with other weights"),
        ("restless", "Restless: training twice gives other weights"),
        ("exploding", "Exploding: "),
        ("weightless", "Weightless: plan sends -4 bytes and 0 more up; must be at least 1 and 0"),
        ("hasty", "Hasty: plan of round 2 starts sensor "),
        ("impatient", "Impatient: plan of round 2 awaits everybody, but chains of earlier ones go on"),
        ("raising", "Raising: raised ValueError: no idea"),
    ],
)
def test_a_broken_strategy_is_told_what_is_wrong(told: dict[str, str], name: str, fault: str) -> None:
    assert fault in told[name]
    if name == "exploding":
        assert "not finite" in told[name]
