"""Names, paths, overrides, and the way back to YAML."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from hfedms_sim.commands.terminal import option_of
from hfedms_sim.errors import InputError
from hfedms_sim.loading import CHOICES, load_scenario, problems_in
from hfedms_sim.scenario import load_profile, scenario_schema, scenario_yaml, shipped
from hfedms_sim.scenario.yaml_io import parse_yaml
from hfedms_sim.strategies.fedavg import FedAvgSettings
from hfedms_sim.strategies.hfedms import HFedMSDynamicSettings
from tests.conftest import some_of

STRATEGIES = (
    "fedavg, fedprox, fedmmd, fedfusion, ida, fedadagrad, fedadam, fedyogi, fedcs, fedasync, fedbuff, hierfavg, "
    "static-groups, static-icg, "
    "hfedms-s, hfedms-d, hfedms-async or hfedms-plus"
)
PROFILE = "name: mine\nuplink_bps: 1000\ndownlink_bps: 2000\n"


def write(path: Path, **changes: Any) -> str:
    raw = {"name": "mine", "cells": [{"name": "hall", "profile": "ethernet"}]} | changes
    path.write_text(yaml.safe_dump(raw))
    return str(path)


def test_every_key_has_a_default_but_name_and_cells(tmp_path: Path) -> None:
    scenario = load_scenario(write(tmp_path / "s.yaml"))
    assert scenario.strategy == HFedMSDynamicSettings()
    assert scenario.sensors.count == 368


def test_a_profile_path_starts_at_the_scenarios_directory(tmp_path: Path) -> None:
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "p.yaml").write_text(PROFILE)
    scenario = load_scenario(write(tmp_path / "s.yaml", cells=[{"name": "hall", "profile": "profiles/p.yaml"}]))
    assert scenario.cells[0].profile.uplink_bps == 1000


def test_a_profile_path_on_the_command_line_starts_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.yaml").write_text(PROFILE)
    assert load_scenario("quickstart", profile="p.yaml").profile_names == "mine"
    assert load_scenario("quickstart", overrides=["cells.0.profile=p.yaml"]).profile_names == "mine"


def test_profile_replaces_the_radio_of_every_cell(tmp_path: Path) -> None:
    cells = [{"name": name, "profile": "ethernet"} for name in "ab"]
    scenario = load_scenario(write(tmp_path / "s.yaml", cells=cells), profile="lte-cat-m2")
    assert [cell.profile.name for cell in scenario.cells] == ["lte-cat-m2"] * 2


def test_strategy_keeps_the_settings_the_new_one_also_has() -> None:
    scenario = load_scenario("paper-stream", strategy="fedavg", overrides=["strategy.learning_rate=0.5"])
    assert scenario.strategy == FedAvgSettings(learning_rate=0.5)


@pytest.mark.parametrize(
    ("override", "read"),
    [
        ("strategy.interval=3", lambda s: s.strategy.interval == 3),
        ("strategy.scc=off", lambda s: s.strategy.scc == "off"),
        ("strategy.learning_rate=1e-3", lambda s: s.strategy.learning_rate == 0.001),
        ("cells.0.profile=ethernet", lambda s: s.cells[0].profile.name == "ethernet"),
        ("cells.0.profile.channels=3", lambda s: s.cells[0].profile.channels == 3),
        ("cells=[{name: a, profile: ethernet}, {name: b, profile: lte-cat-m2}]", lambda s: len(s.cells) == 2),
        ("data={ink: dark}", lambda s: s.data.ink == "dark"),
        ("strategy.name=fedavg", lambda s: s.strategy.name == "fedavg" and s.strategy.sample_ratio == 0.3),
        ("strategy={interval: 3}", lambda s: s.strategy == HFedMSDynamicSettings(interval=3)),
        ("stream={batch: 60}", lambda s: s.stream.buffer == 60),
        ("targets=[0.9]", lambda s: s.targets == (0.9,)),
        ("stop_at=null", lambda s: s.stop_at is None),
    ],
)
def test_any_key_can_be_overridden(override: str, read: Any) -> None:
    assert read(load_scenario("quickstart", overrides=[override]))


def test_cells_given_on_the_command_line_can_be_refined_and_put_on_another_radio() -> None:
    cells = "cells=[{name: a, profile: ethernet}, {name: b, profile: lte-cat-m2}]"
    refined = load_scenario("quickstart", overrides=["cells.0.profile.channels=2", cells])
    assert [cell.profile.channels for cell in refined.cells] == [2, 1]
    replaced = load_scenario("quickstart", profile="lte-cat-m2-paper", overrides=[cells, "cells.1.profile.channels=3"])
    assert [(cell.profile.name, cell.profile.channels) for cell in replaced.cells] == [
        ("lte-cat-m2-paper", 1),
        ("lte-cat-m2-paper", 3),
    ]


def test_the_last_override_wins_over_the_options() -> None:
    scenario = load_scenario("quickstart", rounds=3, overrides=["rounds=4", "rounds=5"])
    assert scenario.rounds == 5


@pytest.mark.parametrize("name", sorted(shipped("scenario")))
def test_a_scenario_survives_the_way_to_yaml_and_back(name: str, tmp_path: Path) -> None:
    scenario = load_scenario(name, overrides=["cells.0.profile.uplink_bps=123.0"])
    for each in (scenario, load_scenario(name)):
        (tmp_path / "s.yaml").write_text(scenario_yaml(each))
        assert load_scenario(str(tmp_path / "s.yaml")) == each


def test_a_written_scenario_holds_its_profiles_in_full() -> None:
    """So that a replay is the same run whatever is shipped tomorrow."""
    written = parse_yaml(scenario_yaml(load_scenario("quickstart")), "test")
    assert written["cells"][0]["profile"]["uplink_bps"] == 7e6


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("strategy.interval=0", "--set: strategy.interval = 0: must be at least 1"),
        ("strategy.interval=x", "strategy.interval = 'x': must be a whole number"),
        ("strategy.interval=true", "strategy.interval = true: must be a whole number"),
        ("strategy.growth=lgo", "strategy.growth = 'lgo': must be log, linear or exp. Did you mean 'log'?"),
        ("strategy.intervall=3", "strategy.intervall = 3: unknown key. Did you mean 'interval'?"),
        ("strategy.name=hfedms", f"strategy.name = 'hfedms': must be {STRATEGIES}. Did you mean 'hfedms-s'?"),
        ("strategy=5", "strategy = 5: must be a mapping of keys to values"),
        ("sensor.count=3", "sensor: unknown key. Did you mean 'sensors'?"),
        ("sensors.count=0", "sensors.count = 0: must be at least 1"),
        ("backbone.latency_s=.nan", "backbone.latency_s = nan: must be a finite number"),
        ("backbone.latency_s=.inf", "backbone.latency_s = inf: must be a finite number"),
        ("cells.0.profile.uplink_bps=-1", "cells.0.profile.uplink_bps = -1: must be at least 0.001"),
        ("cells.0.profile.uplink_bps=1e-300", "cells.0.profile.uplink_bps = 1e-300: must be at least 0.001"),
        ("cells.0.profile.channels=0", "cells.0.profile.channels = 0: must be at least 1 or must be dedicated"),
        ("cells.0.profile={name: x}", "cells.0.profile.uplink_bps: is missing"),
        ("cells=[]", "cells = []: needs at least 1"),
        ("cells=[{name: a}]", "cells.0.profile: is missing"),
        ("cells.1.name=x", "'1' must be a list index from 0 to 0"),
        ("cells.0.profile=lte-cat-m3", "unknown profile 'lte-cat-m3'. Did you mean 'lte-cat-m2'? Known: ec-gsm-iot"),
        ("stream={batch: 60, buffer: 50}", "stream: buffer (50) must hold a batch (60)"),
        ("faults=[{kind: x}]", "faults.0: kind = 'x': must be cell-outage, backbone-outage, server-outage, "),
        ("faults=[{at_s: 1.0}]", "faults.0: needs kind"),
        ("targets=[0.5, 2]", "targets.1 = 2: must be at most 1"),
        ("targets=3", "targets = 3: must be a list"),
        ("name=../x", "name = '../x': may hold letters"),
        ("cells=[{name: a, profile: ethernet}, {name: a, profile: ethernet}]", "cells: the name 'a' is used twice"),
        ("rounds", "--set rounds: must be KEY=VALUE"),
        ("strategy.name=[1]", f"strategy.name: must be {STRATEGIES}"),
        ("cells.\u00b2.profile=x", "must be a list index"),
        ("cells." + "9" * 5_000 + "=x", "must be a list index"),
        ("cells.0.profile.channels=1" + "0" * 200, "a number of more than 60 digits: must be at most 1000000000"),
        ("description=\udcff", "--set"),
        ("rounds.x=3", "there is no 'x' in a single value"),
        ("cells.0.profile.resource_units=12", None),
        ("cells.0.profile={name: x, uplink_bps: 1, downlink_bps: 1, sharing: fifo, resource_units: 3}", "units is for"),
    ],
)  # fmt: skip
def test_an_error_says_key_value_and_what_is_allowed(override: str, message: str | None) -> None:
    if message is None:
        load_scenario("quickstart", overrides=[override])
        return
    with pytest.raises(InputError) as caught:
        load_scenario("quickstart", overrides=[override])
    assert message in caught.value.said(option_of)
    assert "\n" not in str(caught.value)
    assert "--" not in str(caught.value)


def test_an_error_in_a_file_names_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "s.yaml", rounds=-1)
    with pytest.raises(InputError, match=f"^{path}: rounds = -1: must be at least 1$"):
        load_scenario(path)


def test_check_lists_every_problem_of_a_file(tmp_path: Path) -> None:
    path = write(tmp_path / "s.yaml", rounds=-1, modle="cnn", sensors={"count": "many"})
    assert [line.split(": ")[1].split(" = ")[0] for line in problems_in(path)] == ["rounds", "sensors.count", "modle"]


def test_check_knows_a_profile_from_a_scenario(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(PROFILE.replace("1000", "-1"))
    assert problems_in(str(path)) == [f"{path}: uplink_bps = -1: must be at least 0.001"]
    path.write_text(PROFILE)
    assert problems_in(str(path)) == []


def test_a_source_must_belong_to_a_figure(tmp_path: Path) -> None:
    path = tmp_path / "p.yaml"
    path.write_text(PROFILE + "sources: {uplnk_bps: x}\n")
    with pytest.raises(InputError, match="sources has 'uplnk_bps', which is no figure"):
        load_profile(str(path))


@pytest.mark.parametrize("name", some_of(sorted(shipped("scenario")), kept=("quickstart", "storm-day", "machine-park")))
def test_the_schema_accepts_what_is_shipped(name: str) -> None:
    jsonschema.validate(parse_yaml(shipped("scenario")[name].read_text(), name), scenario_schema(CHOICES))


@pytest.mark.parametrize(
    "change", [{"rounds": 0}, {"modle": "cnn"}, {"strategy": {"name": "x"}}, {"cells": [{"name": "a"}]}]
)
def test_the_schema_refuses_what_loading_refuses(change: dict[str, Any]) -> None:
    raw = parse_yaml(shipped("scenario")["quickstart"].read_text(), "quickstart") | change
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(raw, scenario_schema(CHOICES))
