"""What is shipped, for people: lists, and one thing in full."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from hfedms_sim.data import DATA_SOURCES, FEMNIST, holds_dataset, open_copy, summary
from hfedms_sim.errors import InputError
from hfedms_sim.loading import load_scenario
from hfedms_sim.models import MODELS, spec_of
from hfedms_sim.report.entries import dataset_entries, profile_entries, scenario_entries, strategy_entries
from hfedms_sim.report.models import show_model
from hfedms_sim.scenario import (
    TRAINING_PASSES,
    NetworkProfile,
    holds_profile,
    is_path,
    keys_of,
    load_profile,
    scenario_yaml,
    shape_text,
    shipped,
    unknown,
)
from hfedms_sim.scenario.base import Settings
from hfedms_sim.strategies import STRATEGIES, Strategy, name_of
from hfedms_sim.units import format_bps


def list_scenarios() -> Table:
    table = _listing("scenario", "sensors", "strategy", "profile", "what it is")
    for each in scenario_entries():
        count, profiles = f"{each['sensors']:,}", ",".join(each["profiles"])
        _add(table, each["name"], count, each["strategy"], profiles, each["description"])
    return table


def list_profiles() -> Table:
    table = _listing("profile", "up", "down", "duplex", "what it is")
    for each in profile_entries():
        rates = format_bps(each["uplink_bps"]), format_bps(each["downlink_bps"])
        _add(table, each["name"], *rates, each["duplex"], each["description"])
    return table


def list_strategies() -> Table:
    table = _listing("strategy", "paper")
    for each in strategy_entries():
        _add(table, each["name"], each["paper"])
    return table


def list_datasets() -> Table:
    table = _listing("data set", "what it is")
    for each in dataset_entries():
        _add(table, each["name"], each["description"])
    return table


def known_names() -> list[str]:
    """Return every name that `show_anything` knows."""
    return [*STRATEGIES, *shipped("profile"), *MODELS, *shipped("scenario"), *DATA_SOURCES, "femnist"]


def show_anything(name: str) -> RenderableType | str:
    """A strategy, profile, network, scenario or data set by name, or what the file at a path holds.

    A scenario is shown as the text of its YAML.
    """
    if name == "femnist":
        return FEMNIST.rstrip()
    if name in DATA_SOURCES:
        return _show_source(name)
    if name in STRATEGIES:
        return _show_strategy(name)
    if name in shipped("profile"):
        return _show_profile(load_profile(name))
    if name in MODELS:
        return show_model(name)
    known = known_names()
    if name not in known and holds_dataset(Path(name)):
        return _show_dataset(name)
    if not is_path(name) and name not in known:
        raise InputError(unknown("name", name, known))
    if is_path(name) and holds_profile(name):
        return _show_profile(load_profile(name))
    return scenario_yaml(load_scenario(name)).rstrip()


def _show_profile(profile: NetworkProfile) -> RenderableType:
    table = _listing("figure", "value", "source")
    for figure, value in profile.figures.items():
        _add(table, figure, _value(value), profile.sources.get(figure, ""))
    return Group(Text(f"{profile.name}: {profile.description}", style="bold"), table)


def _show_dataset(path: str) -> RenderableType:
    """What to check a copy with."""
    dataset = open_copy(Path(path))
    facts = summary(dataset)
    fewest, median, most = facts.samples_of_a_device
    table = _listing("fact", "value")
    _add(table, "devices", f"{facts.devices:,}")
    _add(table, "samples", f"{facts.train_samples:,} for training, {facts.test_samples:,} for testing")
    _add(table, "samples of a device", f"{fewest:,} to {most:,}, median {median:,.0f}")
    _add(table, "a sample", shape_text(facts.shape.input_shape))
    if facts.source_ink is not None:
        _add(table, "polarity", f"{facts.source_ink} ink")
    _add(table, "classes", f"{len(facts.samples_of_a_class)} of {facts.shape.classes}")
    of_class = facts.samples_of_a_class.items()
    _add(table, "samples of a class", ", ".join(f"{name} {count:,}" for name, count in of_class))
    digests = dataset.content["sha256"]
    for file, digest in (digests if isinstance(digests, dict) else {Path(path).name: digests}).items():
        _add(table, f"SHA-256 of {file}", digest)
    return Group(Text(path, style="bold"), table)


def _show_strategy(name: str) -> RenderableType:
    strategy = STRATEGIES[name]
    facts = _listing("fact", "value")
    _add(facts, "rule", strategy.rule)
    _add(facts, "paper", strategy.paper)
    for fact, value in _costs(strategy):
        _add(facts, fact, value)
    return Group(Text(name, style="bold"), facts, _keys("strategy", strategy.Settings, "name"))


def _show_source(name: str) -> RenderableType:
    source = DATA_SOURCES[name]
    return Group(Text(f"{name}: {source.about}", style="bold"), _keys("data", source.Settings, "set"))


def _keys(part: str, settings: type[Settings], named_by: str) -> Table:
    """Return the keys of a part but for the one that names it."""
    table = _listing("key", "default", "what it is")
    for key, default, about in _key_rows(part, settings):
        if key != f"{part}.{named_by}":
            _add(table, key, default, about)
    return table


def _key_rows(part: str, settings: type[Settings], chosen: Settings | None = None) -> Iterator[tuple[str, str, str]]:
    """Yield key, default and meaning; of a setting that is made of others, theirs, as the default has `chosen` them."""
    for key, field in keys_of(settings).items():
        default = field.default if chosen is None else getattr(chosen, key)
        if isinstance(default, Settings):
            yield from _key_rows(f"{part}.{key}", type(default), default)
        else:
            shown = "" if chosen is None and field.is_required() else _value(default)
            yield f"{part}.{key}", shown, " ".join((field.description or "").split())


def _costs(strategy: type[Strategy[Any, Any]]) -> Iterator[tuple[str, str]]:
    """Yield what a participant of a full round costs, with the paper's network and default settings."""
    model, settings = spec_of("cnn"), strategy.Settings(name=name_of(strategy))
    costs = strategy.costs(settings, model)
    ways = 2 if settings.cycle_rounds > 1 else 1
    passes = costs.training_multiply_adds / (TRAINING_PASSES * model.multiply_adds)
    yield "bytes up, cnn", f"{costs.bytes_up:,}"
    yield "bytes down, cnn", f"{ways * costs.model_bytes:,}{', the scatter included' if ways == 2 else ''}"
    if ways == 2:
        sent = settings.compression.leg_bytes(model.classifier_contents)
        up = "" if sent.uplink == sent.downlink else f"{sent.uplink:,} bytes up, "
        yield "between full rounds", f"{up}{sent.downlink:,} bytes {'down' if up else 'up and down'}"
    yield "compute to plain SGD", f"{passes:.2f}"
    yield "memory beside the model", f"{costs.memory_bytes:,} bytes"


def _listing(*headings: str) -> Table:
    table = Table()
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def _add(table: Table, *cells: str) -> None:
    """Add a row as text: what a file says in brackets is not rich's markup."""
    table.add_row(*(Text(cell) for cell in cells))


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:,.10g}"
    if isinstance(value, tuple):
        return "; ".join(str(each) for each in value) or "none"
    return "null" if value is None else str(value)
