"""The factory on the simulated clock: plays a plan and tells what happened, and what it cost.

What happens step by step is in play/floor.py, what a round is made of in reports.py, chains.py and scattering.py beside
it, and what puts these together in round_play.py, window_play.py and team_play.py. The server's arithmetic takes no
time.
"""

from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from simpy import Environment
from simpy.events import ProcessGenerator

from hfedms_sim.errors import InputError
from hfedms_sim.rounds import Direction, NetworkView, Payload, Plan, RoundRecord, Samples
from hfedms_sim.scenario import Scenario
from hfedms_sim.schedule import redraw_rounds
from hfedms_sim.seeds import Draws
from hfedms_sim.trace import Trace
from hfedms_sim.world.cell import Cell, Surroundings
from hfedms_sim.world.energy.ledger import Ledger
from hfedms_sim.world.energy.meter import States, total_of
from hfedms_sim.world.energy.sensor_energy import SensorEnergy, sensor_energy
from hfedms_sim.world.failing_cell import FailingCell
from hfedms_sim.world.faults.conditions import Conditions, Stalled
from hfedms_sim.world.faults.log import FaultLog
from hfedms_sim.world.faults.paths import seconds_up
from hfedms_sim.world.faults.waiting import wait_until
from hfedms_sim.world.invariants import Invariants
from hfedms_sim.world.play.floor import Floor, Network
from hfedms_sim.world.play.reports import Reports
from hfedms_sim.world.play.round_play import RoundPlay
from hfedms_sim.world.play.team_play import TeamPlay
from hfedms_sim.world.play.under_way import UnderWay
from hfedms_sim.world.play.window_play import WindowPlay
from hfedms_sim.world.processes import Process
from hfedms_sim.world.processors import Processors
from hfedms_sim.world.radio.loss_draws import LossDraws
from hfedms_sim.world.sensor_rows import rates, write_sensors
from hfedms_sim.world.site.attachment import make_attachment
from hfedms_sim.world.streams.streams import Sizes, make_streams
from hfedms_sim.world.transfer_log import Traffic, TransferLog


class RoundCost(NamedTuple):
    """What a round took; no joules unless every cell's radio is modelled."""

    traffic: Traffic
    energy_j: float | None = None
    baseline_energy_j: float | None = None
    by_state_j: States | None = None

    def columns(self) -> dict[str, float | None]:
        """Return what a row of rounds says of it; null if joules are not modelled."""
        by_state_j = self.by_state_j
        joules = {f"{state}_j": None if by_state_j is None else getattr(by_state_j, state) for state in States._fields}
        spent_j = {"energy_j": self.energy_j, "baseline_energy_j": self.baseline_energy_j}
        return {**self.traffic._asdict(), **spent_j, **joules}


