"""Settings that were tuned: what `paper tune` chose for each strategy, and where it ships.

Every strategy had the same number of points, one seed that no verdict is computed from, and one criterion: accuracy
after 100 rounds. The shipped choice names the data it was made on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from hfedms_sim.errors import InputError
from hfedms_sim.paper.published import BASELINES, DataKind
from hfedms_sim.result import read_json
from hfedms_sim.system.checksums import Checksums

Column = Literal["defaults", "tuned"]
TUNING_SEED = 0
"""The seed of the runs that settings are chosen by; no verdict is computed from it."""
SHIPPED = Path(__file__).with_name("tuned.json")

Choice = Mapping[str, str]
"""Keys of a scenario and what they are set to."""


@dataclass(frozen=True)
class Tuned:
    """What was chosen, and how accurate it was, by kind of data, then strategy; empty where nothing was tuned."""

    choices: Mapping[str, Mapping[str, Choice]] = field(default_factory=dict)
    accuracies: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    made_on: str = ""
    """Study, seed and rounds that the choice was made on, in words; empty where the file does not say."""

    def __bool__(self) -> bool:
        return bool(self.choices)

    def has(self, strategy: str, kind: DataKind) -> bool:
        return strategy in self.choices.get(kind, {})

    def settings(self, strategy: str, kind: DataKind) -> Choice:
        return self.choices[kind][strategy]

    def rivals(self, kind: DataKind) -> list[str]:
        """Return the baselines, those first that were the most accurate on the tuning seed."""
        of_kind = self.accuracies.get(kind, {})
        return sorted(BASELINES, key=lambda name: -of_kind.get(name, 0.0))

    def best_rival(self, kind: DataKind) -> str:
        return self.rivals(kind)[0]


def read_tuned(path: Path | None = None) -> Tuned:
    """Return the choice in a file, or the shipped one; none where there is no file."""
    if path is None:
        return _parsed(SHIPPED) if SHIPPED.is_file() else Tuned()
    if not path.is_file():
        raise InputError(f"{path}: no such file; 'paper tune' writes tuned.json")
    return _parsed(path)


def _parsed(path: Path) -> Tuned:
    Checksums(path.parent).require(path.name)
    content = read_json(path)
    try:
        return Tuned(
            {
                str(kind): {str(name): _choice(each) for name, each in of_kind.items()}
                for kind, of_kind in content["choices"].items()
            },
            {
                str(kind): {str(name): float(each) for name, each in of_kind.items()}
                for kind, of_kind in content["accuracies"].items()
            },
            _words(content["made_on"]) if "made_on" in content else "",
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InputError(f"{path}: must have choices and accuracies as 'paper tune' writes them") from None


def _choice(raw: Any) -> Choice:
    return {str(key): str(value) for key, value in raw.items()}


def _words(made_on: Any) -> str:
    return f"seed {made_on['seed']}, {made_on['rounds']} rounds, of the study {made_on['study']}"
