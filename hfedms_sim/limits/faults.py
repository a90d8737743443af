"""What the table of faults says about critical paths: which chains were cut off, and which sensors failed when."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hfedms_sim.limits.round_selection import RoundSelection
from hfedms_sim.scenario import Scenario
from hfedms_sim.trace import read_trace_table

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ROUNDING = 1e-9


@dataclass(frozen=True)
class FaultColumns:
    """Late chains, and rows about sensors in the order of time."""

    backbone_s: float
    """One crossing of the backbone."""
    deadline_s: float
    """After a round's begin; infinite where there is none."""
    late_round: Ints
    late_group: Ints
    late_s: Floats
    sensor: Ints
    sensor_s: Floats

    def is_late(self, rounds: NDArray[Any], groups: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which of these chains, each a round and a group, were cut off."""
        size = 1 + max(self.late_group.max(initial=0), groups.max(initial=0))
        return np.isin(rounds * size + groups, self.late_round * size + self.late_group) & (groups >= 0)

    def closed_by_deadline(self, rounds: NDArray[Any], starts_s: Floats) -> NDArray[np.bool_]:
        """Return which of these rounds cut off chains because of the time, not because enough had arrived."""
        closed_s = np.full(len(rounds), -np.inf)
        place = np.searchsorted(rounds, self.late_round)
        known = place < len(rounds)
        np.maximum.at(closed_s, place[known], self.late_s[known])
        return closed_s * (1 + _ROUNDING) >= starts_s + self.deadline_s

    def failed_between(self, from_s: Floats, to_s: Floats) -> Ints:
        """Return the sensor that failed last in each of these times; -1 if none did."""
        if not len(self.sensor):
            return np.full(len(from_s), -1)
        place = np.searchsorted(self.sensor_s, to_s, side="right") - 1
        last = np.maximum(0, place)
        return np.where((place >= 0) & (self.sensor_s[last] > from_s), self.sensor[last], -1)


def fault_columns(
    scenario: Scenario, source: Path | Mapping[str, pa.Table], selection: RoundSelection
) -> FaultColumns | None:
    """Return what the faults of some rounds of a run say; None for a run in which nothing can go wrong."""
    if scenario.is_steady:
        return None
    table = read_trace_table(source, "faults") if isinstance(source, Path) else source["faults"]
    rows = table.filter(pa.array(selection.has(table["round"].to_numpy()))).to_pylist()
    late = [(row["round"], _number(row), row["time_s"]) for row in rows if row["kind"] == "late"]
    failed = sorted((row["time_s"], _number(row)) for row in rows if row["entity"].startswith("sensor "))
    late_round, late_group, late_s = _columns(late, 3)
    sensor_s, sensor = _columns(failed, 2)
    return FaultColumns(
        backbone_s=scenario.backbone.latency_s,
        deadline_s=np.inf if scenario.deadline_s is None else scenario.deadline_s,
        late_round=late_round.astype(np.int64),
        late_group=late_group.astype(np.int64),
        late_s=late_s,
        sensor=sensor.astype(np.int64),
        sensor_s=sensor_s,
    )


def _number(row: dict[str, Any]) -> int:
    """Return the number of a sensor or of a group."""
    return int(row["entity"].split()[1])


def _columns(rows: list[Any], count: int) -> Floats:
    return np.array(rows, dtype=np.float64).reshape(-1, count).T
