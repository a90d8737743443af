"""The path of each fault of a scenario, on a stream of its own.

A stream is keyed by the fault's kind and its place among the faults of that kind, so that another fault in the list, or
another radio or strategy, changes nobody's path.
"""

from collections.abc import Iterator
from math import inf
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.scenario import Scenario
from hfedms_sim.scenario.faults import BackboneOutage, CellOutage, SensorCrash, SensorOutage, ServerOutage, Spelled
from hfedms_sim.seeds import Draws
from hfedms_sim.world.faults.absences import absences_of
from hfedms_sim.world.faults.spells import AnyDown, Once, Renewal, Spells

Kind = TypeVar("Kind", bound=Spelled)

_MOST_WALKED = 100_000  # sensors whose paths are walked one by one


def paths_of(scenario: Scenario, draws: Draws, kind: type[Kind]) -> Iterator[tuple[Kind, Spells]]:
    """Yield the faults of a kind with their paths, each from its beginning."""
    faults = [fault for fault in scenario.faults if isinstance(fault, kind)]
    for place, fault in enumerate(faults):
        hit, entities = _hit(scenario, fault), _entities(scenario, kind)
        if fault.at_s is not None:
            yield fault, Once(fault.at_s, fault.for_s or inf, hit)
        else:
            assert fault.mean_up_s is not None
            assert fault.mean_down_s is not None
            purpose = f"fault/{fault.kind}/{place}"
            yield fault, Renewal(draws, purpose, entities, fault.mean_up_s, fault.mean_down_s, hit)


def joint_path(scenario: Scenario, draws: Draws, kind: type[Spelled]) -> AnyDown:
    """Return when something is down by any of the faults of this kind."""
    return AnyDown([spells for _, spells in paths_of(scenario, draws, kind)])


def sensors_path(scenario: Scenario, draws: Draws) -> AnyDown:
    """Return when a sensor's radio is out of reach: by a fault, or because it is away."""
    away = absences_of(scenario.availability, scenario.sensors.count)
    outages = [spells for _, spells in paths_of(scenario, draws, SensorOutage)]
    return AnyDown(outages if away is None else [*outages, away])


def seconds_up(scenario: Scenario, draws: Draws, until_s: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return how long each sensor is up and within reach until a time of its own; None: too many paths to walk."""
    crashes = [spells for _, spells in paths_of(scenario, draws, SensorCrash)]
    paths = [*crashes, *sensors_path(scenario, draws).paths]
    if not paths:
        return until_s
    if len(paths) == 1 and isinstance(paths[0], Renewal):
        return until_s - paths[0].down_s(until_s)
    if len(until_s) > _MOST_WALKED:
        return None
    joint = AnyDown(paths)
    down_s = np.array([_down_s(joint, sensor, end_s) for sensor, end_s in enumerate(until_s.tolist())])
    return np.asarray(until_s - down_s)


def spells_between(path: Spells, entity: int, after_s: float, to_s: float) -> Iterator[tuple[float, float]]:
    """Yield begin and end of the spells that begin after one time, and not after the other."""
    now_s = max(0.0, after_s)
    while now_s <= to_s:
        spell = path.spell_at(entity, now_s)
        if spell.is_down and now_s > after_s:
            yield now_s, spell.until_s
        now_s = spell.until_s


def _down_s(path: Spells, entity: int, until_s: float) -> float:
    now_s, down_s = 0.0, 0.0
    while now_s < until_s:
        spell = path.spell_at(entity, now_s)
        if spell.is_down:
            down_s += min(spell.until_s, until_s) - now_s
        now_s = spell.until_s
    return down_s


def _entities(scenario: Scenario, kind: type[Spelled]) -> int:
    if issubclass(kind, CellOutage):
        return len(scenario.cells)
    return 1 if issubclass(kind, BackboneOutage | ServerOutage) else scenario.sensors.count


def _hit(scenario: Scenario, fault: Spelled) -> frozenset[int] | None:
    """Return the numbers of what a fault hits; None: all there are."""
    if fault.hit is None:
        return None
    names = {cell.name: number for number, cell in enumerate(scenario.cells)}
    return frozenset(each if isinstance(each, int) else names[each] for each in fault.hit)
