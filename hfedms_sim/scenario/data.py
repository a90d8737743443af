"""The settings that all data sets have in common. A data set's own stand with it in `data`."""

from typing import Any

from hfedms_sim.scenario.base import Settings

DEFAULT_DATA_SET = "glyphs"

_OLD_DEFAULTS: dict[str, dict[str, float | None]] = {
    "glyphs": {"path": None},
    "npz": {"skew": 1.0},
    "leaf": {"skew": 1.0},
    "parquet": {"skew": 1.0},
}
"""Keys that every set had once, and what they said where they said nothing."""


class DataSettings(Settings):
    """What a scenario says under `data`: which set, and that set's own keys."""

    set: str
    """Which data set the sensors see."""


def without_old_defaults(raw: dict[str, Any]) -> dict[str, Any]:
    """Return what stands under `data` without keys that the set does not have, where they said nothing.

    The scenario.yaml of older runs has every key of every set.
    """
    name = raw.get("set", DEFAULT_DATA_SET)
    old = _OLD_DEFAULTS.get(name, {}) if isinstance(name, str) else {}
    return {key: value for key, value in raw.items() if not (key in old and _says(value, old[key]))}


def _says(value: object, default: float | None) -> bool:
    return value == default and not isinstance(value, bool)
