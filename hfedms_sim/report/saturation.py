"""How busy a run's cells were, in words: how long a direction was saturated, how much of its duty cycle was used."""

from collections.abc import Mapping, Sequence
from typing import Any


def busiest_cell(cells: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the entry of the cell that was nearest to its limits, in its busier direction.

    That is its saturated share, or what it used of the airtime that a duty cycle allows; among equals the one that was
    active for longest.
    """

    def busy(cell: Mapping[str, Any]) -> tuple[float, float]:
        uses = cell["directions"].values()
        limits = [max(use["saturated_share"], use["allowed_airtime_share"] or 0.0) for use in uses]
        return max(limits), max(use["active_share"] for use in uses)

    return max(cells, key=busy)


def saturation(directions: Mapping[str, Mapping[str, Any]], *, is_shared: bool) -> str:
    """Return such as `downlink 71.0% of the time, uplink 22.9%`, the busier direction first."""
    if is_shared:
        return f"{directions['up']['saturated_share']:.1%} of the time, both directions in one"
    ranked = sorted(directions.items(), key=lambda each: -each[1]["saturated_share"])
    shares = [f"{name}link {use['saturated_share']:.1%}" for name, use in ranked]
    return f"{shares[0]} of the time, {shares[1]}"


def allowed_airtime(directions: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return what was used of the airtime that a duty cycle or silences allow; None where nothing limits it."""
    used = [
        f"{name}link {use['allowed_airtime_share']:.1%}"
        for name, use in directions.items()
        if use["allowed_airtime_share"] is not None
    ]
    return f"{', '.join(used)} used, by the busiest sender" if used else None
