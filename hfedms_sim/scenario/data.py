"""The settings that all data sets, and all streams of samples, have in common.

Those of one data set stand with it in `data`, those of a law of arrivals with it in world/streams/.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from hfedms_sim.scenario.base import Settings

DEFAULT_DATA_SET, DEFAULT_ARRIVAL = "glyphs", "saturated"

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


class Stream(Settings):
    """What a scenario says under `stream`: how samples arrive, that law's own keys, and what a capture takes."""

    arrival: str
    """How samples reach a sensor."""
    batch: Annotated[int, Field(ge=1, le=1_000_000)] = 50
    """n: samples a capture takes at most; static takes the whole set."""
    buffer: Annotated[int, Field(ge=1, le=10_000_000)] = 50
    """Samples a sensor can hold, at least `batch`; as many as `batch` if only that is given."""
    short: Literal["wait", "take"] = "wait"
    """What a capture does when the buffer holds less than a batch."""
    augment: bool = True
    """Change brightness and crop of each captured sample."""
    redraw: Literal["round", "cycle", "once"] = "round"
    """How often a saturated stream draws a sensor's batch: for every round, every cycle, or the whole run."""

    @model_validator(mode="before")
    @classmethod
    def _buffer_is_a_batch_by_default(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and "batch" in raw and "buffer" not in raw:
            return raw | {"buffer": raw["batch"]}
        return raw

    @model_validator(mode="after")
    def _buffer_holds_a_batch(self) -> "Stream":
        if self.buffer < self.batch:
            raise ValueError(f"buffer ({self.buffer}) must hold a batch ({self.batch})")
        return self

    @model_validator(mode="after")
    def _only_saturated_streams_are_redrawn_less_often(self) -> "Stream":
        if self.redraw != "round" and self.arrival != "saturated":
            raise ValueError(f"redraw: {self.redraw} needs arrival: saturated, not {self.arrival}; allowed: round")
        return self
