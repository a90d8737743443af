"""From a name or a path to settings: shipped files, profiles by name, validation, and the way back to YAML."""

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import ValidationError

from hfedms_sim.errors import Argument, InputError
from hfedms_sim.scenario.base import Settings
from hfedms_sim.scenario.choices import Choices
from hfedms_sim.scenario.overrides import OVERRIDES, Overrides, overrides_of, plain, replace_strategy
from hfedms_sim.scenario.problems import problems_of, unknown
from hfedms_sim.scenario.profile import NetworkProfile
from hfedms_sim.scenario.scenario import Scenario
from hfedms_sim.scenario.yaml_io import dump_yaml, read_yaml
from hfedms_sim.system.files import shipped_files

Kind = Literal["scenario", "profile"]
Source = str | PathLike[str] | Mapping[str, Any] | Scenario
"""A scenario's shipped name, the path of its file, what would stand in one, or a scenario that is to be changed."""
SomeSettings = TypeVar("SomeSettings", bound=Settings)
_CHECK_HINT = "; 'hfedms-sim check' lists them"
_DIRECTORIES: dict[Kind, str] = {"scenario": "scenarios", "profile": "network_profiles"}


def shipped(kind: Kind) -> dict[str, Path]:
    """Name -> file of everything that comes with the package."""
    return shipped_files(_DIRECTORIES[kind])


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


def load_profile(source: str | PathLike[str], relative_to: Path | None = None) -> NetworkProfile:
    """Return the network profile that a name or path stands for.

    Arguments:
        source: a shipped profile's name, or the path of a YAML file.
        relative_to: the directory that a path starts at; None: the current one.

    Returns:
        The validated `NetworkProfile`.

    Raises:
        InputError: the name is unknown, or the file cannot be read or used; one line says why.

    Example:

        load_profile("wifi-halow").uplink_bps
    """
    path = locate("profile", fspath(source), relative_to)
    return _validated(NetworkProfile, read_yaml(path), str(path))


class _Written(NamedTuple):
    """A scenario before it is validated, the directory that its paths start at, and what errors call it."""

    raw: dict[str, Any]
    directory: Path
    label: str
    check_hint: str = ""


class Changes(NamedTuple):
    """What a caller changes in a scenario.

    Of `overrides` the last wins; those of `cells` as a whole come before `profile`, all others after it.
    """

    profile: str | PathLike[str] | NetworkProfile | None = None
    strategy: str | None = None
    rounds: int | None = None
    seed: int | None = None
    overrides: Overrides = ()


NO_CHANGES = Changes()


def load_scenario(source: Source, choices: Choices, changed: Changes = NO_CHANGES) -> Scenario:
    """Return the scenario that a source stands for, changed; `choices` are the parts that it may name.

    Paths to profiles start at the scenario's directory in a file, at the current directory in a change.
    """
    profile, strategy, rounds, seed, overrides = changed
    raw, directory, label, hint = _written(source)
    if strategy is not None:
        replace_strategy(raw, strategy, choices)
    options = {key: plain(value) for key, value in (("rounds", rounds), ("seed", seed)) if value is not None}
    raw |= options
    changes = overrides_of(overrides)
    whole_cells = [change for change in changes if change.path == ("cells",)]
    for change in whole_cells:
        change.apply(raw, choices)
    if profile is not None:
        _replace_profiles(raw, profile if isinstance(profile, NetworkProfile) else load_profile(profile))
    elif whole_cells:
        _resolve_profiles(raw, Path(), None)
    else:
        _resolve_profiles(raw, directory, label)
    _resolve_data_paths(raw, directory)
    for change in changes:
        if change.path != ("cells",):
            change.apply(raw, choices)
            _resolve_profiles(raw, Path(), None)
            _resolve_data_paths(raw, Path())
    origins = {(key,): Argument(key) for key in options} | {change.decides(choices): OVERRIDES for change in changes}
    return _validated(Scenario, raw, label, hint, origins, choices)


