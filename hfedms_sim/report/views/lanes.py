"""Which lanes the timeline of a round has, and in which lane each transfer and each work of it stands.

By sensor: a lane for each broadcasting cell, then the sensors of each chain in the order in which the model reaches
them, so that a relay is a staircase, then those outside any chain; more than a few of these are one lane together. By
cell: a lane for each direction of each cell that was used.
"""

from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hfedms_sim.rounds import EVERYONE
from hfedms_sim.scenario import Scenario

LanesBy = Literal["sensors", "cells"]
_MOST_OUTSIDE = 8  # of the sensors outside any chain that have a lane each


class Lanes(NamedTuple):
    names: tuple[str, ...]
    of_transfers: NDArray[np.int64]
    of_work: NDArray[np.int64]
    """-1: in none."""


def lanes_of(scenario: Scenario, transfers: pd.DataFrame, work: pd.DataFrame, by: LanesBy) -> Lanes:
    """Return the lanes of one round's rows."""
    return _by_cell(scenario, transfers, work) if by == "cells" else _by_sensor(transfers, work)


def _by_cell(scenario: Scenario, transfers: pd.DataFrame, work: pd.DataFrame) -> Lanes:
    pairs = list(zip(transfers["cell"], transfers["direction"], strict=True))
    used = set(pairs)
    order = [(cell.name, each) for cell in scenario.cells for each in ("up", "down") if (cell.name, each) in used]
    place = {pair: index for index, pair in enumerate(order)}
    names = tuple(f"{cell}, {direction}link" for cell, direction in order)
    return Lanes(names, np.array([place[pair] for pair in pairs], dtype=np.int64), np.full(len(work), -1))


def _by_sensor(transfers: pd.DataFrame, work: pd.DataFrame) -> Lanes:
    chain_of = _chains(transfers, work)
    outside = sorted({*transfers["sensor"], *work["sensor"]} - {EVERYONE} - set(chain_of))
    place: dict[tuple[int, str], int] = {}
    names: list[str] = []
    for cell in dict.fromkeys(transfers.loc[transfers["sensor"] == EVERYONE, "cell"]):
        place[EVERYONE, cell] = len(names)
        names.append(f"broadcast of {cell}")
    lane_of = {sensor: len(names) + index for index, sensor in enumerate(chain_of)}
    is_alone = len(set(chain_of.values())) == len(chain_of)
    names += [f"sensor {each}" if is_alone else f"chain {chain}: sensor {each}" for each, chain in chain_of.items()]
    if len(outside) > _MOST_OUTSIDE and chain_of:
        lane_of.update(dict.fromkeys(outside, len(names)))
        names.append(f"{len(outside)} others")
    else:
        lane_of.update({sensor: len(names) + index for index, sensor in enumerate(outside)})
        names += [f"sensor {sensor}" for sensor in outside]
    sent = zip(transfers["sensor"].tolist(), transfers["cell"].tolist(), strict=True)
    lanes = [place[sensor, cell] if sensor == EVERYONE else lane_of[sensor] for sensor, cell in sent]
    of_work = np.array([lane_of[sensor] for sensor in work["sensor"].tolist()], dtype=np.int64)
    return Lanes(tuple(names), np.array(lanes, dtype=np.int64), of_work)


def _chains(transfers: pd.DataFrame, work: pd.DataFrame) -> dict[int, int]:
    """Return the chain of each sensor that is in one, in the order of the lanes."""
    columns = ["version", "group", "sensor"]
    reached = transfers[transfers["sensor"] >= 0].assign(first_s=lambda rows: rows["ready_s"])[[*columns, "first_s"]]
    worked = work.assign(first_s=lambda rows: rows["start_s"])[[*columns, "first_s"]]
    rows = pd.concat([reached, worked])
    rows = rows[rows["group"] >= 0].assign(version=lambda each: each["version"].astype(float).fillna(0.0))
    first = rows.sort_values("first_s", kind="stable").drop_duplicates("sensor")
    ordered = first.sort_values(["version", "group", "first_s", "sensor"])
    return dict(zip(ordered["sensor"].astype(int).tolist(), ordered["group"].astype(int).tolist(), strict=True))
