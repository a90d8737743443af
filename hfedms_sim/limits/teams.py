"""Who set the pace of the teams on critical paths: in each edge round the sensor whose model came back last."""

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.limits.columns import Array, Columns
from hfedms_sim.rounds import STATION

Ints = NDArray[np.int64]


def slowest_of_teams(transfers: Columns, sent: Ints, work: Columns, worked: Ints) -> tuple[Ints, Ints]:
    """Return those rows of transfers and of work in which nobody is who was not last in an edge round.

    Rows of chains, whose sensors take turns, all stay.
    """
    to_station, from_station = transfers["target"][sent] == STATION, transfers["source"][sent] == STATION
    in_team = to_station | from_station
    if not in_team.any():
        return sent, worked
    rounds, edge_round = transfers["round"][sent], transfers["hop"][sent] - to_station
    came_back = to_station & transfers["is_ok"][sent]
    most = 1 + int(max(edge_round.max(), work["hop"][worked].max(initial=0)))
    last = np.full((int(rounds.max()) + 1) * most, -1)
    last[(rounds * most + edge_round)[came_back]] = transfers["sensor"][sent][came_back]  # later rows overwrite
    is_slowest = transfers["sensor"][sent] == last[rounds * most + edge_round]
    work_place: Array = work["round"][worked] * most + work["hop"][worked]
    of_team = np.isin(work["round"][worked], rounds[in_team])
    worked_last = work["sensor"][worked] == last[np.minimum(work_place, len(last) - 1)]
    return sent[~in_team | is_slowest], worked[~of_team | worked_last]
