"""A round of teams: each base station has its sensors train side by side and averages them, some times over.

The model crosses from the server to the base station once, and back once; all else is on the air of the cell. In an
edge round a base station awaits all its sensors, but no other cell. A sensor that fails is left out of the edge round,
and is asked again in the next. The base station's arithmetic takes no time.
"""

from collections.abc import Iterator

from simpy import Interrupt
from simpy.events import ProcessGenerator

from hfedms_sim.rounds import STATION, Group, Hop, Participation, RoundRecord
from hfedms_sim.schedule import edge_turn
from hfedms_sim.world.faults.waiting import GivenUp
from hfedms_sim.world.play.chains import Chains
from hfedms_sim.world.play.floor import ChainId
from hfedms_sim.world.play.stage import Visit, describe_failure
from hfedms_sim.world.processes import AllDone

Teams = list[list[Participation]]


class TeamPlay(Chains):
    """One round of teams. What a sensor does in its turn is what it does in a chain."""

    def play(self, start_s: float) -> RoundRecord:
        """Play the round, which began then, and return what happened."""
        plan = self._plan
        teams: list[Teams] = [[[] for _ in range(plan.edge_rounds)] for _ in plan.groups]
        self.run_until_closed(map(self._cell, range(len(teams)), plan.groups, teams))
        arrived = [number in self._arrived for number in range(len(teams))]
        counts = self._apply_quorum(arrived, asked=len(teams))
        return RoundRecord(
            round=plan.round,
            cycle=plan.cycle,
            phase=plan.phase,
            chains=tuple(tuple(team) for of_cell in teams for team in of_cell),
            arrived=tuple(counts[number] for number, of_cell in enumerate(teams) for _ in of_cell),
            start_s=start_s,
            end_s=self.env.now,
            arrivals=sum(arrived),
            late=self._late,
            participants=plan.participants * plan.edge_rounds,
        )

    def _cell(self, number: int, group: Group, teams: Teams) -> ProcessGenerator:
        """Return the process of a cell's round."""
        playing = self._edge_rounds(number, group, teams)
        if self._conditions is None:
            return playing
        return self._play_and_log_failure(
            self._conditions, number, group, playing, lambda: f"{sum(map(bool, teams))} of {len(teams)} edge rounds"
        )

    def _edge_rounds(self, number: int, group: Group, teams: Teams) -> ProcessGenerator:
        cell = self._floor.cell_of(group.sensors[0])
        yield from self._floor.cross(None, cell)
        place_of = {sensor: place for place, sensor in enumerate(group.sensors)}
        for edge_round, team in enumerate(teams):
            yield AllDone(self.env, self._turns(group, edge_round, team))
            team.sort(key=lambda each: place_of[each.sensor])  # not in the order in which they were ready
        if any(teams):
            yield from self._floor.cross(cell, None)
            self._arrived.add(number)

    def _turns(self, group: Group, edge_round: int, team: list[Participation]) -> Iterator[ProcessGenerator]:
        """Return the processes of the sensors in an edge round."""
        turn = edge_turn(self._turn, self._plan.edge_rounds, edge_round)
        chain = ChainId(turn, self._turn - 1, group.number)
        return (self._turn_of(chain, edge_round, sensor, team) for sensor in group.sensors)

    def _turn_of(self, chain: ChainId, edge_round: int, sensor: int, team: list[Participation]) -> ProcessGenerator:
        arriving, leaving = Hop(edge_round, STATION, sensor), Hop(edge_round + 1, sensor, STATION)
        conditions = self._conditions
        if conditions is None:
            team.append((yield from self._visit(chain, arriving, leaving, Visit(sensor))))
            return
        own = len(self._plan.groups) + sensor  # a number that no cell has
        self.enter(own)
        try:
            team.append((yield from self._visit_with_retries(conditions, chain, arriving, leaving, Visit(sensor))))
        except (GivenUp, Interrupt) as reason:
            conditions.log.of_sensor("skip", sensor, describe_failure(reason))
        self.leave(own)
