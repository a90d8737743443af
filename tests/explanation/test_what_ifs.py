"""What-ifs are real runs: the command that each names gives its figures to the digit."""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hfedms_sim import Explanation, explain, load_scenario, open_run, run
from hfedms_sim.cli import main
from hfedms_sim.explanation import replay
from hfedms_sim.explanation.what_ifs import WhatIf
from hfedms_sim.scenario import Scenario
from tests.conftest import FAST, some_of, tiny_scenario
from tests.limits.test_limited_by import BROAD, LORA_LIKE


def explained(made: Scenario, directory: Path) -> Explanation:
    run(made, timing_only=True, allow_infeasible=True, out=directory)
    return explain(directory)


def figures(directory: Path) -> tuple[float, int, float | None, str]:
    summary = open_run(directory).summary
    return summary["simulated_s"], summary["bytes"]["total"], summary["energy_j"], summary["limited_by"]["text"]


def assert_equals_its_command(what_if: WhatIf, directory: Path) -> None:
    assert what_if.command is not None
    assert what_if.figures is not None
    program, *arguments = shlex.split(what_if.command)
    assert program == "hfedms-sim"
    said = CliRunner().invoke(main, [*arguments, "--quiet", "--out", str(directory)])
    assert said.exit_code == 0, said.output
    found = what_if.figures
    assert (found.simulated_s, found.bytes, found.energy_j, what_if.limited_by) == figures(directory)


WORLDS: dict[str, tuple[Scenario, list[str]]] = {
    "quickstart": (load_scenario("quickstart", rounds=6), ["one more channel", "the fastest radio", "int8"]),
    "fedbuff": (
        load_scenario("quickstart", strategy="fedbuff", rounds=6),
        ["one more channel", "the fastest radio", "int8"],
    ),
    "hall": (
        load_scenario("assembly-hall", rounds=2),
        ["room for one more sensor", "the fastest radio", "shorter chains"],
    ),
    "storm": (
        load_scenario("storm-day", rounds=5, overrides={"stop_after_s": 8000.0}),
        ["room for one more sensor", "the fastest radio", "shorter chains"],
    ),
    "pit": (load_scenario("open-pit-mine", rounds=2), ["one more cell", "int8"]),
    "yard": (load_scenario("lorawan-yard", rounds=2), ["one more cell", "the fastest radio", "int8"]),
}


@pytest.mark.parametrize("name", some_of(WORLDS, kept=("fedbuff", "yard")))
def test_what_ifs_equal_the_runs_that_their_commands_make(name: str, tmp_path: Path) -> None:
    made, names = WORLDS[name]
    found = explained(made, tmp_path / "run")
    answered = [each for each in found.what_ifs if each.why_not is None]
    assert [each.name for each in answered] == names
    for number, what_if in enumerate(answered):
        assert_equals_its_command(what_if, tmp_path / str(number))


def test_they_are_compared_with_the_rounds_of_the_run(tmp_path: Path) -> None:
    found = explained(tiny_scenario(rounds=4), tmp_path / "run")
    summary = open_run(tmp_path / "run").summary
    assert found.compared is not None
    assert (found.compared.rounds, found.compared.simulated_s) == (4, summary["simulated_s"])
    assert found.compared.bytes == summary["bytes"]["total"]
    for each in found.what_ifs:
        assert each.figures is not None
        assert each.ratio_to_run == each.figures.in_rounds_s / found.compared.in_rounds_s


def test_one_more_channel_on_one_full_channel_halves_the_time(tmp_path: Path) -> None:
    everybody = {"name": "fedavg", "sample_ratio": 1.0}
    found = explained(tiny_scenario(rounds=2, strategy=everybody), tmp_path / "run")
    assert found.what_ifs[0].changes == {"cells.0.profile.channels": 2, "rounds": 2}
    assert found.what_ifs[0].ratio_to_run == pytest.approx(0.5)


