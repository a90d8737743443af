"""What is down, and how processes wait for it: the conditions of a run in which something may go wrong.

A run without faults, in which no sensor is ever away and every round awaits all its chains, has no `Conditions`, and
calls nothing of this.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from math import inf

import numpy as np
from numpy.typing import NDArray
from simpy import Environment, Timeout
from simpy.events import ProcessGenerator

from hfedms_sim.scenario import Scenario
from hfedms_sim.scenario.faults import (
    BackboneOutage,
    Battery,
    CellOutage,
    SensorCrash,
    ServerOutage,
    Shadowing,
    Straggler,
    TransferLoss,
)
from hfedms_sim.seeds import Draws
from hfedms_sim.transfers import Transfer
from hfedms_sim.units import format_seconds
from hfedms_sim.world.faults.absences import absences_of
from hfedms_sim.world.faults.log import FaultLog
from hfedms_sim.world.faults.paths import joint_path, paths_of, sensors_path, spells_between
from hfedms_sim.world.faults.spells import Spells
from hfedms_sim.world.faults.waiting import (
    Crashed,
    Disturbed,
    GivenUp,
    Interrupting,
    Part,
    Watch,
    wait_until,
    wait_until_up,
)
from hfedms_sim.world.processes import running

_CRASHED, _DISTURBED = Crashed(), Disturbed()  # causes of interrupts
_NOTHING_HAPPENS = nullcontext()
_ONLY = 0  # the entity number of the backbone, and of the server: there is one of each


class Stalled(Exception):  # noqa: N818  why a run ends
    """No round can begin any more: what it needs is down for ever, or no sensor answers."""


class Conditions:
    """What is up and what is down in a run in which something may go wrong, at the clock's present time.

    Owns the paths of all faults and announced absences, and the watches on them. `World` makes one for a run, and waits
    with it until a round can begin; `Floor`, the stages of a round (play/) and `FailingCell` ask it whether a part is
    up, wait for the part, and let it interrupt them. A wait is a process to `yield from`, or None if there is nothing
    to wait for.
    """

    def __init__(self, env: Environment, scenario: Scenario, draws: Draws, log: FaultLog) -> None:
        self.env = env
        self.log = log
        self.recovery = scenario.recovery
        self.has_batteries = any(isinstance(fault, Battery) for fault in scenario.faults)
        self._draws = draws
        self._cell_names = [f"cell {cell.name}" for cell in scenario.cells]
        self._cells = Watch(env, joint_path(scenario, draws, CellOutage))
        self._backbone = Part(joint_path(scenario, draws, BackboneOutage), _ONLY, "the backbone")
        self._server = Part(joint_path(scenario, draws, ServerOutage), _ONLY, "the server")
        self._reach = sensors_path(scenario, draws)
        self._radios = Watch(env, self._reach)
        self._crashes = Watch(env, joint_path(scenario, draws, SensorCrash))
        self._shadows = [(Watch(env, path), fault.rate_share) for fault, path in paths_of(scenario, draws, Shadowing)]
        self.has_shadows = bool(self._shadows)
        self._slow = [(path, fault.factor) for fault, path in paths_of(scenario, draws, Straggler)]
        self._loss_probability = sum(each.probability for each in scenario.faults if isinstance(each, TransferLoss))
        self._sent_before: dict[int, dict[tuple[str, int, str], int]] = {}  # by turn
        away = absences_of(scenario.availability, scenario.sensors.count)
        self._announced = away if scenario.availability.kind != "always" and scenario.availability.announced else None
        self._diary = OutageDiary(scenario, draws)
        self._can_be_cut_off = any(isinstance(each, BackboneOutage | ServerOutage) for each in scenario.faults)
        self._cells_fail = not self._cells.never_changes
        self._watched_radios = tuple(
            watch for watch in (self._radios, *(watch for watch, _ in self._shadows)) if not watch.never_changes
        )

    def begin_round(self, sensors: NDArray[np.int64], oldest_turn: int | None) -> None:
        """Forget the transfers of turns before `oldest_turn`, None: of all; look ahead for these sensors in one go."""
        for turn in [each for each in self._sent_before if oldest_turn is None or each < oldest_turn]:
            del self._sent_before[turn]
        self._reach.prepare(sensors, self.env.now)
        self._crashes.spells.prepare(sensors, self.env.now)

    def end_round(self) -> None:
        """Write rows of the outages that have begun since the last round."""
        for begin_s, entity, for_s in self._diary.read(self.env.now):
            lasts = "for ever" if for_s == inf else f"for {format_seconds(for_s)}"
            self.log.note("outage", entity, lasts, begin_s)

    @property
    def is_unwatched(self) -> bool:
        """Whether no process is to hear of a change any more."""
        watches = (self._cells, self._radios, self._crashes, *(watch for watch, _ in self._shadows))
        return all(watch.is_unwatched for watch in watches)

    def wait_until_can_cross(self, *, with_server: bool) -> ProcessGenerator | None:
        """Return the wait until a payload can cross the backbone; one to or from the server needs that too."""
        if not self._can_be_cut_off:
            return None
        return self._wait_until_up(*((self._backbone, self._server) if with_server else (self._backbone,)))

    def require_hope(self, given_up: Sequence[Part], cell: int, *, crosses: bool, with_server: bool) -> None:
        """Raise `GivenUp` if a model on its way to this cell needs a part of `given_up` that is still down.

        `given_up` are the parts that its chain has waited for in vain before.
        """
        needed = [Part(self._cells.spells, cell, self._cell_names[cell])]
        needed += [self._backbone] if crosses else []
        needed += [self._server] if with_server else []
        for part in given_up:
            if part in needed and part.spell_at(self.env.now).is_down:
                raise GivenUp(f"{part.name} is still down")

    def wait_until_recovered(self, sensor: int) -> ProcessGenerator | None:
        """Return the wait until a sensor that has crashed is back."""
        if self._crashes.never_changes:
            return None
        return self._wait_until_up(Part(self._crashes.spells, sensor, "sensor"))

    def wait_until_on_air(self, cell: int, sensor: int) -> ProcessGenerator | None:
        """Return the wait until a cell and the radio of a sensor are up; a negative sensor: the cell alone."""
        if not self.is_off_air(cell, sensor):
            return None
        air = Part(self._cells.spells, cell, self._cell_names[cell])
        parts = (air,) if sensor < 0 else (air, Part(self._reach, sensor, "sensor"))
        return wait_until_up(self.env, parts, self.recovery.timeout_s)

    def _wait_until_up(self, *parts: Part) -> ProcessGenerator | None:
        now_s = self.env.now
        for part in parts:
            if part.spell_at(now_s).is_down:
                return wait_until_up(self.env, parts, self.recovery.timeout_s)
        return None

    def interrupted_by_crash(self, sensor: int) -> AbstractContextManager[None]:
        """Return a context in which a crash of the sensor interrupts the process that is running now."""
        if self._crashes.never_changes:
            return _NOTHING_HAPPENS
        return Interrupting(running(self.env), _CRASHED, ((self._crashes, sensor),))

    def interrupted_by_disturbance(self, cell: int, sensor: int) -> Interrupting:
        """Return a context in which the process that is running now is interrupted if its transfer cannot go on.

        That is when the cell, the sensor's radio or its rate changes; a negative sensor: the cell alone.
        """
        watched = [(watch, sensor) for watch in self._watched_radios] if sensor >= 0 else []
        if self._cells_fail:
            watched.append((self._cells, cell))
        return Interrupting(running(self.env), _DISTURBED, watched)

    def rate_share(self, sensor: int) -> float:
        """Return the share of its rates that a sensor has now."""
        share = 1.0
        for watch, rate_share in self._shadows:
            if watch.spells.spell_at(sensor, self.env.now).is_down:
                share *= rate_share
        return share

    def is_lost(self, transfer: Transfer, sensor: int) -> bool:
        """Return whether a transfer that has had its airtime is lost to a sensor; each try has a draw of its own."""
        if not self._loss_probability:
            return False
        which = transfer.direction, sensor, transfer.payload.kind
        sent = self._sent_before.setdefault(transfer.turn, {})
        number = sent[which] = sent.get(which, -1) + 1
        purpose = f"fault/transfer-loss/{transfer.direction}/{transfer.payload.kind}/{number}"
        return self._draws.one_uniform(purpose, sensor, transfer.turn) < self._loss_probability

    def work_at_current_speed(self, sensor: int, work_s: float) -> ProcessGenerator:
        """Let a sensor do work that takes `work_s` at its usual speed, and longer in a slow spell."""
        while work_s > 0:
            now_s, factor, changes_s = self.env.now, 1.0, inf
            for path, slower in self._slow:
                spell = path.spell_at(sensor, now_s)
                factor *= slower if spell.is_down else 1.0
                changes_s = min(changes_s, spell.until_s)
            if work_s * factor <= changes_s - now_s:
                yield Timeout(self.env, work_s * factor)
                return
            yield from wait_until(self.env, changes_s)
            work_s -= (self.env.now - now_s) / factor

    def is_off_air(self, cell: int, sensor: int) -> bool:
        """Return whether a cell, or the radio of a sensor, is down; a negative sensor: the cell alone."""
        radio_is_down = sensor >= 0 and self._reach.spell_at(sensor, self.env.now).is_down
        return radio_is_down or self.cell_is_down(cell)

    def cell_is_down(self, cell: int) -> bool:
        return self._cells_fail and self._cells.spells.spell_at(cell, self.env.now).is_down

    def has_crashed(self, sensor: int) -> bool:
        return self._crashes.spells.spell_at(sensor, self.env.now).is_down

    def listens(self, sensor: int) -> bool:
        """Return whether a sensor is up and its radio within reach."""
        return not (self.has_crashed(sensor) or self._reach.spell_at(sensor, self.env.now).is_down)

    def noting_losses(self, sensors: tuple[int, ...], lost: set[int]) -> ExitStack:
        """Return a context in which each of the sensors that goes out of reach or crashes is added to `lost`."""
        watching = ExitStack()
        for sensor in sensors:
            on_change = partial(lost.add, sensor)
            for watch in (self._radios, self._crashes):
                watch.subscribe(sensor, on_change)
                watching.callback(watch.unsubscribe, sensor, on_change)
        return watching

    def expected(self, sensors: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return those of the sensors that are not announced to be away now."""
        if self._announced is None:
            return sensors
        now_s, away = self.env.now, self._announced
        return np.array([each for each in sensors.tolist() if not away.spell_at(each, now_s).is_down], dtype=np.int64)

    def expected_until_s(self, sensors: int) -> NDArray[np.float64] | None:
        """Return until when each of the first n sensors is announced to be there; the present time: it is away.

        None: the scenario announces nothing.
        """
        if self._announced is None:
            return None
        spells_now = [self._announced.spell_at(sensor, self.env.now) for sensor in range(sensors)]
        return np.array([self.env.now if each.is_down else each.until_s for each in spells_now])

    def wait_until_round_can_begin(self, sensors: NDArray[np.int64]) -> ProcessGenerator:
        """Wait until the server is up and one of the sensors is not announced to be away, however long that takes."""
        while True:
            if (server := self._server.spell_at(self.env.now)).is_down:
                back_s, missing = server.until_s, "the server is down"
            elif self._announced is not None and not len(self.expected(sensors)):
                back_s, missing = self._next_back_s(self._announced, sensors), "everybody is away"
            else:
                return
            if back_s == inf:
                raise Stalled(f"{missing} for ever")
            yield from wait_until(self.env, back_s)

    def _next_back_s(self, absences: Spells, sensors: NDArray[np.int64]) -> float:
        return min(absences.spell_at(each, self.env.now).until_s for each in sensors.tolist())

    def are_gone(self, sensors: NDArray[np.int64]) -> bool:
        """Return whether all of the sensors are down for ever."""
        paths: tuple[Spells, ...] = (self._reach, self._crashes.spells)
        now_s = self.env.now
        return all(
            any((each := path.spell_at(sensor, now_s)).is_down and each.until_s == inf for path in paths)
            for sensor in sensors.tolist()
        )

    def remove_for_good(self, sensor: int) -> None:
        """Let a sensor be out of reach for ever: its battery is empty."""
        self._reach.end(sensor)


class OutageDiary:
    """The outages of cells, backbone and server, in the order of time."""

    def __init__(self, scenario: Scenario, draws: Draws) -> None:
        cells = joint_path(scenario, draws, CellOutage)
        self._paths: list[tuple[Spells, int, str]] = [
            (cells, number, f"cell {cell.name}") for number, cell in enumerate(scenario.cells)
        ]
        self._paths.append((joint_path(scenario, draws, BackboneOutage), _ONLY, "backbone"))
        self._paths.append((joint_path(scenario, draws, ServerOutage), _ONLY, "server"))
        self._read_until_s = -inf

    def read(self, now_s: float) -> list[tuple[float, str, float]]:
        """Return begin, name and length of those that have begun since the last call."""
        found = [
            (begin_s, name, end_s - begin_s)
            for path, entity, name in self._paths
            for begin_s, end_s in spells_between(path, entity, self._read_until_s, now_s)
        ]
        self._read_until_s = now_s
        return sorted(found)
