"""How many sensors each cell of a run has, and the line that says so if one has none.

A sensor out of coverage is in no cell. A cell without sensors is no error (a hall may have one to spare), but rarely
what was meant: where radios of several technologies stand side by side, all sensors may prefer one of them.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from hfedms_sim.world.world import World

_MOST_NAMED = 5


class Occupancy(NamedTuple):
    name: str
    """The cell's name."""
    sensors: int
    """In coverage, whether or not they are ever chosen to take part."""


def occupancy_of(world: World) -> tuple[Occupancy, ...]:
    """Return how many sensors use each cell, in the order of the cells."""
    found = Counter(map(world.cell_of, world.covered.tolist()))
    return tuple(Occupancy(cell.name, found[cell]) for cell in world.cells)


def empty_cells_notice(cells: Sequence[Occupancy]) -> str | None:
    """Return a line that names the cells without sensors; None if there are none."""
    empty = [cell.name for cell in cells if not cell.sensors]
    if not empty:
        return None
    more = f" and {len(empty) - _MOST_NAMED} more" if len(empty) > _MOST_NAMED else ""
    share = f"{len(empty)} of {len(cells)} cells {'has' if len(empty) == 1 else 'have'} no sensor"
    return f"{share}: {', '.join(empty[:_MOST_NAMED])}{more}; cells.N.sensors says how many have which radio"
