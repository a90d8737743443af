"""Numbers that no figure of a factory is: bounds refuse them, and what gets through computes to finite figures."""

import json
from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from hfedms_sim.errors import RunError
from hfedms_sim.loading import load_scenario, scenario_of
from hfedms_sim.simulation import run
from hfedms_sim.simulation.finite_figures import overflow, require_finite
from tests.conftest import some_of
from tests.hardening.attacked import refused

EXTREMES = (1e308, -1e308, 5e-324, 1e12, 1e-9)


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--seeds", "²", "must be whole numbers"),
        ("--seeds", "١", "must be whole numbers"),  # noqa: RUF001 (that it looks like another digit is the point)
        ("--seeds", "1" * 5_000, "must be whole numbers"),
        ("--seeds", "1:1e9999999", "no figures of a scenario"),
        ("--seed", "1" * 5_000, "is not a valid integer"),
        ("--seed", "²", "is not a valid integer"),
        ("--set", f"seed={'1' * 5_000}", "more than 300 digits"),
        ("--set", f"seed={'1' * 299}", "must be"),
        ("--set", "rounds=1e9999999", "must be"),
        ("--rounds", "9" * 30, "must be at most"),
        ("--grid", "rounds=1e9999999:2", "no figures of a scenario"),
        ("--grid", "rounds=1:1e9999999", "no figures of a scenario"),
        ("--grid", "rounds=1e-9999999:2:1e-9999999", "no figures of a scenario"),
        ("--grid", "rounds=1e999999:1e999999", "no figures of a scenario"),
        ("--grid", "rounds=1:1e300", "more than 10,000 values"),
        ("--grid", f"rounds={'9' * 5_000}:1", "no figures of a scenario"),
        ("--grid", "rounds=1:2:0", "has no values"),
    ],
    ids=lambda text: ascii(text[:30]),
)
def test_a_number_that_is_none_is_one_line(option: str, value: str, said: str) -> None:
    command = ("run", "quickstart") if option in ("--seed", "--set", "--rounds") else ("sweep", "quickstart")
    grid = ("--grid", "rounds=1") if option == "--seeds" else ()
    assert said in refused(*command, "--timing-only", *grid, option, value)


def figures(value: Any, key: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where a scenario has a fraction, or nothing where one may be."""
    if isinstance(value, dict):
        for name, own in value.items():
            yield from figures(own, (*key, name))
    elif isinstance(value, list):
        for place, own in enumerate(value[:1]):
            yield from figures(own, (*key, place))
    elif value is None or isinstance(value, float):
        yield key


def with_figure(raw: dict[str, Any], key: tuple[Any, ...], value: float) -> dict[str, Any]:
    changed = json.loads(json.dumps(raw))
    place = changed
    for each in key[:-1]:
        place = place[each]
    place[key[-1]] = value
    return changed


def small(profile: str, **overrides: Any) -> dict[str, Any]:
    """Return a factory of four sensors and one round on a shipped radio."""
    settings = {"sensors.count": 4, "sensors.types": 2, "model": "tiny-mlp"}
    scenario = load_scenario("quickstart", profile=profile, rounds=1, overrides=settings | overrides)
    return scenario.model_dump(mode="json")


@pytest.mark.parametrize("extreme", EXTREMES)
@pytest.mark.parametrize(
    "profile",
    some_of(("lte-cat-m2", "nb-iot-nb1", "lorawan-eu868-sf11", "wifi-halow"), kept=("lorawan-eu868-sf11",)),
)
def test_every_figure_at_an_extreme_is_refused_or_leads_to_finite_ones(profile: str, extreme: float) -> None:
    raw = small(profile)
    keys = list(figures(raw))
    assert len(keys) > 40
    for key in keys:
        try:
            scenario = scenario_of(with_figure(raw, key, extreme))
        except ValidationError:
            continue
        try:
            summary = run(scenario, timing_only=True, allow_infeasible=True).summary
        except RunError:
            continue
        assert all(isfinite(value) for value in numbers(summary)), key


def numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        for own in value.values():
            yield from numbers(own)
    elif isinstance(value, list | tuple):
        for own in value:
            yield from numbers(own)
    elif isinstance(value, int | float):
        yield value


def test_a_figure_that_overflows_all_the_same_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = scenario_of(small("lte-cat-m2"))

    def overflows(*_: object) -> None:
        raise OverflowError("cannot convert float infinity to integer")

    with monkeypatch.context() as patch:
        patch.setattr("hfedms_sim.simulation.session.Session.play", overflows)
        with pytest.raises(RunError, match="a figure has no finite value"):
            run(scenario, timing_only=True, out="out")
    with monkeypatch.context() as patch:
        patch.setattr("hfedms_sim.simulation.session.Session.summary", lambda *_: {"energy_j": float("inf")})
        with pytest.raises(RunError, match="energy_j has no finite value"):
            run(scenario, timing_only=True, out="other")
    assert not Path("other/summary.json").exists()


def test_what_is_finite_and_what_is_no_overflow_is_left_alone() -> None:
    require_finite({"a": 1.0, "b": None, "c": {"d": [1, "inf", True]}})
    for value in (float("nan"), {"b": [float("inf")]}, ({"c": -float("inf")},)):
        with pytest.raises(RunError, match="a has no finite value"):
            require_finite({"a": value})
    assert overflow(ValueError("x")) is None
    assert overflow(None) is None
