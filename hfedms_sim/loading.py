"""Scenarios and runs as users name them, with every strategy that is known here."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hfedms_sim.errors import InputError
from hfedms_sim.result import RunResult, read_json
from hfedms_sim.result import open_run as open_known_run
from hfedms_sim.scenario import Scenario
from hfedms_sim.scenario import load_scenario as load_known_scenario
from hfedms_sim.scenario import problems_in as known_problems_in
from hfedms_sim.scenario.yaml_io import read_yaml
from hfedms_sim.strategies import SETTINGS


def load_scenario(
    source: str,
    *,
    profile: str | None = None,
    strategy: str | None = None,
    rounds: int | None = None,
    seed: int | None = None,
    overrides: Iterable[str] = (),
) -> Scenario:
    """Return the scenario that a name or path stands for, with these changes.

    `overrides` are KEY=VALUE, the last wins; those of `cells` as a whole come before `profile`, all others after it.
    Paths to profiles start at the scenario's directory in a file, at the current directory in an argument.
    """
    return load_known_scenario(
        source, SETTINGS, profile=profile, strategy=strategy, rounds=rounds, seed=seed, overrides=overrides
    )


def scenario_of(raw: Mapping[str, Any]) -> Scenario:
    """Return the scenario of a mapping as a file would have it, profiles written out."""
    return Scenario.model_validate(raw, context=SETTINGS)


def problems_in(source: str) -> list[str]:
    """Return every problem of a scenario or profile file, a line each; empty if it is sound."""
    return known_problems_in(source, SETTINGS)


def open_run(directory: Path | str) -> RunResult:
    """Return a finished run as it was left in its directory."""
    directory = Path(directory)
    try:
        return open_known_run(directory, SETTINGS)
    except InputError:
        _require_outside_parts(directory)
        raise


def _require_outside_parts(directory: Path) -> None:
    """Say which code of somebody else's a run needs, if that is what is missing."""
    try:
        outside = read_json(directory / "provenance.json").get("outside", {})
        name = read_yaml(directory / "scenario.yaml")["strategy"]["name"]
    except (InputError, KeyError, TypeError):
        return
    if outside.get("strategy") and name not in SETTINGS:
        module = str(outside["strategy"]).partition(":")[0]
        hint = f"install its package, or hfedms-sim --import {module}"
        raise InputError(f"{directory}: needs the strategy '{name}', which is {outside['strategy']}: {hint}")
