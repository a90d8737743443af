"""What might help a run, as changes to its scenario: more room in the limiting cell, shorter chains or smaller models.

The limiting cell is the one that `limited_by` names, else the one with most seconds on the critical paths.

More room is one more channel, or the rate of one sensor more where the cell has a capacity of its own. It is another
cell of the same profile where a channel is no help: the base station is one sender with a duty cycle, or sensors are
slow because of where they stand. Placed sensors get it where the sensor with the highest coupling loss is; others share
it as they share the cells that there are, and of counted ones it takes half of the limiting cell's.

Shorter chains are twice as many groups, where the chains' length is the limit and the strategy has `beta`. Otherwise
everything is sent as int8.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from hfedms_sim.limits import Cause, CriticalPath, LimitedBy
from hfedms_sim.scenario import Cell, NetworkProfile, Scenario, load_profile, shipped
from hfedms_sim.units import format_bps

_INT8 = "int8"
_OTHER_LEARNING = "what is learnt may differ"


@dataclass(frozen=True)
class Change:
    """A what-if before it is played."""

    name: str
    description: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Dotted keys of the scenario, and their values."""
    profile: str | None = None
    """A shipped profile that every cell is put on; None: as it was."""

    @property
    def options(self) -> list[str]:
        """Return the options of `hfedms-sim run` that make the same change."""
        sets = [each for key, value in self.changes.items() for each in ("--set", f"{key}={_yaml(value)}")]
        return [*(() if self.profile is None else ("--profile", self.profile)), *sets]


@dataclass(frozen=True)
class NoChange:
    """A what-if that cannot be asked of this run, and why."""

    name: str
    why_not: str


