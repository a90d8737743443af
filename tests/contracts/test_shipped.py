"""What every shipped profile, scenario and strategy must do."""

import pytest
from pydantic import BaseModel

from hfedms_sim.loading import load_scenario, problems_in
from hfedms_sim.scenario import load_profile, shipped
from hfedms_sim.simulation import run
from hfedms_sim.strategies import SHIPPED, STRATEGIES
from tests.conftest import some_of

PROFILES = sorted(shipped("profile"))
SCENARIOS = sorted(shipped("scenario"))


def is_given(settings: BaseModel, key: str, *inner: str) -> bool:
    """Return whether a file says it, not only the section it is in."""
    return key in settings.model_fields_set and (not inner or is_given(getattr(settings, key), *inner))


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_is_called_as_its_file_and_sources_every_figure_it_gives(name: str) -> None:
    profile = load_profile(name)
    given = {figure for figure in profile.figures if is_given(profile, *figure.split("."))}
    assert profile.name == name
    assert profile.description
    assert given <= set(profile.sources)
    assert all(source.strip() for source in profile.sources.values())
    absent = {section for section in ("energy", "budget") if getattr(profile, section) is None}
    assert absent <= set(profile.sources), "why there is none"


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_is_called_as_its_file_described_and_sound(name: str) -> None:
    assert load_scenario(name).name == name
    assert load_scenario(name).description
    assert problems_in(name) == []


@pytest.mark.parametrize("name", SCENARIOS)
@pytest.mark.parametrize("strategy", some_of(sorted(SHIPPED), kept=("hfedms-d",)))
def test_every_strategy_plays_three_rounds_of_every_scenario_the_same_way_twice(name: str, strategy: str) -> None:
    needs_images = strategy == "fedfusion"  # it fuses the features of convolutions over images
    overrides = ["model=small-cnn", "data={set: glyphs}"] if needs_images else []
    scenario = load_scenario(name, strategy=strategy, rounds=3, overrides=overrides)
    first, second = (run(scenario, timing_only=True) for _ in range(2))
    assert first.summary["closed_form"]["bytes"] in (None, first.summary["bytes"]["total"])
    assert first.summary["bytes"]["total"] > 0
    assert first.summary["simulated_s"] > 0
    for table in ("rounds", "transfers", "work", "captures", "faults"):
        assert first.arrow(table).equals(second.arrow(table))


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_carries_the_quickstart_however_long_it_takes(profile: str) -> None:
    result = run(load_scenario("quickstart", profile=profile, rounds=3), timing_only=True, allow_infeasible=True)
    assert 0 < result.utilisation.max() <= 1 + 1e-9


def test_every_strategy_has_settings_and_every_setting_a_strategy() -> None:
    assert set(STRATEGIES) >= set(SHIPPED)
