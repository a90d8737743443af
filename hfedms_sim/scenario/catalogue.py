"""From a name or a path to settings: shipped files, profiles by name, validation, and the way back to YAML."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from hfedms_sim.errors import InputError
from hfedms_sim.scenario.base import Settings
from hfedms_sim.scenario.overrides import Override, replace_strategy
from hfedms_sim.scenario.problems import problems_of, unknown
from hfedms_sim.scenario.profile import NetworkProfile
from hfedms_sim.scenario.scenario import DEFAULT_STRATEGY, Scenario, StrategySettings
from hfedms_sim.scenario.strategy import LocalTraining
from hfedms_sim.scenario.yaml_io import dump_yaml, read_yaml

Kind = Literal["scenario", "profile"]
SomeSettings = TypeVar("SomeSettings", bound=Settings)
_DIRECTORIES: dict[Kind, str] = {"scenario": "scenarios", "profile": "network_profiles"}


def shipped(kind: Kind) -> dict[str, Path]:
    """Name -> file of everything that comes with the package."""
    package = Path(__file__).resolve().parent.parent
    installed = package / _DIRECTORIES[kind]
    directory = installed if installed.is_dir() else package.parent / _DIRECTORIES[kind]
    return {path.stem: path for path in sorted(directory.glob("*.yaml"))}


def is_path(source: str) -> bool:
    """What has a separator or ends in .yaml or .yml; anything else is a shipped name."""
    return "/" in source or "\\" in source or source.endswith((".yaml", ".yml"))


def locate(kind: Kind, source: str, relative_to: Path | None = None) -> Path:
    if is_path(source):
        return (relative_to or Path()) / source
    files = shipped(kind)
    if source not in files:
        raise InputError(f"{unknown(kind, source, files)}; or a path to a .yaml file")
    return files[source]


def load_profile(source: str, relative_to: Path | None = None) -> NetworkProfile:
    path = locate("profile", source, relative_to)
    return _validated(NetworkProfile, read_yaml(path), str(path))


def load_scenario(
    source: str,
    strategies: StrategySettings,
    *,
    profile: str | None = None,
    strategy: str | None = None,
    rounds: int | None = None,
    seed: int | None = None,
    overrides: Iterable[str] = (),
) -> Scenario:
    """Return the scenario that a name or path stands for, with the command line's changes.

    `strategies` are those that it may name.
    `overrides` are KEY=VALUE, the last wins; those of `cells` as a whole come before `profile`, all others after it.
    Paths to profiles start at the scenario's directory in a file, at the current directory on the command line.
    """
    path = locate("scenario", source)
    raw = read_yaml(path)
    if not isinstance(raw, dict):
        raise InputError(f"{path}: must be a mapping of keys to values")
    if strategy is not None:
        replace_strategy(raw, strategy, strategies)
    options = {key: value for key, value in (("rounds", rounds), ("seed", seed)) if value is not None}
    raw |= options
    changes = [Override.parse(override) for override in overrides]
    whole_cells = [change for change in changes if change.path == ("cells",)]
    for change in whole_cells:
        change.apply(raw, strategies)
    if profile is not None:
        _replace_profiles(raw, load_profile(profile))
    elif whole_cells:
        _resolve_profiles(raw, Path(), "--set")
    else:
        _resolve_profiles(raw, path.parent, str(path))
    _resolve_data_paths(raw, path.parent)
    for change in changes:
        if change.path != ("cells",):
            change.apply(raw, strategies)
            _resolve_profiles(raw, Path(), "--set")
            _resolve_data_paths(raw, Path())
    origins = {(key,): f"--{key}" for key in options} | {change.path: "--set" for change in changes}
    return _validated(Scenario, raw, str(path), origins, strategies)


def problems_in(source: str, strategies: StrategySettings) -> list[str]:
    """Every problem of a scenario or profile file, a line each; empty if it is sound."""
    try:
        if is_profile(source):
            path = locate("profile", source)
            return _problems(NetworkProfile, read_yaml(path), str(path))
        path = locate("scenario", source)
        raw = read_yaml(path)
        if isinstance(raw, dict):
            _resolve_profiles(raw, path.parent, str(path))
        return _problems(Scenario, raw, str(path), strategies)
    except InputError as error:
        return [str(error)]


def is_profile(source: str) -> bool:
    """Return whether a name or path is meant as a profile, not as a scenario."""
    return source in shipped("profile") or (is_path(source) and holds_profile(source))


def holds_profile(path: str) -> bool:
    """Whether a YAML file is meant as a profile: it has a rate and no cells."""
    raw = read_yaml(Path(path))
    return isinstance(raw, dict) and "cells" not in raw and ("uplink_bps" in raw or "downlink_bps" in raw)


def scenario_yaml(scenario: Scenario) -> str:
    """Fully resolved, profiles written out: the text stands for the same run whatever is shipped tomorrow."""
    return dump_yaml(scenario.model_dump(mode="json"))


def _validated(
    model: type[SomeSettings],
    raw: Any,
    label: str,
    origins: Mapping[tuple[str, ...], str] = MappingProxyType({}),
    strategies: StrategySettings | None = None,
) -> SomeSettings:
    """`origins`: which values came from an option of the command line, rather than from the file that `label` names."""
    try:
        return model.model_validate(raw, context=strategies)
    except ValidationError as error:
        first, *others = problems_of(error, model, raw, _strategy_in(raw, strategies))
        origin = next((option for path, option in origins.items() if _overlap(first.path, path)), None)
        hint = "" if origin else "; 'hfedms-sim check' lists them"
        more = f" (and {len(others)} more{hint})" if others else ""
        raise InputError(f"{origin or label}: {first.line}{more}") from None


def _strategy_in(raw: Any, strategies: StrategySettings | None) -> type[LocalTraining] | None:
    """Return the settings of the strategy that a scenario names, if it is known."""
    named = raw.get("strategy") if isinstance(raw, dict) else None
    name = named.get("name", DEFAULT_STRATEGY) if isinstance(named, dict) else None
    return strategies.get(name) if strategies and isinstance(name, str) else None


def _overlap(one: Sequence[str | int], other: Sequence[str]) -> bool:
    """Whether one key is, or contains, the other."""
    pairs = zip(map(str, one), other, strict=False)
    return bool(one) and all(mine == theirs for mine, theirs in pairs)


def _problems(model: type[Settings], raw: Any, label: str, strategies: StrategySettings | None = None) -> list[str]:
    try:
        model.model_validate(raw, context=strategies)
    except ValidationError as error:
        return [f"{label}: {problem.line}" for problem in problems_of(error, model, raw, _strategy_in(raw, strategies))]
    return []


def _cells(raw: dict[str, Any]) -> list[dict[str, Any]]:
    """Those that have the form of a cell; validation complains of the others."""
    cells = raw.get("cells")
    return [cell for cell in cells if isinstance(cell, dict)] if isinstance(cells, list) else []


def _replace_profiles(raw: dict[str, Any], profile: NetworkProfile) -> None:
    for cell in _cells(raw):
        cell["profile"] = profile.model_dump(mode="json")


def _resolve_profiles(raw: dict[str, Any], directory: Path, label: str) -> None:
    """Puts a profile's settings where the scenario names it."""
    known: dict[str, NetworkProfile] = {}
    for cell in _cells(raw):
        named = cell.get("profile")
        if isinstance(named, str):
            try:
                if named not in known:
                    known[named] = load_profile(named, directory)
            except InputError as error:
                raise InputError(f"{label}: cells: {error}") from None
            cell["profile"] = known[named].model_dump(mode="json")


def _resolve_data_paths(raw: dict[str, Any], directory: Path) -> None:
    """Absolute, so that a run's own scenario.yaml finds the files from wherever it is."""
    sensors = raw.get("sensors")
    placement = sensors.get("placement") if isinstance(sensors, dict) else None
    for section in (raw.get("data"), raw.get("stream"), placement):
        if isinstance(section, dict) and isinstance(section.get("path"), str) and section["path"]:
            section["path"] = str((directory / section["path"]).absolute())
