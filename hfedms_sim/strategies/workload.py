"""What a strategy asks of its sensors over a whole run, as far as it can be said before anything is played.

Whoever wants to know how large a run will be adds these up (simulation/estimate.py). Nobody is taken to be out of
coverage or away, and groups to be full: these are upper bounds, and close ones where all goes well.
"""

from typing import NamedTuple


class Groupings(NamedTuple):
    """How often groups are formed by clustering, how many of them the first time, and how many in the middle."""

    times: int = 0
    first: int = 1
    typical: int = 1


class Workload(NamedTuple):
    trainings: int
    """How often a sensor trains the whole model, summed over the run."""
    side_by_side: int
    """How many sensors take part in one round at most."""
    calibrations: int = 0
    """How often a sensor trains the classifier alone."""
    reports: int = 0
    """How often a sensor reports before a round is planned."""
    scattered: int = 0
    """How often a sensor is sent the merged model."""
    groupings: Groupings = Groupings()

    remembered: int = 0
    """How many semantic vectors sensors keep at most, all together."""
    remembered_passes: int = 0
    """How often a kept vector is trained on, summed over the run."""

    @property
    def transfers(self) -> int:
        """How many go over the air: two for whoever takes part, one for each report and each scattered model."""
        return 2 * (self.trainings + self.calibrations) + self.reports + self.scattered
