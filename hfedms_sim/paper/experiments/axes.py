"""The unit in which a cost is shown: the largest that leaves a number before the point."""

from typing import NamedTuple

_UNITS: dict[str, tuple[tuple[float, str], ...]] = {
    "updated_parameters": ((1e9, "updated parameters, billions"), (1e6, "updated parameters, millions")),
    "bytes": ((1e12, "sent, TB"), (1e9, "sent, GB"), (1e6, "sent, MB")),
    "simulated_s": ((86_400.0, "simulated days"), (3600.0, "simulated hours"), (60.0, "simulated minutes")),
}


class CostAxis(NamedTuple):
    """What a result cost (parameters, bytes, simulated seconds), as the axis of a figure or a column of a table."""

    measure: str
    unit: float
    name: str


def cost_axis_of(measure: str, largest: float) -> CostAxis:
    """Return a measure of a curve in the unit that fits its largest value."""
    units = _UNITS[measure]
    unit, name = next((each for each in units if largest >= each[0]), units[-1])
    return CostAxis(measure, unit, name)
