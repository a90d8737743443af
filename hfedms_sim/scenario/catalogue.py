"""From a name or a path to settings: shipped files, overrides from the command line, validation, and back to YAML."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from hfedms_sim.errors import InputError
from hfedms_sim.scenario.base import Settings
from hfedms_sim.scenario.problems import problem_lines, unknown
from hfedms_sim.scenario.profile import NetworkProfile
from hfedms_sim.scenario.scenario import Scenario
from hfedms_sim.scenario.strategy import STRATEGY_SETTINGS
from hfedms_sim.scenario.yaml_io import dump_yaml, parse_yaml, read_yaml

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
    *,
    profile: str | None = None,
    strategy: str | None = None,
    rounds: int | None = None,
    seed: int | None = None,
    overrides: Iterable[str] = (),
) -> Scenario:
    """The scenario a name or path stands for, with the command line's changes; `overrides` are KEY=VALUE, last wins."""
    path = locate("scenario", source)
    raw = read_yaml(path)
    if not isinstance(raw, dict):
        raise InputError(f"{path}: must be a mapping of keys to values")
    if strategy is not None:
        raw["strategy"] = _with_strategy(raw.get("strategy"), strategy)
    raw |= {key: value for key, value in (("rounds", rounds), ("seed", seed)) if value is not None}
    for override in overrides:
        _override(raw, override)
    _resolve_profiles(raw, profile, path)
    return _validated(Scenario, raw, str(path))


def problems_in(source: str) -> list[str]:
    """Every problem of a scenario or profile file, a line each; empty if it is sound."""
    try:
        if source in shipped("profile") or (is_path(source) and holds_profile(source)):
            path = locate("profile", source)
            return _problems(NetworkProfile, read_yaml(path), str(path))
        path = locate("scenario", source)
        raw = read_yaml(path)
        if isinstance(raw, dict):
            _resolve_profiles(raw, None, path)
        return _problems(Scenario, raw, str(path))
    except InputError as error:
        return [str(error)]


def holds_profile(path: str) -> bool:
    """Whether a YAML file is meant as a profile: it has a rate and no cells."""
    raw = read_yaml(Path(path))
    return isinstance(raw, dict) and "cells" not in raw and ("uplink_bps" in raw or "downlink_bps" in raw)


def scenario_yaml(scenario: Scenario) -> str:
    """The fully resolved scenario. A profile that is not the shipped one of its name is written out in full."""
    resolved = scenario.model_dump(mode="json")
    for cell, written in zip(scenario.cells, resolved["cells"], strict=True):
        if _is_shipped(cell.profile):
            written["profile"] = cell.profile.name
    return dump_yaml(resolved)


def _is_shipped(profile: NetworkProfile) -> bool:
    return profile.name in shipped("profile") and load_profile(profile.name) == profile


def _validated(model: type[SomeSettings], raw: Any, label: str) -> SomeSettings:
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        (_, first), *others = problem_lines(error, model, raw)
        more = f" (and {len(others)} more; 'hfedms-sim check' lists them)" if others else ""
        raise InputError(f"{label}: {first}{more}") from None


def _problems(model: type[Settings], raw: Any, label: str) -> list[str]:
    try:
        model.model_validate(raw)
    except ValidationError as error:
        return [f"{label}: {sentence}" for _, sentence in problem_lines(error, model, raw)]
    return []


def _with_strategy(current: Any, name: str) -> dict[str, Any]:
    """Another algorithm, with those of the current settings that it also has."""
    if name not in STRATEGY_SETTINGS:
        raise InputError(f"--strategy: {unknown('strategy', name, STRATEGY_SETTINGS)}")
    kept = current if isinstance(current, dict) else {}
    fields = STRATEGY_SETTINGS[name].model_fields
    return {key: value for key, value in kept.items() if key in fields} | {"name": name}


def _resolve_profiles(raw: dict[str, Any], replacement: str | None, scenario_path: Path) -> None:
    """Puts the profile's settings where the scenario names it. Relative paths start at the scenario's directory."""
    replaced = None if replacement is None else load_profile(replacement)
    known: dict[str, NetworkProfile] = {}
    cells = raw.get("cells")
    for cell in cells if isinstance(cells, list) else []:
        if not isinstance(cell, dict):
            continue
        named = cell.get("profile")
        if replaced is not None:
            cell["profile"] = replaced
        elif isinstance(named, str):
            if named not in known:
                try:
                    known[named] = load_profile(named, scenario_path.parent)
                except InputError as error:
                    raise InputError(f"{scenario_path}: cells: {error}") from None
            cell["profile"] = known[named]


def _override(raw: dict[str, Any], override: str) -> None:
    """Applies 'strategy.interval=3' or 'cells.0.profile=ethernet' to the raw scenario."""
    key, equals, text = override.partition("=")
    if not equals or not key:
        raise InputError(f"--set {override[:60]}: must be KEY=VALUE, such as strategy.interval=3")
    value = parse_yaml(text, f"--set {override[:60]}")
    *parents, last = key.split(".")
    container: Any = raw
    for part in parents:
        is_mapping = isinstance(container, dict)
        container = container.setdefault(part, {}) if is_mapping else container[_index(container, part, override)]
    if isinstance(container, dict):
        container[last] = value
    else:
        container[_index(container, last, override)] = value


def _index(container: Any, part: str, override: str) -> int:
    if not isinstance(container, list):
        raise InputError(f"--set {override[:60]}: there is no '{part}' in a single value")
    if not part.isdigit() or int(part) >= len(container):
        raise InputError(f"--set {override[:60]}: '{part}' must be a list index from 0 to {len(container) - 1}")
    return int(part)