def test_a_run_that_stopped_early_is_compared_over_the_rounds_that_it_played(tmp_path: Path) -> None:
    whole = run(tiny_scenario(rounds=6), timing_only=True).summary["simulated_s"]
    found = explained(tiny_scenario(rounds=6, stop_after_s=whole / 2), tmp_path / "run")
    assert found.compared is not None
    assert found.rounds == found.compared.rounds < 6
    for each in found.what_ifs:
        assert each.figures is not None
        assert each.figures.rounds == found.rounds
        assert "stop_after_s=null" in str(each.command)


def test_of_a_large_run_the_first_rounds_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tiny_scenario(rounds=6), timing_only=True, out=tmp_path / "run")
    transfers = open_run(tmp_path / "run").transfers
    monkeypatch.setattr(replay, "MOST_TRANSFERS", int((transfers["round"] <= 2).sum()))
    found = explain(tmp_path / "run")
    assert found.compared is not None
    assert found.compared.rounds == 2
    assert found.compared.simulated_s == open_run(tmp_path / "run").rounds["end_s"].iloc[1]
    assert "--rounds 2" in str(found.what_ifs[0].command)


def test_chains_that_limit_a_run_are_shortened(tmp_path: Path) -> None:
    chain = {"name": "hfedms-s", "alpha": 1, "beta": 1, "growth": "log", "sample_ratio": 1.0}
    made = tiny_scenario(rounds=1, cells=[{"name": "hall", "profile": BROAD}], strategy=chain)
    found = explained(made, tmp_path / "run")
    assert found.what_ifs[2].changes == {"strategy.beta": 2, "rounds": 1}
    assert found.what_ifs[2].ratio_to_run == pytest.approx(0.5, rel=0.01)


def test_a_what_if_that_makes_no_sense_says_why() -> None:
    sent = {"name": "fedavg", "sample_ratio": 1.0, "compression": {"uplink": "int8", "downlink": "int8"}}
    made = tiny_scenario(rounds=1, cells=[{"name": "hall", "profile": BROAD}], strategy=sent)
    room, radio, smaller = explain(run(made, timing_only=True)).what_ifs
    assert (room.why_not, room.figures) == ("in hall every sensor has a channel of its own already", None)
    assert smaller.why_not == "fedavg sends int8 on all legs already"
    assert radio.command is None  # the run has no directory
    assert radio.figures is not None


def test_the_fastest_radio_is_no_cable_and_covers_all_sensors(tmp_path: Path) -> None:
    found = explained(load_scenario("assembly-hall", rounds=1), tmp_path / "run")
    radio = found.what_ifs[1]
    assert radio.profile is not None
    assert radio.scenario is not None
    summary = run(radio.scenario, timing_only=True).summary
    assert summary["coverage"]["covered"] == 150
    assert radio.profile != "ethernet"
    assert "leave sensors out" in radio.description


def test_a_cell_that_counts_its_sensors_shares_them_with_the_new_one(tmp_path: Path) -> None:
    cells: list[dict[str, Any]] = [
        {"name": "one", "profile": LORA_LIKE, "sensors": 30},
        {"name": "two", "profile": FAST, "sensors": 4},
    ]
    made = tiny_scenario(rounds=1, sensors={"count": 34}, cells=cells, strategy={"name": "fedavg", "sample_ratio": 1.0})
    found = explained(made, tmp_path / "run")
    new = found.what_ifs[0].changes["cells"]
    assert [(cell["name"], cell["sensors"]) for cell in new] == [("one", 15), ("one-2", 15), ("two", 4)]
    assert_equals_its_command(found.what_ifs[0], tmp_path / "again")  # with profiles of its own, written out


def test_the_answer_is_the_same_twice(tmp_path: Path) -> None:
    run(tiny_scenario(rounds=2), timing_only=True, out=tmp_path / "run")
    first, second = (json.dumps(explain(tmp_path / "run").as_dict()) for _ in range(2))
    assert first == second
