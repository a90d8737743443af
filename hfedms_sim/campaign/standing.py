"""How far a campaign is, in trials and in rounds, and how long it will still take.

The time left is t · L / D: t seconds have gone by, in which D was trained, and L is left. D and L count rounds, each
weighted with its trial's relative cost. Rounds found in a store take next to nothing, so they are in neither: of a
running trial D has what was trained here, and L lacks what the trial takes from its parent. How much a trial
finds in its own store shows only when it has passed it; until then too much is left. A trial that stops early, at its
target, ends sooner than this says, and `may_stop_early` says that one may.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from time import monotonic
from typing import NamedTuple

from hfedms_sim.campaign.trials import Trial
from hfedms_sim.campaign.workers import At


class Ended(NamedTuple):
    """A trial that has ended, with its last accuracy; None if it was not measured."""

    trial: str
    accuracy: float | None


class Standing(NamedTuple):
    """How far a campaign is."""

    phase: str
    """What all trials are being done with now: timing or running. Not the phase of a round."""
    trials: int
    done: int
    running: int
    failed: int
    rounds_done: int
    rounds: int
    """How many the scenarios of all trials ask for."""
    eta_s: float | None
    """Seconds of wall time that are left; None until that can be told."""
    ended: tuple[Ended, ...] = ()
    """The trials that have ended since the last time."""
    running_trials: tuple[str, ...] = ()
    """The names of those that are running, in the order in which they were started."""
    may_stop_early: bool = False
    """Whether one that is left may end before its last round, so that `eta_s` is the most that it can take."""


class Meter:
    """Counts the rounds of one phase of a campaign. Of its `trials` those with a name in `left` are still to be played.

    `shared` says how many rounds a trial takes from its parent. `counts_played`: nothing is trained in this phase, so
    every round that is played counts.
    """

    def __init__(
        self,
        phase: str,
        trials: Sequence[Trial],
        left: Collection[str],
        shared: Mapping[str, int] | None = None,
        *,
        counts_played: bool = False,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._phase = phase
        self._trials = len(trials)
        self._rounds = sum(trial.scenario.rounds for trial in trials)
        self._left = {trial.name: trial for trial in trials if trial.name in left}
        self._shared = shared or {}
        self._counts_played = counts_played
        self._clock = clock
        self._started_s = clock()
        self._spent = 0.0

    def end(self, name: str, rounds: int) -> None:
        """Note that a trial has ended, and how many of its rounds count."""
        self._spent += self._left.pop(name).cost * rounds

    def drop(self, name: str) -> None:
        """Note that a trial has failed for good."""
        del self._left[name]

    def standing(
        self, running: Sequence[str], failed: int, at: Mapping[str, At], ended: tuple[Ended, ...] = ()
    ) -> Standing:
        """Return how far the phase is, given where the running trials are."""
        left = sum(trial.scenario.rounds - _of(at, name).round for name, trial in self._left.items())
        done = self._trials - len(self._left) - failed
        rounds_done = self._rounds - left
        return Standing(
            self._phase,
            self._trials,
            done,
            len(running),
            failed,
            rounds_done,
            self._rounds,
            self._eta_s(at),
            ended,
            tuple(running),
            any(self._may_stop(trial) for trial in self._left.values()),
        )

    def _may_stop(self, trial: Trial) -> bool:
        """Return whether a trial may end before its last round; no accuracy does where nothing is trained."""
        scenario = trial.scenario
        return scenario.stop_after_s is not None or (scenario.stop_at is not None and not self._counts_played)

    def _eta_s(self, at: Mapping[str, At]) -> float | None:
        spent, left = self._spent, 0.0
        for name, trial in self._left.items():
            where = _of(at, name)
            spent += trial.cost * (where.round if self._counts_played else where.trained)
            left += trial.cost * max(0, trial.scenario.rounds - max(where.round, self._shared.get(name, 0)))
        return left * (self._clock() - self._started_s) / spent if spent else None


def _of(at: Mapping[str, At], name: str) -> At:
    return at.get(name, At(0, 0))
