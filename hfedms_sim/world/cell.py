"""A base station, and how a transfer over it goes: page, set-up, airtime, latency.

The medium is shared (shared_medium.py) or carries single frames (frame_medium.py). When sensors have to connect first
is the business of the cell's connections (energy/connections.py), what they spend that of its meter (energy/meter.py).
"""

from typing import NamedTuple

from simpy import Environment, Timeout
from simpy.events import ProcessGenerator

from hfedms_sim.rounds import Direction
from hfedms_sim.scenario import Cell as CellSettings
from hfedms_sim.scenario import NetworkProfile
from hfedms_sim.seeds import Draws
from hfedms_sim.transfers import Demand, Timeline, Transfer
from hfedms_sim.world.energy.connections import Connections
from hfedms_sim.world.energy.ledger import Ledger
from hfedms_sim.world.energy.meter import EnergyMeter, RoundEnergy
from hfedms_sim.world.energy.paging import Paging
from hfedms_sim.world.invariants import Invariants
from hfedms_sim.world.radio.delivery import Delivery
from hfedms_sim.world.radio.frame_medium import FrameMedium
from hfedms_sim.world.radio.loss_draws import LossDraws
from hfedms_sim.world.radio.medium import Medium
from hfedms_sim.world.radio.shared_medium import SharedMedium
from hfedms_sim.world.site.attachment import Attachment
from hfedms_sim.world.transfer_log import TransferLog


class Attempt:
    """How far a transfer has come."""

    __slots__ = ("delivery", "demand", "is_begun", "share")

    def __init__(self, share: float = 1.0) -> None:
        self.share = share
        """The part of the payload that is still to be sent."""
        self.is_begun = False
        """Whether its sensors have been paged, and set up their connections for it."""
        self.demand = Demand(0.0, 0)
        self.delivery: Delivery | None = None
        """While it is on the air."""


class Surroundings(NamedTuple):
    """What all cells of a run have in common: the seed's draws, who is where, and the books they write into."""

    draws: Draws
    loss_draws: LossDraws
    attachment: Attachment
    log: TransferLog
    """What became of transfers."""
    ledger: Ledger
    """What sensors spend."""
    invariants: Invariants


