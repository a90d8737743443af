"""A base station in a factory where things go wrong: transfers wait, pause, start again, slow down or are lost.

When its cell or its sensor's radio goes down, a transfer leaves the air with the airtime it has had. When both are back
it goes on with what it lacks, or from its beginning, as the profile says; then what was sent counts as sent again. A
page or a set-up is begun anew. When a sensor's rate changes, its transfer goes on at once with what it lacks, at the
new rate; where a channel is served first come, first served, it lines up again.
"""

from simpy import Environment, Interrupt
from simpy.events import ProcessGenerator

from hfedms_sim.rounds import EVERYONE
from hfedms_sim.scenario import Cell as CellSettings
from hfedms_sim.trace import Outcome
from hfedms_sim.transfers import Demand, Timeline, Transfer
from hfedms_sim.world.cell import Attempt, Cell, Surroundings
from hfedms_sim.world.faults.conditions import Conditions
from hfedms_sim.world.faults.waiting import Disturbed, GivenUp

_NOTHING = Demand(0.0, 0)
_MOST_BREAKS = 1000  # in a row, in which a transfer has come no further


class PayloadLost(Exception):  # noqa: N818  what happened, as simpy.Interrupt is to a process
    """A transfer has had all its airtime, and its payload has not arrived."""


class _Pieces:
    """What a transfer has had so far, in one piece or in several."""

    __slots__ = ("breaks", "energy_j", "held_s", "paused_s", "ready_s", "sent", "share_left", "start_s")

    def __init__(self, ready_s: float, is_metered: bool) -> None:
        self.ready_s = ready_s
        self.start_s: float | None = None
        self.sent = _NOTHING
        self.energy_j: float | None = 0.0 if is_metered else None
        self.share_left = 1.0
        self.breaks = 0
        self.held_s = self.paused_s = 0.0

    def wait(self, seconds: float) -> None:
        """Note that the transfer has waited for what was down."""
        if self.start_s is None:
            self.held_s += seconds
        else:
            self.paused_s += seconds

    def leave(self, share: float) -> None:
        """Note what is left of the transfer after a break; give up one that gets nowhere."""
        self.breaks = 0 if share < self.share_left else self.breaks + 1
        self.share_left = share
        if self.breaks >= _MOST_BREAKS:
            raise GivenUp(f"interrupted {self.breaks} times without getting further")

    def add(self, sent: Demand, start_s: float, energy_j: float | None) -> None:
        if self.start_s is None and sent.airtime_s:
            self.start_s = start_s
        self.sent = sent if self.sent is _NOTHING else self.sent.plus(sent)
        if self.energy_j is not None and energy_j is not None:
            self.energy_j += energy_j


class FailingCell(Cell):
    def __init__(
        self, env: Environment, number: int, settings: CellSettings, surroundings: Surroundings, conditions: Conditions
    ) -> None:
        super().__init__(env, number, settings, surroundings)
        self._restarts = settings.profile.on_outage == "restart"
        self._conditions = conditions

    def transmit(self, transfer: Transfer) -> ProcessGenerator:
        """Carry out a transfer through whatever happens, and note it.

        Raises what gave it up: `GivenUp` after the timeout, `PayloadLost` after all its airtime, an interrupt.
        """
        self._log.accept(transfer)
        pieces = _Pieces(self.env.now, self.meter is not None)
        listener = transfer.sensor if transfer.sensor != EVERYONE else -1
        attempt = Attempt()
        try:
            while True:
                waiting = self._conditions.wait_until_on_air(self.number, listener)
                if waiting is not None:
                    down_s = self.env.now
                    yield from waiting
                    pieces.wait(self.env.now - down_s)
                attempt = Attempt(pieces.share_left)
                try:
                    with self._conditions.interrupted_by_disturbance(self.number, listener):
                        start_s = yield from self._carry(transfer, attempt)
                    break
                except Interrupt as interrupt:
                    if not isinstance(interrupt.cause, Disturbed):
                        raise
                    if attempt.delivery is not None and self.medium.has_left(attempt.delivery):
                        start_s = yield attempt.delivery  # no outage can stop it any more
                        break
                    self._take_off(transfer, attempt, pieces)
        except Exception:
            pieces.add(*self._break_off(transfer, attempt))
            self._note(transfer, pieces, "aborted")
            raise
        is_last = transfer.direction == "up"
        energy_j = self._account(transfer, self.env.now, attempt.demand, is_last=is_last)
        pieces.add(attempt.demand, start_s, energy_j)
        if listener >= 0 and self._conditions.is_lost(transfer, listener):
            self._note(transfer, pieces, "lost")
            raise PayloadLost(f"{transfer.direction}link of sensor {listener} lost")
        self._note(transfer, pieces, "ok")

    def _demand_of(self, transfer: Transfer, attempt: Attempt) -> Demand:
        demand = self.demand(transfer)
        if self._conditions.has_shadows and self.medium.is_connected:
            rate_share = min(map(self._conditions.rate_share, transfer.radios))
            demand = demand._replace(airtime_s=demand.airtime_s / rate_share)
        return demand if attempt.share == 1.0 else self.medium.part(transfer, demand, attempt.share)

    def _take_off(self, transfer: Transfer, attempt: Attempt, pieces: _Pieces) -> None:
        """Note the airtime that a disturbed transfer has had, and what is left of it."""
        had = attempt.demand.airtime_s
        sent, start_s, energy_j = self._break_off(transfer, attempt)
        attempt.delivery, attempt.demand, attempt.is_begun = None, _NOTHING, False
        done = attempt.share * sent.airtime_s / had if had else 0.0
        share_left = max(0.0, attempt.share - done)
        if self._restarts and self._conditions.is_off_air(self.number, transfer.sensor):
            wasted_bytes = int((1.0 - share_left) * transfer.payload.size_bytes)
            sent = sent._replace(retransmitted_bytes=sent.retransmitted_bytes + wasted_bytes)
            share_left = 1.0
        pieces.add(sent, start_s, energy_j)
        pieces.leave(share_left)

    def _break_off(self, transfer: Transfer, attempt: Attempt) -> tuple[Demand, float, float | None]:
        """Break a transfer off as any cell does.

        A cell that was down, or a sensor that crashed, knows nothing of the connection any more.
        """
        forgets = self.medium.is_down = self._conditions.cell_is_down(self.number)
        broken = super()._break_off(transfer, attempt)
        self.connections.drop(
            (each for each in transfer.radios if forgets or self._conditions.has_crashed(each)), self.env.now
        )
        return broken

    def _note(self, transfer: Transfer, pieces: _Pieces, outcome: Outcome) -> None:
        now_s = self.env.now
        start_s = now_s if pieces.start_s is None else pieces.start_s
        timeline = Timeline(pieces.ready_s, start_s, now_s, pieces.held_s, pieces.paused_s)
        self._log.note(transfer, self.name, timeline, pieces.sent, pieces.energy_j, outcome)
