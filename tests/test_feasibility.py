"""What a transfer would take, and runs that would never end."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from hfedms_sim.cli import main
from hfedms_sim.errors import InputError
from hfedms_sim.feasibility import RadioCost, radio_costs
from hfedms_sim.loading import load_scenario
from hfedms_sim.models import spec_of
from hfedms_sim.scenario import Scenario
from hfedms_sim.simulation import run
from tests.conftest import FAST, tiny_scenario

SLOW = [{"name": "hall", "profile": FAST | {"uplink_bps": 0.1, "downlink_bps": 0.1}}]


def costs_of(scenario: Scenario) -> list[RadioCost]:
    return radio_costs(scenario, spec_of(scenario.model))


def test_a_model_over_nb_iot_takes_hours_and_the_classifier_seconds() -> None:
    """26,751,336 bytes at 26 kbit/s down are 8231 s; a tenth of the blocks is sent again: 9146 s.

    Then 0.745 s of set-up and 0.085 s of latency; down also half a paging cycle of 2.56 s.
    """
    (cost,) = costs_of(load_scenario("paper-stream", profile="nb-iot-nb1"))
    assert cost.model_down_s == pytest.approx(8 * 26_751_336 / 26e3 / 0.9 + 0.745 + 0.085 + 1.28)
    assert cost.classifier_up_s == pytest.approx(8 * 25_048 / 62e3 / 0.9 + 0.745 + 0.085)
    assert "one model up 1 h 4 min, down 2 h 32 min" in str(cost)


def test_a_single_transfer_of_a_run_takes_what_was_foretold_when_no_block_fails() -> None:
    scenario = tiny_scenario(sensors={"count": 1}, rounds=1, strategy={"name": "fedavg"})
    (cost,) = costs_of(scenario)
    transfers = run(scenario, timing_only=True).transfers.set_index("direction")
    durations_s = transfers["end_s"] - transfers["ready_s"]
    assert durations_s["down"] == pytest.approx(cost.model_down_s)
    assert durations_s["up"] == pytest.approx(cost.model_up_s)


@pytest.mark.parametrize(
    ("idle", "up_s", "down_s"),
    [
        ({"mode": "edrx", "cycle_s": 82.0}, 0.0, 41.0),
        ({"mode": "psm", "wake_s": 1.5}, 1.5, 1.5),
        ({"mode": "psm", "wake_s": 1.5, "wake_every_s": 60.0}, 1.5, 31.5),
        ({"mode": "listening"}, 0.0, 0.0),
    ],
)
def test_a_sensor_at_rest_is_reached_after_half_a_cycle_and_takes_longer_to_wake(
    idle: dict[str, object], up_s: float, down_s: float
) -> None:
    (plain,) = costs_of(tiny_scenario())
    (cost,) = costs_of(tiny_scenario(cells=[{"name": "hall", "profile": FAST | {"idle": idle}}]))
    assert cost.model_up_s - plain.model_up_s == pytest.approx(up_s)
    assert cost.model_down_s - plain.model_down_s == pytest.approx(down_s)


def test_each_radio_is_named_once() -> None:
    cells = "cells=[{name: a, profile: ethernet}, {name: b, profile: nb-iot-nb1}, {name: c, profile: ethernet}]"
    assert [cost.profile for cost in costs_of(load_scenario("quickstart", overrides=[cells]))] == [
        "ethernet",
        "nb-iot-nb1",
    ]


def test_a_first_round_of_months_is_refused_unless_allowed_and_leaves_nothing(tmp_path: Path) -> None:
    scenario = tiny_scenario(cells=SLOW, rounds=1)
    with pytest.raises(InputError, match=r"the first round takes .* of simulated time; allow_infeasible=True goes on"):
        run(scenario, timing_only=True, out=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    assert run(scenario, timing_only=True, allow_infeasible=True).summary["simulated_s"] > 30 * 86_400


def test_the_command_line_tells_before_it_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told = CliRunner().invoke(main, ["run", "quickstart", "--timing-only", "--rounds", "1"])
    assert told.stderr.splitlines()[0].startswith("lte-cat-m2: one model up ")
    slow = ["run", "quickstart", "--timing-only", "--rounds", "1", "--set", "cells.0.profile.uplink_bps=0.1"]
    assert CliRunner().invoke(main, slow).exit_code == 2
    assert CliRunner().invoke(main, [*slow, "--allow-infeasible"]).exit_code == 0
