"""What learns from windows of arrivals: chains are trained from the versions of the model that they started from.

The version of round r is the model that the server had when round r began. Those of rounds in which a chain under way
started are kept, and no others. Chains of one version are trained together, as those of a round are.
"""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hfedms_sim.learning.engine import LocalSet
from hfedms_sim.learning.learner import ChainLearner, LearnerContext
from hfedms_sim.learning.networks import Weights
from hfedms_sim.learning.state import arrays_of, weights_under
from hfedms_sim.lineage import State
from hfedms_sim.rounds import RoundRecord
from hfedms_sim.strategies.windows import WindowSettings

_VERSION = "version/"


class Arrival(NamedTuple):
    """A chain that has arrived: what it trained on, if anything, from which version, and its share in a mean."""

    started: int
    staleness: int
    chain: list[LocalSet]
    share: float


class WindowLearner(ChainLearner):
    def __init__(self, settings: WindowSettings, context: LearnerContext) -> None:
        super().__init__(settings, context)
        self._law = settings.weight_of
        self._versions: dict[int, Weights] = {}  # by the round that began with it

    def learn(self, record: RoundRecord) -> None:
        self._versions[record.round] = self.weights
        arrivals = self._arrivals(record)
        if any(each.chain for each in arrivals):  # else nobody had anything to learn from
            self.weights = self._updated(arrivals)
        self._versions = {each: self._versions[each] for each in record.under_way}

    @abstractmethod
    def _updated(self, arrivals: Sequence[Arrival]) -> Weights:
        """Return the model that the server makes of its own and what has arrived, in this order."""

    def _arrivals(self, record: RoundRecord) -> list[Arrival]:
        known = zip(record.ages, record.staleness, record.chains, record.arrived, strict=True)
        arrived = [(record.round - age, stale, chain) for age, stale, chain, counts in known if counts]
        trained = [[self.local_set(p, begun) for p in chain if p.trained and p.captured] for begun, _, chain in arrived]
        shares = self._shares([chain for _, _, chain in arrived], trained)
        return [
            Arrival(begun, stale, chain, share)
            for (begun, stale, _), chain, share in zip(arrived, trained, shares, strict=True)
        ]

    def _trained_mean(self, arrivals: Sequence[Arrival]) -> Weights:
        """Return the mean of where chains of one version end, by their shares."""
        start, chains = self._versions[arrivals[0].started], [each.chain for each in arrivals]
        return self._engine.train_models(start, chains, [each.share for each in arrivals], self._sgd, self._loss())

    def state(self) -> State:
        state = super().state()
        for started, weights in self._versions.items():
            state |= arrays_of(f"{_VERSION}{started}/", weights)
        return state

    def restore(self, state: State) -> None:
        super().restore(state)
        self._versions = {started: weights_under(f"{_VERSION}{started}/", state) for started in _versions_in(state)}


def by_version(arrivals: Sequence[Arrival]) -> Mapping[int, Sequence[Arrival]]:
    """Return the arrivals by the version that they started from, the oldest first."""
    found: dict[int, list[Arrival]] = {}
    for arrival in sorted(arrivals, key=lambda each: each.started):
        found.setdefault(arrival.started, []).append(arrival)
    return found


def _versions_in(state: State) -> list[int]:
    names = (name.removeprefix(_VERSION) for name in state if name.startswith(_VERSION))
    return sorted({int(name.partition("/")[0]) for name in names})
