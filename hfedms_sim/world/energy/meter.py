"""Joules of the sensors' radios, by state.

Every second of a radio is in one state, and P = V I is its power there:

    transmit   d x airtime up, d being the share of it in which the transmitter is on
    receive    airtime down
    connected  connected without airtime: waiting, latency, until the release; and (1 - d) x airtime up
    setup      from the beginning of a connection until it can be used; joules of its own where the profile gives them
    idle       released and within reach: P sleep + E page / cycle (DRX, eDRX, the active time of PSM); P receive if it
               listens all the time
    sleep      released otherwise: P sleep; in PSM that wakes by itself also E (set-up + wake) / period
    compute    the processor's, beside the radio's time (world.py)

Airtime includes what is sent again. A transfer's joules are those of its airtime; everything else of a radio is the
baseline. Left out: ramps between states, temperature, self-discharge, the base station's own energy.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from hfedms_sim.rounds import Direction
from hfedms_sim.scenario import Currents, Idle
from hfedms_sim.world.energy.connections import Held
from hfedms_sim.world.energy.ledger import Ledger

_AMPERE = 1e-3  # per milliampere

BilledState = Literal["transmit", "receive", "connected"]


class States(NamedTuple):
    """A figure for each state, in the order of all tables."""

    transmit: float = 0.0
    receive: float = 0.0
    connected: float = 0.0
    setup: float = 0.0
    idle: float = 0.0
    sleep: float = 0.0
    compute: float = 0.0


def total_of(figures: Iterable[States]) -> States:
    """Return the sum over all, state by state."""
    return States(*map(sum, zip(*figures, strict=True)))


class RoundEnergy(NamedTuple):
    """What the radios of one cell took in one round."""

    transfers_j: float
    baseline_j: float
    joules: States
    seconds: States


class RadioPower(NamedTuple):
    """The power of one radio, by state."""

    transmit_w: float
    receive_w: float
    connected_w: float
    idle_w: float
    sleep_w: float
    transmit_duty: float
    rests_idle: bool
    """Whether a released radio that nobody needs is idle, not asleep."""

    @classmethod
    def of(cls, currents: Currents, idle: Idle | None, setup_s: float) -> "RadioPower":
        watt = currents.voltage_v * _AMPERE
        sleep_w, receive_w, connected_w = (
            current * watt for current in (currents.sleep_ma, currents.receive_ma, currents.connected_ma)
        )
        idle_w = sleep_w
        if idle is not None and idle.mode == "listening":
            idle_w = receive_w
        elif idle is not None and idle.pages_every_s is not None:
            idle_w += currents.page_j / idle.pages_every_s
        if idle is not None and idle.wakes_every_s is not None:
            woken_s = setup_s + idle.extra_setup_s
            sleep_w += set_up_j(currents, connected_w, woken_s, is_asleep=True) / idle.wakes_every_s
        rests_idle = idle is not None and idle.mode != "psm"
        transmit_w = currents.transmit_ma * watt
        return cls(transmit_w, receive_w, connected_w, idle_w, sleep_w, currents.transmit_duty, rests_idle)

    @property
    def uplink_w(self) -> float:
        """Return the power during the airtime of an uplink."""
        return self.transmit_duty * self.transmit_w + (1 - self.transmit_duty) * self.connected_w

    @property
    def rest_w(self) -> float:
        """Return the power of a sensor that nobody needs: it is released for ever."""
        return self.idle_w if self.rests_idle else self.sleep_w


def set_up_j(currents: Currents, connected_w: float, takes_s: float, *, is_asleep: bool) -> float:
    """Return the joules of a set-up that takes so long."""
    from_idle_j = connected_w * takes_s if currents.setup_j is None else currents.setup_j
    return from_idle_j + currents.wake_j if is_asleep else from_idle_j


class EnergyMeter:
    """What the radios of a cell's sensors spend. The ledger has it by sensor."""

    def __init__(
        self,
        currents: Currents,
        sensors: int,
        ledger: Ledger,
        *,
        idle: Idle | None = None,
        setup_s: float = 0.0,
        sleeps_while_waiting: bool = False,
    ) -> None:
        self.power = RadioPower.of(currents, idle, setup_s)
        self._currents = currents
        self._sensors = sensors
        self._ledger = ledger
        self._sleeps_while_waiting = sleeps_while_waiting
        self._setups: dict[tuple[float, bool], tuple[float, float]] = {}  # what each kind takes
        self._airtime = {"up": ledger.uplink_s, "down": ledger.downlink_s}
        self._airtime_w = {"up": self.power.uplink_w, "down": self.power.receive_w}
        self._round_start_s = 0.0
        self._began_idle = True
        self._begin_round()

    def _begin_round(self) -> None:
        self._airtime_s = {"up": 0.0, "down": 0.0}
        self._transfers_j = self._setup_s = self._setup_j = 0.0
        self._billed_s: dict[BilledState, float] = {"transmit": 0.0, "receive": 0.0, "connected": 0.0}

    def transfer(self, direction: Direction, airtime_s: float, radios: Sequence[int]) -> float:
        """Count the airtime of a transfer for each of its radios, and return its joules."""
        if len(radios) == 1:
            self._airtime[direction].add(radios[0], airtime_s)
        else:
            self._airtime[direction].add_to_each(radios, airtime_s)
            airtime_s *= len(radios)
        energy_j = self._airtime_w[direction] * airtime_s
        self._airtime_s[direction] += airtime_s
        self._transfers_j += energy_j
        return energy_j

    def set_up(self, sensor: int, takes_s: float, is_asleep: bool, share: float = 1.0) -> None:
        """Count a share of a set-up; a negative one where it was abandoned with so much left to do."""
        seconds, energy_j = self._setups.get((takes_s, is_asleep)) or self._work_out(takes_s, is_asleep)
        if share != 1.0:
            seconds, energy_j = share * seconds, share * energy_j
        self._setup_s += seconds
        self._setup_j += energy_j
        self._ledger.setup_s.add(sensor, seconds)
        self._ledger.setup_j.add(sensor, energy_j)

    def _work_out(self, takes_s: float, is_asleep: bool) -> tuple[float, float]:
        """Return seconds and joules of a set-up. A radio that sleeps meanwhile spends what its profile says, if so."""
        connected_w = 0.0 if self._sleeps_while_waiting else self.power.connected_w
        energy_j = set_up_j(self._currents, connected_w, takes_s, is_asleep=is_asleep)
        worked_out = self._setups[takes_s, is_asleep] = (0.0 if self._sleeps_while_waiting else takes_s, energy_j)
        return worked_out

    def bill(self, sensor: int, state: BilledState, seconds: float) -> float:
        """Count seconds in which the released radio of a sensor was in this state, not at rest; return their joules.

        For what a medium has its radios do beside airtime: receive windows, and the wait for them. The joules belong
        to the baseline and not to a transfer.
        """
        self._billed_s[state] += seconds
        self._ledger.billed_s[state].add(sensor, seconds)
        return self._billed_w(state) * seconds

    def _billed_w(self, state: BilledState) -> float:
        power = self.power
        return {"transmit": power.transmit_w, "receive": power.receive_w, "connected": power.connected_w}[state]

    def end_round(self, now_s: float, held: Held, *, is_idle: bool = True) -> RoundEnergy:
        """Return the joules since the last call; `held` is what the connections have collected since then.

        Airtime counts when its transfer ends. If the air is not idle, some of what counts as connected or at rest is
        airtime, and is taken off when it ends: sums over rounds are right, and one may have less than nothing.
        """
        power, billed_s = self.power, self._billed_s
        up_s, down_s = self._airtime_s["up"], self._airtime_s["down"]
        all_s = self._sensors * (now_s - self._round_start_s)
        waiting_s = held.connected_s - up_s - down_s - self._setup_s
        rest_s = all_s - held.connected_s - sum(billed_s.values())
        if is_idle and self._began_idle:  # but for rounding
            waiting_s, rest_s = max(0.0, waiting_s), max(0.0, rest_s)
        self._began_idle = is_idle
        idle_s = rest_s if power.rests_idle else held.active_s
        silent_s = (1 - power.transmit_duty) * up_s
        seconds = States(
            transmit=up_s - silent_s + billed_s["transmit"],
            receive=down_s + billed_s["receive"],
            connected=waiting_s + silent_s + billed_s["connected"],
            setup=self._setup_s,
            idle=idle_s,
            sleep=rest_s - idle_s,
        )
        joules = States(
            power.transmit_w * seconds.transmit,
            power.receive_w * seconds.receive,
            power.connected_w * seconds.connected,
            self._setup_j,
            power.idle_w * seconds.idle,
            power.sleep_w * seconds.sleep,
        )
        billed_j = sum(self._billed_w(state) * billed_s[state] for state in billed_s)
        baseline_j = power.connected_w * waiting_s + joules.setup + joules.idle + joules.sleep + billed_j
        energy = RoundEnergy(self._transfers_j, baseline_j, joules, seconds)
        self._round_start_s = now_s
        self._begin_round()
        return energy
