"""What always holds, watched in every run: a breach is an error of this program, and stops the run.

    a transfer is ready, begins and ends in this order, and its airtime is not negative
    bytes accepted = bytes delivered + lost + aborted + under way; no more is under way after a round than chains are
    no cell has given more airtime than it has: channels x elapsed time
    no state has cost negative joules: in a round, or since the beginning where chains go on after it
    a round does not end before it begins, nor begin before the last one ended
    a round ends: whatever is waited for is scheduled, and whoever watched for a fault has stopped

The checks of a transfer are comparisons and sums of plain numbers; all others are made once a round.
"""

from collections.abc import Sequence
from typing import NoReturn

from hfedms_sim.errors import RunError
from hfedms_sim.rounds import Direction
from hfedms_sim.trace import Outcome

_ROUNDING = 1e-6  # relative, of sums of a million numbers


class InvariantError(RunError):
    """Something that always holds does not: an error of this program, not of its input."""


class Invariants:
    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._round = 0
        self._ended_s = 0.0
        self._under_way = 0
        self._accepted_bytes = 0
        self._ended_bytes: dict[Outcome, int] = {"ok": 0, "lost": 0, "aborted": 0}

    def begin_round(self, round_number: int, now_s: float) -> None:
        self._round = round_number
        if now_s < self._ended_s:
            self.breach(f"the round begins at {now_s!r} s, before the last one ended at {self._ended_s!r} s")

    def accept(self, size_bytes: int) -> None:
        """Note that a transfer is ready."""
        self._under_way += 1
        self._accepted_bytes += size_bytes

    def end(
        self, outcome: Outcome, size_bytes: int, ready_s: float, start_s: float, end_s: float, airtime_s: float
    ) -> None:
        """Note that a transfer has arrived, was lost or was given up."""
        self._under_way -= 1
        self._ended_bytes[outcome] += size_bytes
        if not (ready_s <= start_s <= end_s and airtime_s >= 0.0):
            times = f"ready {ready_s!r}, begun {start_s!r}, ended {end_s!r} s"
            self.breach(f"a transfer's times run back, or its airtime is negative: {times}, airtime {airtime_s!r} s")

    def end_round(self, now_s: float, delivered_bytes: int, chains_under_way: int = 0) -> None:
        """Check a round that has ended; `delivered_bytes`: what the run's totals say has arrived so far.

        A chain that goes on has at most one transfer under way.
        """
        ended, is_over = self._ended_bytes, self._accepted_bytes == sum(self._ended_bytes.values())
        if not 0 <= self._under_way <= chains_under_way or is_over != (self._under_way == 0):
            bytes_of = f"{self._accepted_bytes} bytes accepted, {sum(ended.values())} delivered, lost or aborted"
            self.breach(f"{self._under_way} transfers are under way after the round's end: {bytes_of}")
        if ended["ok"] != delivered_bytes:
            self.breach(f"{ended['ok']} bytes have arrived, {delivered_bytes} by the totals")
        if now_s < self._ended_s:
            self.breach(f"the round ends at {now_s!r} s, before the last one, at {self._ended_s!r} s")
        self._ended_s = now_s

    def check_airtime(self, cell: str, direction: Direction, airtime_s: float, channels: float, since_s: float) -> None:
        """Check what a cell has given in this many seconds, alone in a direction or in both."""
        if airtime_s > channels * since_s * (1.0 + _ROUNDING):
            given = f"{airtime_s!r} s of airtime in {since_s!r} s"
            self.breach(f"cell {cell} has given {given} {direction}, with {channels:g} channels")

    def check_energy(self, joules: Sequence[float]) -> None:
        """Check what the states of all sensors have cost, in a round or since the beginning."""
        if min(joules) < -_ROUNDING * (1.0 + max(joules)):
            self.breach(f"a state has cost {min(joules)!r} J")

    def check_idle(self, what: str, is_idle: bool) -> None:
        """Check that something is not in use after a round."""
        if not is_idle:
            self.breach(f"{what} is still in use after the round's end")

    def breach(self, what: str) -> NoReturn:
        """Stop the run, and say how to see it again."""
        again = f"hfedms-sim run scenario.yaml --timing-only --seed {self._seed} --rounds {self._round}"
        raise InvariantError(
            f"round {self._round}: {what}. This is an error of the program, not of the scenario; with the run"
            f" directory's scenario.yaml this shows it again: {again}"
        )
