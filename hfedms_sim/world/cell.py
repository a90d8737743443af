"""A base station, and how a transfer over it goes: set-up, airtime, latency.

The medium is shared (shared_medium.py) or carries single frames (frame_medium.py). When sensors have to connect first
is the business of the cell's connections (connections.py), what they spend that of its meter (energy.py).
"""

from simpy import Environment
from simpy.events import ProcessGenerator

from hfedms_sim.scenario import Cell as CellSettings
from hfedms_sim.scenario import NetworkProfile
from hfedms_sim.seeds import Draws
from hfedms_sim.world.attachment import Attachment
from hfedms_sim.world.connections import Connections
from hfedms_sim.world.delivery import Delivery
from hfedms_sim.world.energy import EnergyMeter, RoundEnergy
from hfedms_sim.world.frame_medium import FrameMedium
from hfedms_sim.world.loss_draws import LossDraws
from hfedms_sim.world.medium import Medium
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
    ) -> None:
        profile = settings.profile
        self.env = env
        self.name = settings.name
        self._attachment = attachment
        self._log = log
        self.medium = _medium(env, profile, draws, loss_draws, attachment, number)
        self.connections = Connections(
            env, profile.setup_s, profile.inactivity_s, sleeps_while_waiting=not self.medium.is_connected
        )
        self._meter = None if profile.energy is None else EnergyMeter(profile.energy, attachment.attached(number))

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
        delivery, demand = None, Demand(0.0, 0)
        try:
            set_up = self.connections.set_up(transfer.radios, ready_s)
            if set_up is not None:
                yield set_up
            known = self.medium.announce(transfer)
            if known is not None:
                yield known
            demand = self.demand(transfer)
            delivery = self.medium.send(transfer, demand)
            start_s = yield delivery
        except Exception:
            self._abort(transfer, ready_s, delivery, demand)
            raise
        end_s = self.env.now
        energy_j = self._account(transfer, end_s, demand)
        self._log.note(transfer, self.name, ready_s, start_s, end_s, demand, energy_j, "ok")

    def end_round(self) -> RoundEnergy | None:
        """Return the joules since the last call, if they are modelled."""
        now_s = self.env.now
        connected_s = self.connections.collect_connected_s(now_s)
        return None if self._meter is None else self._meter.end_round(now_s, connected_s)

    def _account(self, transfer: Transfer, now_s: float, taken: Demand) -> float | None:
        """Restart the inactivity timers of a transfer that has just ended, and return its joules if modelled."""
        self.connections.use(transfer.radios, now_s, taken.airtime_s)
        if self._meter is None:
            return None
        if taken.extra_transmit_s or taken.extra_receive_s:
            for sensor in transfer.radios:
                self._meter.bill(sensor, "transmit", taken.extra_transmit_s)
                self._meter.bill(sensor, "receive", taken.extra_receive_s)
        return self._meter.transfer(transfer.direction, taken.airtime_s, len(transfer.radios))

    def _abort(self, transfer: Transfer, ready_s: float, delivery: Delivery | None, demand: Demand) -> None:
        now_s = self.env.now
        if delivery is None:
            self.medium.renounce(transfer)
            self.connections.abandon_set_up(transfer.radios, now_s)
            energy_j = None if self._meter is None else 0.0
            self._log.note(transfer, self.name, ready_s, now_s, now_s, Demand(0.0, 0), energy_j, "aborted")
            return
        sent = demand.until(delivery.cancel())
        energy_j = self._account(transfer, now_s, sent)
        start_s = now_s if delivery.began_s is None else min(delivery.began_s, now_s)
        self._log.note(transfer, self.name, ready_s, start_s, now_s, sent, energy_j, "aborted")


def _medium(
    env: Environment, profile: NetworkProfile, draws: Draws, loss_draws: LossDraws, attachment: Attachment, cell: int
) -> Medium:
    if profile.frames is not None:
        return FrameMedium(env, profile, attachment.coverage_class, loss_draws)
    return SharedMedium(env, profile, draws, loss_draws, cell)
