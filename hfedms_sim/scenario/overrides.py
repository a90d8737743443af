"""What the command line changes in a scenario before it is validated: plain values in the raw mapping of the file."""

from typing import Any

from hfedms_sim.errors import InputError
from hfedms_sim.scenario.problems import unknown
from hfedms_sim.scenario.strategy import STRATEGY_SETTINGS
from hfedms_sim.scenario.yaml_io import parse_yaml


def replace_strategy(raw: dict[str, Any], name: str) -> None:
    """Another algorithm, with those of the current settings that it also has."""
    if name not in STRATEGY_SETTINGS:
        raise InputError(f"--strategy: {unknown('strategy', name, STRATEGY_SETTINGS)}")
    current = raw.get("strategy")
    fields = STRATEGY_SETTINGS[name].model_fields
    kept = {key: value for key, value in current.items() if key in fields} if isinstance(current, dict) else {}
    raw["strategy"] = kept | {"name": name}


def apply_override(raw: dict[str, Any], override: str) -> None:
    """'strategy.interval=3', 'cells.0.profile.channels=2', 'targets=[0.9]': a dotted key and a YAML value."""
    label = f"--set {override[:60]}"
    key, equals, text = override.partition("=")
    if not equals or not key:
        raise InputError(f"{label}: must be KEY=VALUE, such as strategy.interval=3")
    value = parse_yaml(text, label)
    if key == "strategy.name" and value in STRATEGY_SETTINGS:
        replace_strategy(raw, value)
        return
    *parents, last = key.split(".")
    container: Any = raw
    for part in parents:
        is_mapping = isinstance(container, dict)
        container = container.setdefault(part, {}) if is_mapping else container[_index(container, part, label)]
    container[last if isinstance(container, dict) else _index(container, last, label)] = value


def _index(container: Any, part: str, label: str) -> int:
    if not isinstance(container, list):
        raise InputError(f"{label}: there is no '{part}' in a single value")
    if not part.isdigit() or int(part) >= len(container):
        raise InputError(f"{label}: '{part}' must be a list index from 0 to {len(container) - 1}")
    return int(part)
