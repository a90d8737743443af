"""What limited a run, for its summary: how busy each direction of each cell was, and the cause behind the rounds."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from hfedms_sim.limits.columns import columns_of
from hfedms_sim.limits.critical_path import CriticalPath, critical_path
from hfedms_sim.limits.limited_by import CauseShare, LimitedBy, cause_shares, limited_by
from hfedms_sim.limits.links import Link, links_of
from hfedms_sim.limits.occupation import LinkUse, occupation
from hfedms_sim.scenario import Scenario


class Limits(NamedTuple):
    rounds: int
    """How many rounds were looked at: all, or the last ones of a long run."""
    links: tuple[Link, ...]
    uses: tuple[LinkUse, ...]
    """How each link was used, in the order of `links`."""
    path: CriticalPath
    limited_by: LimitedBy | None
    shares: list[CauseShare]

    def directions(self, cell: int) -> dict[str, dict[str, Any]]:
        """Return what summary.json says of the directions of a cell."""
        pair = zip(self.links[2 * cell : 2 * cell + 2], self.uses[2 * cell : 2 * cell + 2], strict=True)
        return {link.direction: use._asdict() for link, use in pair}

    def summary(self) -> dict[str, Any] | None:
        """Return what summary.json says under `limited_by`."""
        if self.limited_by is None:
            return None
        found = self.limited_by._asdict() | {"detail": self.limited_by.detail._asdict()}
        return found | {"rounds": self.rounds, "shares": [each._asdict() for each in self.shares]}


def limits_of(scenario: Scenario, source: Path | Mapping[str, pa.Table]) -> Limits:
    """Return what limited a finished run. `source`: its directory, or its tables by name."""
    columns = columns_of(scenario, source)
    links = links_of(scenario.cells)
    occupied = occupation(columns, links)
    path = critical_path(columns, links, occupied)
    rounds = len(columns.rounds["round"])
    return Limits(rounds, tuple(links), occupied.uses, path, limited_by(path), cause_shares(path))