def limiting_cell(scenario: Scenario, limited_by: LimitedBy | None, path: CriticalPath) -> int:
    """Return the index of the cell that more room would help most."""
    names = [cell.name for cell in scenario.cells]
    if limited_by is not None and limited_by.detail.cell in names:
        return names.index(limited_by.detail.cell)
    on_radio = path.link >= 0
    seconds = path.seconds.sum(axis=1)[on_radio]
    return int(np.bincount(path.link[on_radio] // 2, weights=seconds, minlength=len(names)).argmax())


def more_room(scenario: Scenario, cell_index: int, cause: Cause | None, sensors: pd.DataFrame) -> Change | NoChange:
    """Return one more channel, or one more cell, whichever makes sense for the limiting cell."""
    cell = scenario.cells[cell_index]
    profile, is_placed = cell.profile, scenario.sensors.placement.kind != "none"
    is_one_sender = profile.frames is not None or profile.duty_cycle is not None
    if is_placed and (is_one_sender or profile.channels == "dedicated" or cause == "sensor rate"):
        return _another_placed_cell(scenario, cell_index, sensors)
    if is_one_sender:
        return _another_cell(scenario, cell_index)
    if profile.channels == "dedicated":
        return NoChange("one more channel", f"in {cell.name} every sensor has a channel of its own already")
    return _another_channel(cell_index, cell)


def shorter_or_smaller(scenario: Scenario, cause: Cause | None) -> Change | NoChange:
    """Return shorter chains if their length is the limit, else int8; the other one where that is not possible."""
    chains, int8 = _shorter_chains(scenario), _int8(scenario)
    first, second = (chains, int8) if cause == "chain length" else (int8, chains)
    return second if isinstance(first, NoChange) and isinstance(second, Change) else first


def _another_channel(index: int, cell: Cell) -> Change:
    profile, key = cell.profile, f"cells.{index}.profile"
    if profile.uplink_capacity_bps is None and profile.downlink_capacity_bps is None:
        channels = int(profile.channels)
        description = f"{cell.name} serves {channels + 1} sensors at full rate, not {channels}"
        return Change("one more channel", description, {f"{key}.channels": channels + 1})
    up_bps, down_bps = ((profile.channels_in(way) + 1) * profile.rate_bps(way) for way in ("up", "down"))
    description = f"{cell.name} carries one sensor more, {format_bps(up_bps)} up and {format_bps(down_bps)} down"
    changes = {f"{key}.uplink_capacity_bps": up_bps, f"{key}.downlink_capacity_bps": down_bps}
    return Change("room for one more sensor", description, changes)


def _another_cell(scenario: Scenario, index: int) -> Change | NoChange:
    """Return another cell for sensors that stand nowhere."""
    cell, counts = scenario.cells[index], scenario.sensors_of_cells
    if counts is None:
        added, others = _copy_of(scenario, index), [_written(each) for each in scenario.cells]
        what = f"beside {cell.name} another cell of {cell.profile.name}; sensors are spread over all cells anew"
        return Change("one more cell", what, {"cells": [*others, added]})
    taken = counts[index] // 2
    if not taken:
        return NoChange("one more cell", f"{cell.name} has one sensor, which has it for itself")
    left = _written(cell) | {"sensors": counts[index] - taken}
    cells = [left if number == index else _written(each) for number, each in enumerate(scenario.cells)]
    cells.insert(index + 1, _copy_of(scenario, index) | {"sensors": taken})  # next to it: others keep their sensors
    what = f"beside {cell.name} another cell of {cell.profile.name}, which takes {taken:,} of its {counts[index]:,}"
    return Change("one more cell", f"{what} sensors", {"cells": cells})


def _another_placed_cell(scenario: Scenario, index: int, sensors: pd.DataFrame) -> Change | NoChange:
    """Return another cell where the sensor with the highest coupling loss stands."""
    if not len(sensors) or sensors["coupling_loss_db"].isna().all():
        return NoChange("one more cell", "where its sensors stand is not in this run's tables")
    worst = sensors.iloc[int(np.nanargmax(sensors["coupling_loss_db"].to_numpy(dtype=float)))]
    where = {"x_m": round(float(worst["x_m"]), 1), "y_m": round(float(worst["y_m"]), 1)}
    added = _copy_of(scenario, index) | where
    if scenario.sensors_of_cells is not None:
        added |= {"sensors": 0}  # whoever has this radio may use it
    cells = [*(_written(each) for each in scenario.cells), added]
    place = f"at ({where['x_m']:g}, {where['y_m']:g}) m, where sensor {worst['sensor']} stands"
    what = f"another cell of {scenario.cells[index].profile.name} {place}: {worst['coupling_loss_db']:.0f} dB of loss"
    return Change("one more cell", what, {"cells": cells})


def _copy_of(scenario: Scenario, index: int) -> dict[str, Any]:
    """Return a cell of the same profile, with a name that is free."""
    names, name = {cell.name for cell in scenario.cells}, scenario.cells[index].name
    free = next(made for number in range(2, len(names) + 3) if (made := f"{name}-{number}") not in names)
    return {"name": free, "profile": _profile(scenario.cells[index].profile)}


def _written(cell: Cell) -> dict[str, Any]:
    """Return a cell as a file would have it."""
    return cell.model_dump(mode="json", exclude_none=True, exclude={"profile"}) | {"profile": _profile(cell.profile)}


def _profile(profile: NetworkProfile) -> str | dict[str, Any]:
    """Return the name of a profile that is just as it ships, any other one in full."""
    if profile.name in shipped("profile") and load_profile(profile.name) == profile:
        return profile.name
    return profile.model_dump(mode="json", exclude_unset=True)


def _shorter_chains(scenario: Scenario) -> Change | NoChange:
    settings = scenario.strategy
    beta = getattr(settings, "beta", None)
    if not settings.relays or not isinstance(beta, int):
        return NoChange("shorter chains", f"{settings.name} has no chains whose number could be set")
    if beta >= scenario.sensors.count:
        return NoChange("shorter chains", f"{settings.name} has a group for every sensor already")
    what = f"beta {2 * beta} instead of {beta}: twice as many chains, half as long; {_OTHER_LEARNING}"
    return Change("shorter chains", what, {"strategy.beta": 2 * beta})


def _int8(scenario: Scenario) -> Change | NoChange:
    settings = scenario.strategy
    if settings.relays is None:
        return NoChange(_INT8, f"{settings.name} does not say what its plans send in fewer bytes")
    legs = ("downlink", "relay", "uplink") if settings.relays else ("downlink", "uplink")
    shrunk = [leg for leg in legs if getattr(settings.compression, leg) != _INT8]
    if not shrunk:
        return NoChange(_INT8, f"{settings.name} sends int8 on all legs already")
    what = f"numbers of one byte on {'all legs' if len(shrunk) == len(legs) else ' and '.join(shrunk)}"
    return Change(_INT8, f"{what}; {_OTHER_LEARNING}", {f"strategy.compression.{leg}": _INT8 for leg in shrunk})


def _yaml(value: Any) -> str:
    """Return a value in one line as --set reads it: JSON is YAML, and a plain word needs no quotes."""
    return value if isinstance(value, str) else json.dumps(value)
