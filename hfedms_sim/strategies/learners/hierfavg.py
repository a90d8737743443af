"""HierFAVG's base stations, each of which averages its sensors some times, and the server, which averages them."""

from collections.abc import Sequence

from hfedms_sim.learning.learner import ChainLearner, LearnerContext
from hfedms_sim.learning.merging import RunningMean
from hfedms_sim.learning.networks import Weights
from hfedms_sim.rounds import Participation, RoundRecord
from hfedms_sim.schedule import edge_turn
from hfedms_sim.strategies.hierfavg import HierFAVGSettings


class HierarchicalLearner(ChainLearner):
    def __init__(self, settings: HierFAVGSettings, context: LearnerContext) -> None:
        super().__init__(settings, context)
        self._edge_rounds = settings.edge_rounds

    def learn(self, record: RoundRecord) -> None:
        """A record's chains are the teams of each cell, one for each of its edge rounds."""
        mean = RunningMean()
        for first in range(0, len(record.chains), self._edge_rounds):
            teams = record.chains[first : first + self._edge_rounds]
            if record.arrived[first]:
                mean.add(*self._of_cell(teams, record.round))
        self.weights = mean.result() or self.weights

    def _of_cell(self, teams: Sequence[Sequence[Participation]], round_number: int) -> tuple[Weights, float]:
        """Return the model of a base station after all its edge rounds, and its share at the server."""
        weights, share = self.weights, 0.0
        for number, team in enumerate(teams):
            turn = edge_turn(round_number, self._edge_rounds, number)
            chains = [[self.local_set(each, turn)] if each.trained and each.captured else [] for each in team]
            if any(chains):
                shares = self._shares([(each,) for each in team], chains)
                weights = self._engine.train_models(weights, chains, shares, self._sgd, self._loss())
                share += sum(shares)
        return weights, share
