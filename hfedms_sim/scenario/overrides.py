"""What the command line changes in a scenario before it is validated: plain values in the raw mapping of the file."""

import re
from typing import Any, NamedTuple

from hfedms_sim.errors import InputError
from hfedms_sim.scenario.base import keys_of
from hfedms_sim.scenario.problems import unknown
from hfedms_sim.scenario.scenario import StrategySettings
from hfedms_sim.scenario.yaml_io import parse_yaml


class Override(NamedTuple):
    """KEY=VALUE, with a dotted key and a YAML value: 'strategy.interval=3', 'cells.0.profile.channels=2'."""

    path: tuple[str, ...]
    value: Any
    label: str

    @classmethod
    def parse(cls, text: str) -> "Override":
        label = f"--set {ascii(text)[1:-1][:60]}"
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise InputError(f"{label}: must be KEY=VALUE, such as strategy.interval=3")
        return cls(tuple(key.split(".")), parse_yaml(value, label), label)

    def apply(self, raw: dict[str, Any], strategies: StrategySettings) -> None:
        if self.path == ("strategy", "name") and isinstance(self.value, str) and self.value in strategies:
            replace_strategy(raw, self.value, strategies)
            return
        *parents, last = self.path
        container: Any = raw
        for part in parents:
            is_mapping = isinstance(container, dict)
            container = container.setdefault(part, {}) if is_mapping else container[self._index(container, part)]
        container[last if isinstance(container, dict) else self._index(container, last)] = self.value

    def _index(self, container: Any, part: str) -> int:
        if not isinstance(container, list):
            raise InputError(f"{self.label}: there is no '{part}' in a single value")
        if not re.fullmatch(r"[0-9]{1,9}", part) or int(part) >= len(container):
            raise InputError(f"{self.label}: '{part}' must be a list index from 0 to {len(container) - 1}")
        return int(part)


def replace_strategy(raw: dict[str, Any], name: str, strategies: StrategySettings) -> None:
    """Another algorithm, with those of the current settings that it also has."""
    if name not in strategies:
        raise InputError(f"--strategy: {unknown('strategy', name, strategies)}")
    current = raw.get("strategy")
    fields = keys_of(strategies[name])
    kept = {key: value for key, value in current.items() if key in fields} if isinstance(current, dict) else {}
    raw["strategy"] = kept | {"name": name}