class Cell:
    """One base station, and the transfers over it.

    Owns its medium, the connections of its sensors and, if the radio's currents are known, the meter of their joules.
    `Floor.transmit` calls it for each transfer, `World` at the end of each round. `FailingCell` takes its place where
    something may go wrong.
    """

    def __init__(self, env: Environment, number: int, settings: CellSettings, surroundings: Surroundings) -> None:
        draws, loss_draws, attachment, log, ledger, self._invariants = surroundings
        self._airtime_s: dict[Direction, float] = {"up": 0.0, "down": 0.0}
        self._checked_s = env.now
        profile = settings.profile
        self.env = env
        self.number = number
        self.name = settings.name
        self._attachment = attachment
        self._log = log
        self.meter = _meter(profile, attachment.attached(number), ledger)
        self.medium = _medium(env, profile, draws, loss_draws, number, attachment)
        self.connections = Connections(
            env,
            profile.setup_s,
            profile.inactivity_s,
            sleeps_while_waiting=not self.medium.is_connected,
            release_assistance=profile.release_assistance,
            paging=_paging(profile, draws),
            meter=self.meter,
            ledger=None if self.meter is None else ledger,
        )

    def demand(self, transfer: Transfer) -> Demand:
        """Return what a transfer takes; a broadcast goes at the rate of its slowest listener."""
        direction, radios = transfer.direction, transfer.radios
        rate_share = self._attachment.factor(direction, radios[0])
        if len(radios) > 1:
            rate_share = min(self._attachment.factor(direction, sensor) for sensor in radios)
        return self.medium.demand(transfer, rate_share)

    def transmit(self, transfer: Transfer) -> ProcessGenerator:
        """Carry out a transfer that is ready now: wait until the payload has arrived, and note it.

        Where this is interrupted, or the delivery fails, the transfer is taken off the air, noted as aborted with the
        airtime it has had, and the exception goes on.
        """
        ready_s, attempt = self.env.now, Attempt()
        self._log.accept(transfer)
        try:
            start_s = yield from self._carry(transfer, attempt)
        except Exception:
            sent, start_s, energy_j = self._break_off(transfer, attempt)
            self._log.note(transfer, self.name, Timeline(ready_s, start_s, self.env.now), sent, energy_j, "aborted")
            raise
        end_s, demand = self.env.now, attempt.demand
        energy_j = self._account(transfer, end_s, demand, is_last=transfer.direction == "up")
        self._log.note(transfer, self.name, Timeline(ready_s, start_s, end_s), demand, energy_j, "ok")

    def _carry(self, transfer: Transfer, attempt: Attempt) -> ProcessGenerator:
        """Bring a transfer, or the share of it that the attempt is for, to its receiver; return when its air began."""
        if transfer.direction == "down" and (wait_s := self.connections.page_wait_s(transfer.radios, self.env.now)):
            yield Timeout(self.env, wait_s)
        attempt.is_begun = True
        set_up = self.connections.set_up(transfer.radios, self.env.now)
        if set_up is not None:
            yield set_up
        known = self.medium.announce(transfer)
        if known is not None:
            yield known
        attempt.demand = demand = self._demand_of(transfer, attempt)
        attempt.delivery = delivery = self.medium.send(transfer, demand)
        start_s: float = yield delivery
        return start_s

    def _demand_of(self, transfer: Transfer, attempt: Attempt) -> Demand:
        return self.demand(transfer)

    def end_round(self, *, is_idle: bool = True) -> RoundEnergy | None:
        """Return the joules since the last call, if they are modelled; `is_idle`: nothing can be on the air now."""
        now_s = self.env.now
        self._check_airtime(now_s, is_idle)
        self.connections.count_set_ups_under_way(now_s, as_done=False)
        held = self.connections.collect(now_s)
        return None if self.meter is None else self.meter.end_round(now_s, held, is_idle=is_idle)

    def go_on(self) -> None:
        """Begin the books of the next round, when those of the last are settled."""
        self.connections.count_set_ups_under_way(self.env.now, as_done=True)

    def _account(self, transfer: Transfer, now_s: float, taken: Demand, *, is_last: bool) -> float | None:
        """Restart the inactivity timers of a transfer that has just ended, and return its joules if modelled."""
        self._airtime_s[transfer.direction] += taken.airtime_s
        self.connections.use(transfer.radios, now_s, taken.airtime_s, is_last=is_last)
        if self.meter is None:
            return None
        if taken.extra_transmit_s or taken.extra_receive_s:
            for sensor in transfer.radios:
                self.meter.bill(sensor, "transmit", taken.extra_transmit_s)
                self.meter.bill(sensor, "receive", taken.extra_receive_s)
        return self.meter.transfer(transfer.direction, taken.airtime_s, transfer.radios)

    def _check_airtime(self, now_s: float, is_idle: bool) -> None:
        """Check that no more airtime was given than there was, since this cell was last known to be idle."""
        given_s, since_s = self._airtime_s, now_s - self._checked_s
        for directions, channels in self.medium.capacities:
            total_s = sum(given_s[direction] for direction in directions)
            self._invariants.check_airtime(self.name, directions[0], total_s, channels, since_s)
        if is_idle:
            self._invariants.check_idle(f"the air of cell {self.name}", self.medium.is_idle)
            self._airtime_s, self._checked_s = {"up": 0.0, "down": 0.0}, now_s

    def _break_off(self, transfer: Transfer, attempt: Attempt) -> tuple[Demand, float, float | None]:
        """Take a transfer off the air; return what it has had, when its airtime began, and its joules."""
        now_s, delivery = self.env.now, attempt.delivery
        if delivery is None:
            if attempt.is_begun:
                self.connections.abandon_set_up(transfer.radios, now_s)
            self.medium.renounce(transfer)
            return Demand(0.0, 0), now_s, None if self.meter is None else 0.0
        sent = attempt.demand.taken_after(delivery.cancel())
        energy_j = self._account(transfer, now_s, sent, is_last=False)
        return sent, now_s if delivery.began_s is None else min(delivery.began_s, now_s), energy_j


def _medium(
    env: Environment, profile: NetworkProfile, draws: Draws, loss_draws: LossDraws, cell: int, attachment: Attachment
) -> Medium:
    if profile.frames is not None:
        return FrameMedium(env, profile, attachment.coverage_class, loss_draws)
    return SharedMedium(env, profile, draws, loss_draws, cell, attachment)


def _meter(profile: NetworkProfile, sensors: int, ledger: Ledger) -> EnergyMeter | None:
    if profile.energy is None:
        return None
    return EnergyMeter(
        profile.energy,
        sensors,
        ledger,
        idle=profile.idle,
        setup_s=profile.setup_s,
        sleeps_while_waiting=profile.frames is not None,
    )


def _paging(profile: NetworkProfile, draws: Draws) -> Paging | None:
    """Return when released sensors can be reached; None: at any time."""
    if profile.idle is None or profile.idle.mode == "listening":
        return None
    return Paging(profile.idle, draws)
