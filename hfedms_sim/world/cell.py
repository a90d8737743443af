"""A base station, and how a transfer over it goes: page, set-up, airtime, latency.

The medium is shared (shared_medium.py) or carries single frames (frame_medium.py). When sensors have to connect first
is the business of the cell's connections (connections.py), what they spend that of its meter (energy.py).
"""

from simpy import Environment, Timeout
from simpy.events import ProcessGenerator

from hfedms_sim.scenario import Cell as CellSettings
from hfedms_sim.scenario import NetworkProfile
from hfedms_sim.seeds import Draws
from hfedms_sim.world.attachment import Attachment
from hfedms_sim.world.connections import Connections
from hfedms_sim.world.delivery import Delivery
from hfedms_sim.world.energy import EnergyMeter, RoundEnergy
from hfedms_sim.world.frame_medium import FrameMedium
from hfedms_sim.world.ledger import Ledger
from hfedms_sim.world.loss_draws import LossDraws
from hfedms_sim.world.medium import Medium
from hfedms_sim.world.paging import Paging
from hfedms_sim.world.shared_medium import SharedMedium
from hfedms_sim.world.transfer import Demand, Transfer
from hfedms_sim.world.transfer_log import TransferLog


class Cell:
    def __init__(
        self,
        env: Environment,
        number: int,
        settings: CellSettings,
        draws: Draws,
        loss_draws: LossDraws,
        attachment: Attachment,
        log: TransferLog,
        ledger: Ledger,
    ) -> None:
        """`log` and `ledger` are those of the run: what became of transfers, and what sensors spend."""
        profile = settings.profile
        self.env = env
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
        ready_s = self.env.now
        delivery, demand, is_paged = None, Demand(0.0, 0), True
        try:
            if transfer.direction == "down" and (wait_s := self.connections.page_wait_s(transfer.radios, ready_s)):
                is_paged = False
                yield Timeout(self.env, wait_s)
                is_paged = True
            set_up = self.connections.set_up(transfer.radios, self.env.now)
            if set_up is not None:
                yield set_up
            known = self.medium.announce(transfer)
            if known is not None:
                yield known
            demand = self.demand(transfer)
            delivery = self.medium.send(transfer, demand)
            start_s = yield delivery
        except Exception:
            if is_paged and delivery is None:
                self.connections.abandon_set_up(transfer.radios, self.env.now)
            self._abort(transfer, ready_s, delivery, demand)
            raise
        end_s = self.env.now
        energy_j = self._account(transfer, end_s, demand, is_last=transfer.direction == "up")
        self._log.note(transfer, self.name, ready_s, start_s, end_s, demand, energy_j, "ok")

    def end_round(self) -> RoundEnergy | None:
        """Return the joules since the last call, if they are modelled."""
        now_s = self.env.now
        held = self.connections.collect(now_s)
        return None if self.meter is None else self.meter.end_round(now_s, held)

    def _account(self, transfer: Transfer, now_s: float, taken: Demand, *, is_last: bool) -> float | None:
        """Restart the inactivity timers of a transfer that has just ended, and return its joules if modelled."""
        self.connections.use(transfer.radios, now_s, taken.airtime_s, is_last=is_last)
        if self.meter is None:
            return None
        if taken.extra_transmit_s or taken.extra_receive_s:
            for sensor in transfer.radios:
                self.meter.bill(sensor, "transmit", taken.extra_transmit_s)
                self.meter.bill(sensor, "receive", taken.extra_receive_s)
        return self.meter.transfer(transfer.direction, taken.airtime_s, transfer.radios)

    def _abort(self, transfer: Transfer, ready_s: float, delivery: Delivery | None, demand: Demand) -> None:
        now_s = self.env.now
        if delivery is None:
            self.medium.renounce(transfer)
            energy_j = None if self.meter is None else 0.0
            self._log.note(transfer, self.name, ready_s, now_s, now_s, Demand(0.0, 0), energy_j, "aborted")
            return
        sent = demand.until(delivery.cancel())
        energy_j = self._account(transfer, now_s, sent, is_last=False)
        start_s = now_s if delivery.began_s is None else min(delivery.began_s, now_s)
        self._log.note(transfer, self.name, ready_s, start_s, now_s, sent, energy_j, "aborted")


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