def _written(source: Source) -> _Written:
    """Return what a source says; of a scenario only what somebody has set, so that defaults stay defaults."""
    if isinstance(source, Scenario):
        return _Written(source.model_dump(mode="json", exclude_unset=True), Path(), source.name)
    if isinstance(source, Mapping):
        return _Written(plain(source), Path(), "scenario")
    path = locate("scenario", fspath(source))
    raw = read_yaml(path)
    if not isinstance(raw, dict):
        raise InputError(f"{path}: must be a mapping of keys to values")
    return _Written(raw, path.parent, str(path), _CHECK_HINT)


def problems_in(source: str, choices: Choices) -> list[str]:
    """Every problem of a scenario or profile file, a line each; empty if it is sound."""
    try:
        if is_profile(source):
            path = locate("profile", source)
            return _problems(NetworkProfile, read_yaml(path), str(path))
        path = locate("scenario", source)
        raw = read_yaml(path)
        if isinstance(raw, dict):
            _resolve_profiles(raw, path.parent, str(path))
        return _problems(Scenario, raw, str(path), choices)
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
    check_hint: str = _CHECK_HINT,
    origins: Mapping[tuple[str, ...], Argument] = MappingProxyType({}),
    choices: Choices | None = None,
) -> SomeSettings:
    """Return the settings of a raw mapping. `origins` tells which values came by an argument, not from `label`."""
    try:
        return model.model_validate(raw, context=choices)
    except ValidationError as error:
        first, *others = problems_of(error, model, raw, _settings_in(raw, choices))
        origin = next((argument for path, argument in origins.items() if _overlap(first.path, path)), None)
        if origin is not None:
            raise InputError(first.line, f" (and {len(others)} more)" if others else "", given_by=origin) from None
        raise InputError(f"{label}: {first.line}", f" (and {len(others)} more{check_hint})" if others else "") from None


def _settings_in(raw: Any, choices: Choices | None) -> dict[str, type[Settings]]:
    """Return the settings of the parts that a scenario names, as far as they are known, by the part's key."""
    if choices is None or not isinstance(raw, dict):
        return {}
    found = {part: named.settings_of(raw.get(part)) for part, named in choices.parts.items()}
    return {part: settings for part, settings in found.items() if settings is not None}


def _overlap(one: Sequence[str | int], other: Sequence[str]) -> bool:
    """Whether one key is, or contains, the other."""
    pairs = zip(map(str, one), other, strict=False)
    return bool(one) and all(mine == theirs for mine, theirs in pairs)


def _problems(model: type[Settings], raw: Any, label: str, choices: Choices | None = None) -> list[str]:
    try:
        model.model_validate(raw, context=choices)
    except ValidationError as error:
        return [f"{label}: {problem.line}" for problem in problems_of(error, model, raw, _settings_in(raw, choices))]
    return []


def _cells(raw: dict[str, Any]) -> list[dict[str, Any]]:
    """Those that have the form of a cell; validation complains of the others."""
    cells = raw.get("cells")
    return [cell for cell in cells if isinstance(cell, dict)] if isinstance(cells, list) else []


def _replace_profiles(raw: dict[str, Any], profile: NetworkProfile) -> None:
    for cell in _cells(raw):
        cell["profile"] = profile.model_dump(mode="json")


def _resolve_profiles(raw: dict[str, Any], directory: Path, label: str | None) -> None:
    """Put a profile's settings where the scenario names it. `label` is what has named it; None: an override."""
    known: dict[str, NetworkProfile] = {}
    for cell in _cells(raw):
        named = cell.get("profile")
        if isinstance(named, str):
            try:
                if named not in known:
                    known[named] = load_profile(named, directory)
            except InputError as error:
                if label is None:
                    raise InputError(f"cells: {error}", given_by=OVERRIDES) from None
                raise InputError(f"{label}: cells: {error}") from None
            cell["profile"] = known[named].model_dump(mode="json")


def _resolve_data_paths(raw: dict[str, Any], directory: Path) -> None:
    """Absolute, so that a run's own scenario.yaml finds the files from wherever it is."""
    sensors = raw.get("sensors")
    placement = sensors.get("placement") if isinstance(sensors, dict) else None
    for section in (*map(raw.get, ("data", "stream", "compute", "availability")), placement):
        if isinstance(section, dict) and isinstance(section.get("path"), str) and section["path"]:
            section["path"] = str((directory / section["path"]).absolute())
