"""Sections whose keys hang on what kind they are of: streams, placements, faults, availability."""

import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.loading import load_scenario, scenario_of
from hfedms_sim.scenario import shipped
from hfedms_sim.scenario.placement import InHall
from hfedms_sim.world.streams.streams import STREAMS

FIGURES = {
    "periodic": {"rate_hz": 2.0},
    "poisson": {"rate_hz": 2.0},
    "bursty": {"rate_hz": 2.0, "on_s": 3.0, "off_s": 4.0},
    "shifts": {"rate_hz": 2.0, "on_s": 3.0, "off_s": 4.0},
    "trace": {"path": "arrivals.csv"},
}
"""The keys that arrivals need."""
KEYS_OF_STREAMS = ("rate_hz", "on_s", "off_s", "path")
KEYS_OF_PLACEMENTS = ("width_m", "length_m", "pitch_m", "clusters", "spread_m", "path")


@pytest.mark.parametrize("arrival", STREAMS)
def test_a_stream_has_the_keys_of_its_arrivals_and_no_others(arrival: str) -> None:
    whole = {"arrival": arrival, **FIGURES.get(arrival, {})}
    stream = load_scenario("quickstart", overrides={"stream": whole}).stream
    assert {key for key in KEYS_OF_STREAMS if hasattr(stream, key)} == whole.keys() - {"arrival"}
    for missing in whole.keys() - {"arrival"}:
        less = {key: value for key, value in whole.items() if key != missing}
        with pytest.raises(InputError, match=f"^stream.{missing}: is missing"):
            load_scenario("quickstart", overrides={"stream": less})


@pytest.mark.parametrize("name", shipped("scenario"))
def test_a_scenario_of_an_older_run_has_the_keys_of_all_kinds_null_where_they_say_nothing(name: str) -> None:
    scenario = load_scenario(name)
    raw = scenario.model_dump(mode="json")
    raw["stream"] = dict.fromkeys(KEYS_OF_STREAMS) | raw["stream"]
    raw["sensors"]["placement"] = dict.fromkeys(KEYS_OF_PLACEMENTS) | raw["sensors"]["placement"]
    assert scenario_of(raw) == scenario


def test_other_arrivals_keep_the_keys_that_both_have() -> None:
    before = load_scenario("mixed-factory").stream
    poisson = load_scenario("mixed-factory", overrides=["stream.arrival=poisson"]).stream
    assert poisson.model_dump() == before.model_dump(exclude={"on_s", "off_s"}) | {"arrival": "poisson"}
    assert load_scenario("mixed-factory").replacing({"stream.arrival": "saturated"}).stream.batch == before.batch


def test_a_key_that_other_arrivals_need_is_missed_by_the_override_that_chose_them() -> None:
    with pytest.raises(InputError, match=r"^stream.rate_hz: is missing"):
        load_scenario("quickstart", overrides=["stream.arrival=poisson"])


@pytest.mark.parametrize(
    ("override", "line"),
    [
        ("sensors.placement={kind: none, pitch_m: 1}", "sensors.placement.pitch_m = 1: unknown key. Known: kind, "),
        ("faults=[{kind: battery, at_s: 3}]", "faults.0.at_s = 3: unknown key. Known: kind"),
        ("availability={kind: always, repeat_s: 5}", "availability.repeat_s = 5: unknown key. Known: kind"),
    ],
)
def test_a_key_of_another_kind_is_unknown_and_not_proposed(override: str, line: str) -> None:
    with pytest.raises(InputError) as refused:
        load_scenario("quickstart", overrides=[override])
    assert str(refused.value).startswith(line)
    assert "Did you mean" not in str(refused.value)


def test_a_kind_with_the_name_of_one_of_its_keys_is_no_key_of_an_error() -> None:
    hall = {"kind": "clusters", "width_m": 10.0, "length_m": 20.0, "clusters": 3, "spread_m": 20.0}
    placement = load_scenario("quickstart", overrides={"sensors.placement": hall}).sensors.placement
    assert isinstance(placement, InHall)
    with pytest.raises(InputError, match=r"^sensors\.placement: spread_m = 21: must be at most 20"):
        load_scenario("quickstart", overrides={"sensors.placement": hall | {"spread_m": 21.0}})