class World:
    """The factory of one run, on the simulated clock.

    Owns the clock, the cells, the floor, what goes wrong, the books of bytes and joules, and the chains that go on from
    one round to the next. `simulation/session.py` calls it for each round: `begin_round`, `report` if the strategy
    wants to know what sensors hold, `play`, `end_round`; and `end_run` after the last.
    """

    def __init__(self, scenario: Scenario, trace: Trace, sizes: Sizes | None = None) -> None:
        """`sizes`: how many samples each sensor owns, where that limits what it can capture."""
        self.env = Environment(0.0)
        self._scenario = scenario
        draws = self._draws = Draws(scenario.seed)
        self._attachment = make_attachment(scenario, draws)
        self.covered = self._attachment.covered
        """The sensors that can take part."""
        self._invariants = Invariants(scenario.seed)
        self._log = TransferLog(trace, scenario.sensors.count, self._invariants)
        self.faults = FaultLog(self.env, trace)
        self._conditions = None if scenario.is_steady else Conditions(self.env, scenario, draws, self.faults)
        self._ledger = Ledger(scenario.sensors.count)
        self._processors = Processors(scenario.compute, scenario.sensors.count, draws)
        self.cells = self._make_cells(LossDraws(draws, scenario.sensors.count))
        self.energy_j: float | None = 0.0
        """Joules spent since the beginning; None unless every cell's radio is modelled."""
        self.energy_by_state_j: States | None = States()
        """The same, by state."""
        streams = make_streams(scenario.stream, scenario.sensors.count, draws, sizes, redraw_rounds(scenario))
        network = Network(self.cells, self._attachment, scenario.backbone.latency_s)
        watched = self._invariants, self._conditions
        self._floor = Floor(self.env, network, self._processors, streams, trace, self._ledger, *watched)
        self._trace = trace
        self._under_way = UnderWay()
        self._round_start_s = 0.0
        self._called_s = 0.0  # when the roll was last called in the round, or it began
        self._settled_s = 0.0
        self._began_idle = True  # no chain went on when the last round ended
        self._multiple = -1  # of the period, at which the last round began
        self._empty_since_s: dict[int, float] = {}  # batteries
        for sensor in np.setdiff1d(np.arange(scenario.sensors.count), self.covered).tolist():
            self.faults.of_sensor("out of coverage", sensor, "takes no part in the run")
        if self.is_deserted:
            raise InputError("faults and availability leave nobody: every sensor in coverage is gone for ever at 0 s")

    def _make_cells(self, loss_draws: LossDraws) -> tuple[Cell, ...]:
        around = Surroundings(self._draws, loss_draws, self._attachment, self._log, self._ledger, self._invariants)
        numbered = enumerate(self._scenario.cells)
        if self._conditions is None:
            return tuple(Cell(self.env, number, settings, around) for number, settings in numbered)
        if self._conditions.has_batteries and any(cell.profile.energy is None for cell in self._scenario.cells):
            raise InputError("faults: battery needs radios whose currents are known; profile.energy is missing")
        conditions = self._conditions
        return tuple(FailingCell(self.env, number, settings, around, conditions) for number, settings in numbered)

    def cell_of(self, sensor: int) -> Cell:
        return self._floor.cell_of(sensor)

    @property
    def now_s(self) -> float:
        return self.env.now

    @property
    def payload_bytes(self) -> dict[Direction, int]:
        """The payloads that have arrived since the beginning."""
        return self._log.payload_bytes

    def begin_round(self, round_number: int) -> None:
        """Begin a round: when it is due, the server is up, and a sensor is there."""
        self._floor.round = self.faults.round = self._log.round = round_number
        try:
            if self._conditions is not None:
                self._await_begin(self._conditions)
        finally:
            self._round_start_s = self._called_s = self.env.now
            self._invariants.begin_round(round_number, self.env.now)

    def _await_begin(self, conditions: Conditions) -> None:
        period_s = self._scenario.round_period_s
        if period_s is not None:
            self._run(wait_until(self.env, self._next_begin_s(period_s)))
        self._run(conditions.wait_until_round_can_begin(self.covered))
        conditions.begin_round(self.covered, min(self._under_way.rounds, default=None))

    def _next_begin_s(self, period_s: float) -> float:
        """Return the first multiple of the period that is not in the past, and at which no round has begun."""
        self._multiple = max(self._multiple + 1, ceil(self.env.now / period_s))
        return period_s * self._multiple

    def end_round(self) -> RoundCost:
        """Return what was spent since the last call."""
        self._invariants.end_round(self.env.now, sum(self.payload_bytes.values()), self.chains_under_way)
        if self._conditions is not None:
            self._conditions.end_round()
            if not self.chains_under_way:
                self._invariants.check_idle("a watch for faults", self._conditions.is_unwatched)
        cost = self._settle()
        has_barriers = self._began_idle and not self.chains_under_way
        self._began_idle = not self.chains_under_way
        by_state_j = cost.by_state_j if has_barriers else self.energy_by_state_j
        if by_state_j is not None:
            self._invariants.check_energy(by_state_j)
        if self._conditions is not None and self._conditions.has_batteries:
            self._empty_batteries(self._conditions)
        return cost

    def _settle(self) -> RoundCost:
        work_j, self._floor.work_j = self._floor.work_j, 0.0
        radio = [cell.end_round(is_idle=not self.chains_under_way) for cell in self.cells]
        self._ledger.settle()
        for cell in self.cells:
            cell.go_on()
        self._settled_s = self.env.now
        modelled = [each for each in radio if each is not None]
        if self.energy_j is None or len(modelled) < len(radio):
            self.energy_j = self.energy_by_state_j = None
            return RoundCost(self._log.collect())
        baseline_j = sum(each.baseline_j for each in modelled)
        total_j = work_j + baseline_j + sum(each.transfers_j for each in modelled)
        self.energy_j += total_j
        by_state_j = total_of(each.joules for each in modelled)._replace(compute=work_j)
        self.energy_by_state_j = total_of([self.energy_by_state_j or States(), by_state_j])
        return RoundCost(self._log.collect(), total_j, baseline_j, by_state_j)

    def energy_of_sensors(self) -> SensorEnergy:
        """Return what each sensor has spent until the end of the last round; NaN where its radio is not modelled."""
        cells = self._attachment.cells(np.arange(self._ledger.sensors))
        powers = [None if cell.meter is None else cell.meter.power for cell in self.cells]
        return sensor_energy(self._ledger, powers, cells, self._settled_s)

    def _empty_batteries(self, conditions: Conditions) -> None:
        """Let sensors that have spent their charge be gone for ever."""
        settings = self._scenario.sensors
        for sensor in np.flatnonzero(self.energy_of_sensors().total_j >= settings.battery_j).tolist():
            if sensor not in self._empty_since_s:
                self._empty_since_s[sensor] = self.env.now
                conditions.remove_for_good(sensor)
                self.faults.of_sensor("empty battery", sensor, f"spent {settings.battery_wh:g} Wh")

    def network(self) -> NetworkView:
        """Return what a server could know of the sensors' links now."""
        sensors, profiles = np.arange(self._ledger.sensors), [cell.profile for cell in self._scenario.cells]
        covered, conditions = np.isin(sensors, self.covered), self._conditions
        known = rates(self._scenario, self._attachment, sensors, covered)
        charge = None
        if conditions is not None and conditions.has_batteries:
            charge = np.maximum(0.0, 1.0 - self.energy_of_sensors().total_j / self._scenario.sensors.battery_j)
        return NetworkView(
            cell=self._attachment.cells(sensors),
            uplink_bps=known["uplink_bps"],
            downlink_bps=known["downlink_bps"],
            coverage_class=known["coverage_class"],
            last_uplink_s=self._log.of_sensors.last_s("up"),
            last_downlink_s=self._log.of_sensors.last_s("down"),
            last_work_s=np.array(self._floor.last_work_s),
            uplink_channels=np.array([profile.channels_in("up") for profile in profiles]),
            downlink_channels=np.array([profile.channels_in("down") for profile in profiles]),
            has_one_airtime=np.array([profile.duplex == "cell-half" for profile in profiles]),
            can_multicast=np.array([profile.multicast for profile in profiles]),
            battery_share=charge,
            here_until_s=None if conditions is None else conditions.expected_until_s(len(sensors)),
        )

    def end_run(self) -> None:
        """Write the table of sensors, when the last round has ended."""
        write_sensors(
            self._trace.sensors,
            self._scenario,
            self._attachment,
            self._processors,
            self._log.of_sensors,
            self.energy_of_sensors(),
            self._availability(),
            self.faults.by_sensor,
        )

    def _availability(self) -> NDArray[np.float64] | None:
        """Return the share of the run in which each sensor could be reached; None if that was not worked out."""
        covered = np.isin(np.arange(self._ledger.sensors), self.covered).astype(np.float64)
        if self._conditions is None or not self.env.now:
            return covered
        charged_s = np.full(self._ledger.sensors, self.env.now)
        charged_s[list(self._empty_since_s)] = list(self._empty_since_s.values())
        up_s = seconds_up(self._scenario, self._draws, charged_s)
        return None if up_s is None else covered * up_s / self.env.now

    @property
    def is_deserted(self) -> bool:
        """Whether every sensor is gone for ever."""
        return self._conditions is not None and self._conditions.are_gone(self.covered)

    @property
    def expected(self) -> NDArray[np.int64]:
        """The sensors that can be asked to take part: in coverage, not announced to be away, and idle."""
        there = self._there(self.covered)
        return np.setdiff1d(there, self.under_way, assume_unique=True) if self.chains_under_way else there

    @property
    def under_way(self) -> NDArray[np.int64]:
        """The sensors of chains that go on, ascending."""
        return self._under_way.sensors

    @property
    def expected_back(self) -> NDArray[np.int64]:
        """Those of them that are not announced to be away by now."""
        return self._there(self.under_way)

    def _there(self, sensors: NDArray[np.int64]) -> NDArray[np.int64]:
        return sensors if self._conditions is None else self._conditions.expected(sensors)

    @property
    def has_windows(self) -> bool:
        """Whether chains have gone on from one round to the next."""
        return self._under_way.models > 0

    @property
    def chains_under_way(self) -> int:
        return len(self._under_way)

    def report(self, payload: Payload) -> dict[int, Samples]:
        """Let every sensor that is expected capture a batch now, and send its class counts to the server.

        Returns what each sensor that answered has captured. If none answers, the roll is called again.
        """
        reports = Reports(self._floor, payload, self._closes_s)
        for _ in range(self._scenario.recovery.void_rounds):
            answered = reports.play(self.expected.tolist())
            if answered or self._conditions is None or self.chains_under_way:
                return answered
            if self._conditions.are_gone(self.covered):
                raise Stalled("every sensor is gone for ever")
            self._run(self._conditions.wait_until_round_can_begin(self.covered))
            self._called_s = self.env.now
            reports.closes_s = self._closes_s
        raise Stalled(f"nobody has answered {self._scenario.recovery.void_rounds} roll calls")

    def play(self, plan: Plan) -> RoundRecord:
        """Play a planned round on the clock until it ends, and return what happened.

        It is a window if its chains may go on after it, a round of teams if it has edge rounds, else a round with a
        barrier. Where something may go wrong, a full round without any group or chain first waits for the timeout.
        """
        is_nobody_there = not (plan.groups or self.chains_under_way)
        if self._conditions is not None and is_nobody_there and plan.phase == "full":
            gives_up_s = self.env.now + self._scenario.recovery.timeout_s  # until then a sensor may come back
            self._run(wait_until(self.env, gives_up_s))
        about = self._floor, plan, self._closes_s, self._scenario.quorum
        if plan.carries_over:
            return WindowPlay(*about, self._under_way).play(self._round_start_s)
        playing = TeamPlay(*about) if plan.edge_rounds else RoundPlay(*about)
        return playing.play(self._round_start_s)

    def without_anybody(self, round_number: int, cycle: int) -> RoundRecord:
        """Return the record of a round that could not be planned, because no sensor will ever take part."""
        return RoundRecord(round_number, cycle, "full", (), (), self._round_start_s, self.env.now)

    @property
    def _closes_s(self) -> float | None:
        """Return when the round is closed, however many chains have arrived by then; None: it awaits all."""
        deadline_s = self._scenario.deadline_s
        return None if deadline_s is None else self._called_s + deadline_s

    def _run(self, process: ProcessGenerator) -> None:
        """Let the clock run until a process has ended."""
        self.env.run(Process(self.env, process))
