"""A round without a barrier: a window, closed after n arrivals; chains that are under way then go on.

What ends at one instant is handled at its end, in the order in which it started: first the server takes in chains that
are over, until the window has all its arrivals; then, if it is still open, a group on standby starts for each of them.
Chains that ended at that instant and were not taken in belong to the next window, which closes at once if they are
enough; their sensors are busy until then. So the order of events on the clock decides nothing.

The window is also closed at its deadline, and when no chain is under way any more and no group can start.
"""

from dataclasses import replace

from simpy import Event, Timeout
from simpy.events import ProcessGenerator

from hfedms_sim.rounds import Group, Plan, RoundRecord
from hfedms_sim.world.play.chains import Chains
from hfedms_sim.world.play.floor import Floor
from hfedms_sim.world.play.under_way import EndedChain, RunningChain, Standby, UnderWay
from hfedms_sim.world.processes import EndOfInstant, Process


class WindowPlay(Chains):
    """One window. It is kept while one of its chains is under way."""

    def __init__(self, floor: Floor, plan: Plan, closes_s: float | None, quorum: float, under_way: UnderWay) -> None:
        super().__init__(floor, plan, closes_s, quorum)
        self._under_way = under_way
        self._standby = Standby(plan.standby, under_way)
        self._closed = Event(self.env)
        self._is_settling_scheduled = self._is_due = False
        self._taken: list[EndedChain] = []
        self._arrivals = 0

    def play(self, start_s: float) -> RoundRecord:
        """Play the window, which began then, and return what happened."""
        plan, self._under_way.on_end = self._plan, self._schedule_settling
        for group in plan.groups:
            self._start(group)
        if self.closes_s is not None:
            Timeout(self.env, max(0.0, self.closes_s - self.env.now)).callbacks.append(self._fall_due)
        self._schedule_settling()
        self.run_until(self._closed)
        self._under_way.on_end = None
        record = self._record(start_s)
        self._forget()
        return record

    def _forget(self) -> None:
        """Keep no more than chains under way need: there may be many windows whose last chain is still under way."""
        self._plan = replace(self._plan, groups=(), standby=())
        self._standby = Standby((), self._under_way)
        self._taken = []

    def _fall_due(self, _: Event) -> None:
        """Close the window at the end of this instant: its deadline is there."""
        self._is_due = True
        self._schedule_settling()

    def _start(self, group: Group) -> None:
        chain = self._under_way.begin(self._turn, group)
        Process(self.env, self._run_chain(chain))

    def _run_chain(self, chain: RunningChain) -> ProcessGenerator:
        """Play a chain, and note when it is over."""
        yield from self._chain(chain.number, chain.group, chain.handed_over)
        self._under_way.end(self.env.now, chain, has_arrived=chain.number in self._arrived)

    def _schedule_settling(self) -> None:
        """Settle, at the end of this instant, what has ended by then; once, however many chains end in it."""
        if not self._is_settling_scheduled and not self._closed.triggered:
            self._is_settling_scheduled = True
            EndOfInstant(self.env).callbacks.append(self._settle)

    def _settle(self, _: Event) -> None:
        """Take in what has ended; then close the window, or let others start."""
        self._is_settling_scheduled = False
        awaited = self._plan.closes_after
        taken = self._under_way.take(None if awaited is None else awaited - self._arrivals)
        for ended in taken:
            self._arrivals += ended.has_arrived
            self._standby.release(ended.chain.group)
        self._taken += taken
        if self._arrivals == awaited or self._is_due:
            self._closed.succeed()
            return
        for group in filter(None, (self._standby.next() for _ in taken)):
            self._start(group)
        if not len(self._under_way):
            self._closed.succeed()

    def _record(self, start_s: float) -> RoundRecord:
        plan, taken, under_way = self._plan, self._taken, self._under_way
        counts = self._apply_quorum([ended.has_arrived for ended in taken], asked=plan.closes_after or len(taken))
        models_since = tuple(under_way.models - ended.chain.model for ended in taken)
        under_way.models += any(counts)
        return RoundRecord(
            round=plan.round,
            cycle=plan.cycle,
            phase=plan.phase,
            chains=tuple(tuple(ended.chain.handed_over) for ended in taken),
            arrived=tuple(counts),
            start_s=start_s,
            end_s=self.env.now,
            arrivals=self._arrivals,
            participants=sum(len(ended.chain.group.sensors) for ended in taken),
            started=tuple(ended.chain.started for ended in taken),
            under_way=under_way.rounds,
            numbers=tuple(ended.chain.group.number for ended in taken),
            models_since=models_since,
        )
