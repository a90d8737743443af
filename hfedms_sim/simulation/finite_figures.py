"""Figures that leave the range of numbers: said in one line, before anything is written that nobody could read."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

from hfedms_sim.errors import RunError

_WHY = "the scenario's figures, all within their bounds, make it too large to compute with"


def require_finite(summary: Mapping[str, Any]) -> None:
    """Refuse a summary in which a number is none: infinite, or no number at all."""
    for key, value in summary.items():
        if _has_overflown(value):
            raise RunError(f"{key} has no finite value: {_WHY}")


def overflow(error: BaseException | None) -> RunError | None:
    """Return the one line for a computation that left the range of numbers; None for any other error."""
    return RunError(f"a figure has no finite value ({error}): {_WHY}") if isinstance(error, OverflowError) else None


def _has_overflown(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_overflown, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_has_overflown, value))
    return isinstance(value, float) and not isfinite(value)
