"""What tells runs apart, in words for a legend or a table: strategy, profile, scenario, seed, and any other setting.

Runs that differ in nothing but the seed are one set, with one label.

A setting is named if runs that have it differ in it, and if that is not already said: what belongs to a network
profile is said by the profile's name, and everything by the scenario's name, as long as runs of the same name agree;
a strategy's own defaults are said by the strategy's name.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from hfedms_sim.result import RunResult
from hfedms_sim.scenario import LocalTraining

MOST_SETTINGS = 4  # of a label; the others are counted
MOST_SCENARIOS = 3  # of a title
_LONGEST_TEXT = 24
_MOST_ITEMS = 3
_SAID_OTHERWISE = ("name", "description", "seed", "strategy.name")

Settings = dict[str, Any]
"""By dotted key."""


class RunSet(NamedTuple):
    """The runs that a view shows as one: those of a line, a bar or a dot."""

    label: str
    results: tuple[RunResult, ...]


def run_sets(results: Sequence[RunResult], *, each: bool = False) -> list[RunSet]:
    """Return what is shown, with labels, in the order of the runs: a set for each run, or over seeds."""
    sets: dict[str, list[int]] = {}
    for index, result in enumerate(results):
        sets.setdefault(f"{index}" if each else without_seed(result), []).append(index)
    facts, settings = distinguishing_keys(results), telling_settings(results)
    labelled = []
    for indices in sets.values():
        runs = tuple(results[index] for index in indices)
        names = [str(runs[0].summary[fact]) for fact in facts if fact != "seed"]
        seeds = _seeds(runs) if "seed" in facts else ""
        words = (*names, settings[indices[0]], _training(runs[0], results), seeds)
        labelled.append(RunSet(", ".join(word for word in words if word), runs))
    return _told_apart(labelled)


def _training(result: RunResult, results: Sequence[RunResult]) -> str:
    """Return whether a run was trained, where that tells runs apart."""
    kinds = {is_timing_only(each) for each in results}
    return ("timing only" if is_timing_only(result) else "trained") if len(kinds) > 1 else ""


def _told_apart(sets: Sequence[RunSet]) -> list[RunSet]:
    """Return the sets with labels of which no two are equal: those that are get the names of their directories."""
    count, seen, told = Counter(own.label for own in sets), Counter[str](), []
    for own in sets:
        label = own.label if count[own.label] == 1 else f"{own.label} ({Path(name_of(own.results[0])).name})"
        seen[label] += 1
        told.append(own._replace(label=label if seen[label] == 1 else f"{label} {seen[label]}"))
    return told


def is_timing_only(result: RunResult) -> bool:
    """Return whether nothing was trained; runs of the first versions never were."""
    return bool(result.provenance.get("timing_only", True))


def name_of(result: RunResult) -> str:
    """Return what an error calls a run: its directory, or its scenario where it has none."""
    return str(result.directory or result.scenario.name)


def scenarios_of(results: Sequence[RunResult]) -> str:
    """Return the names of the runs' scenarios for a title; how many there are if they are more than a few."""
    names = list(dict.fromkeys(result.scenario.name for result in results))
    return ", ".join(names) if len(names) <= MOST_SCENARIOS else f"{len(names)} scenarios"


def _seeds(runs: Sequence[RunResult]) -> str:
    seeds = {run.scenario.seed for run in runs}
    return f"seed {min(seeds)}" if len(seeds) == 1 else f"{len(seeds)} seeds"


def distinguishing_keys(results: Sequence[RunResult]) -> list[str]:
    """Return the keys of the summary that tell the runs apart; always the strategy."""
    facts = ("strategy", "profile", "scenario", "seed")
    return [key for key in facts if key == "strategy" or len({str(result.summary[key]) for result in results}) > 1]


def telling_settings(results: Sequence[RunResult]) -> list[str]:
    """Return for each run the other settings in which the runs differ: 'interval=3, batch=20'; empty if in none."""
    flat = [dict(_flattened(result.scenario.model_dump(mode="json"))) for result in results]
    keys = [key for key in dict.fromkeys(key for each in flat for key in each) if _tells(key, flat, results)]
    short = _short_names(keys)
    return [_joined([f"{short[key]}={_shown(each[key])}" for key in keys if key in each]) for each in flat]


def without_seed(result: RunResult) -> str:
    """Return a text that is equal for runs that differ in nothing but the seed."""
    return repr((result.scenario.model_dump(mode="json", exclude={"seed"}), is_timing_only(result)))


def _flattened(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Return the single values below a key; a list of single values is one, and so is the length of any other list."""
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _flattened(each, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list) and any(isinstance(each, Mapping) for each in value):
        yield key, len(value)
        for index, each in enumerate(value):
            yield from _flattened(each, f"{key}.{index}")
    else:
        yield key, value


def _tells(key: str, flat: Sequence[Settings], results: Sequence[RunResult]) -> bool:
    if key in _SAID_OTHERWISE or not _differs(key, flat) or _is_default(key, flat, results):
        return False
    explanations = ["scenario", *(["profile"] if ".profile." in key else [])]
    for fact in explanations:
        names = [str(result.summary[fact]) for result in results]
        alike = ([each for each, own in zip(flat, names, strict=True) if own == name] for name in set(names))
        if len(set(names)) > 1 and not any(_differs(key, each) for each in alike):
            return False
    return True


def _is_default(key: str, flat: Sequence[Settings], results: Sequence[RunResult]) -> bool:
    """Return whether every run has its strategy's own default there."""
    defaults = [_strategy_defaults(result) for result in results]
    return all(key not in own or default.get(key, ...) == own[key] for own, default in zip(flat, defaults, strict=True))


def _strategy_defaults(result: RunResult) -> Settings:
    return dict(_flattened({"strategy": _defaults_of(result.scenario.strategy).model_dump(mode="json")}))


def _defaults_of(strategy: LocalTraining) -> LocalTraining:
    return type(strategy)(name=strategy.name)


def _differs(key: str, flat: Sequence[Settings]) -> bool:
    return len({repr(each[key]) for each in flat if key in each}) > 1


def _short_names(keys: Sequence[str]) -> dict[str, str]:
    """Return the last part of each key, or all of it where two would be called alike."""
    last = {key: key.rpartition(".")[2] for key in keys}
    count = Counter(last.values())
    return {key: name if count[name] == 1 else key for key, name in last.items()}


def _joined(settings: Sequence[str]) -> str:
    rest = len(settings) - MOST_SETTINGS
    return ", ".join([*settings[:MOST_SETTINGS], *([f"{rest} more"] if rest > 0 else [])])


def _shown(value: Any) -> str:
    if isinstance(value, list):
        items = [_shown(each) for each in value[:_MOST_ITEMS]]
        return f"[{', '.join([*items, *(['…'] if len(value) > _MOST_ITEMS else [])])}]"
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, float):
        return f"{value:.6g}"
    text = PurePath(value).name if isinstance(value, str) and "/" in value else str(value)
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"
