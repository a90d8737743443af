"""Scenarios with other values: what a mapping of overrides means, and what `replacing` keeps."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.loading import load_scenario
from hfedms_sim.scenario import Scenario, load_profile, scenario_yaml
from hfedms_sim.strategies.fedprox import FedProxSettings


@pytest.fixture(scope="module")
def quickstart() -> Scenario:
    return load_scenario("quickstart")


SAME: list[tuple[dict[str, Any], list[str]]] = [
    ({"strategy.interval": 3, "rounds": 7}, ["strategy.interval=3", "rounds=7"]),
    ({"strategy": {"interval": 3}, "sensors": {"types": 3}}, ["strategy.interval=3", "sensors.types=3"]),
    ({"strategy.name": "fedavg"}, ["strategy.name=fedavg"]),
    ({"strategy": {"name": "fedprox", "mu": 0.5}}, ["strategy.name=fedprox", "strategy.mu=0.5"]),
    ({"cells.0.profile": "wifi-halow"}, ["cells.0.profile=wifi-halow"]),
    ({"cells": {0: {"profile": {"channels": 2}}}}, ["cells.0.profile.channels=2"]),
    ({"cells": [{"name": "a", "profile": "ethernet"}], "cells.0.name": "b"}, ["cells=[{name: b, profile: ethernet}]"]),
    ({"targets": (0.25, 0.5), "stop_at": None}, ["targets=[0.25, 0.5]", "stop_at=null"]),
    ({"rounds": np.int64(4), "strategy.learning_rate": np.float64(0.5)}, ["rounds=4", "strategy.learning_rate=0.5"]),
]  # fmt: skip


@pytest.mark.parametrize(("mapping", "texts"), SAME)
def test_a_mapping_means_what_texts_mean(quickstart: Scenario, mapping: dict[str, Any], texts: list[str]) -> None:
    expected = load_scenario("quickstart", overrides=texts)
    assert expected != quickstart
    assert load_scenario("quickstart", overrides=mapping) == expected
    assert quickstart.replacing(mapping) == expected


def test_keywords_are_keys_of_the_first_level(quickstart: Scenario) -> None:
    assert quickstart.replacing(rounds=3, seed=5, strategy={"interval": 2}) == load_scenario(
        "quickstart", rounds=3, seed=5, overrides=["strategy.interval=2"]
    )


def test_nothing_replaced_is_the_same_scenario_and_the_original_is_never_changed(quickstart: Scenario) -> None:
    before = scenario_yaml(quickstart)
    assert quickstart.replacing() == quickstart
    quickstart.replacing({"cells.0.profile.channels": 7, "targets": [0.9]})
    assert scenario_yaml(quickstart) == before


def test_another_strategy_keeps_the_settings_it_also_has_and_the_defaults_that_are_its_own() -> None:
    hfedms = load_scenario("quickstart", overrides={"strategy.epochs": 4})
    fedavg = hfedms.replacing({"strategy.name": "fedavg"})
    assert (fedavg.strategy.epochs, fedavg.strategy.weights) == (4, "samples")
    assert hfedms.strategy.weights == "uniform"
    assert fedavg == load_scenario("quickstart", strategy="fedavg", overrides=["strategy.epochs=4"])


def test_settings_that_are_objects_replace_the_whole(quickstart: Scenario) -> None:
    halow = load_profile("wifi-halow")
    assert quickstart.replacing({"cells.0.profile": halow}).cells[0].profile == halow
    assert load_scenario(quickstart, profile=halow) == load_scenario("quickstart", profile="wifi-halow")
    proximal = FedProxSettings(mu=0.25)
    assert quickstart.replacing(strategy=proximal).strategy == proximal


def test_a_scenario_that_was_pickled_can_be_given_another_strategy(quickstart: Scenario) -> None:
    again = pickle.loads(pickle.dumps(quickstart))
    assert again == quickstart
    assert again.replacing({"strategy.name": "fedavg"}).strategy.name == "fedavg"


def test_a_scenario_is_loaded_from_a_path_and_from_a_mapping(tmp_path: Path, quickstart: Scenario) -> None:
    (tmp_path / "mine.yaml").write_text(scenario_yaml(quickstart))
    assert load_scenario(tmp_path / "mine.yaml") == quickstart
    raw = {"name": "two", "cells": [{"name": "a", "profile": "ethernet"}, {"name": "b", "profile": "wifi-halow"}]}
    assert load_scenario(raw).profile_names == "ethernet,wifi-halow"
    assert raw["cells"][0] == {"name": "a", "profile": "ethernet"}  # type: ignore[comparison-overlap]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"strategy.intervall": 3}, "strategy.intervall = 3: unknown key. Did you mean 'interval'?"),
        ({"round": 3}, "round = 3: unknown key. Did you mean 'rounds'?"),
        ({"rounds": "3"}, "rounds = '3': must be a whole number"),
        ({"rounds": 3.0}, "rounds = 3.0: must be a whole number"),
        ({"rounds": object}, "must be a whole number"),
        ({"strategy.name": "fedavgg"}, "strategy.name = 'fedavgg': must be "),
        ({"cells.1.name": "x"}, "cells.1.name: '1' must be a list index from 0 to 0"),
        ({"rounds.x": 1}, "rounds.x: there is no 'x' in a single value"),
        ({"cells.0.profile": "lte-cat-m3"}, "cells: unknown profile 'lte-cat-m3'. Did you mean 'lte-cat-m2'?"),
        ({"stream.batch": 60, "stream.buffer": 50}, "stream: buffer (50) must hold a batch (60)"),
    ],
)
def test_what_cannot_be_is_one_line_with_the_key(quickstart: Scenario, changes: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError) as caught:
        quickstart.replacing(changes)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "--" not in str(caught.value)
