"""What a callback is told after every round: enough to draw a bar, or to log a run to a tracker of experiments.

What was spent is counted from the start of the run, so that a curve can be drawn against any of it. The run keeps every
figure anyway, so telling it costs nothing. What happened in a single round is a row of the table `rounds`.
"""

from typing import NamedTuple

from hfedms_sim.rounds import Phase


class Progress(NamedTuple):
    """How far a run is, as `on_round` is told after every round."""

    round: int
    rounds: int
    """How many rounds the run has at most."""
    simulated_s: float
    """When this round ended, on the simulated clock."""
    accuracy: float | None
    """What the last evaluation gave; None before it, and in timing-only runs."""
    trained: int = 0
    """How many rounds were trained so far, not found in a store."""
    loss: float | None = None
    """What the last evaluation gave, as `accuracy`."""
    is_evaluated: bool = False
    """Whether accuracy and loss were measured in this very round."""
    phase: Phase = "full"
    """What was trained in this round: the whole model in a `full` one, the classifier alone in a `calibration`."""
    uplink_bytes: int = 0
    """What has arrived from sensors so far, without what was sent again."""
    downlink_bytes: int = 0
    """What has arrived at sensors so far, likewise."""
    energy_j: float | None = None
    """Joules spent by all sensors so far; None where the joules of a radio are not known."""
    updated_parameters: int = 0
    """How many parameters were trained so far, summed over sensors."""

    def figures(self) -> dict[str, float]:
        """Return what a tracker draws over the rounds, by name: what was spent so far, and what was just measured.

        Joules are left out where they are not known, accuracy and loss in rounds that were not evaluated, so that a
        curve has a point for each figure and for nothing else.

            run(scenario, on_round=lambda progress: print(progress.round, progress.figures()))
        """
        measured = {"accuracy": self.accuracy, "loss": self.loss} if self.is_evaluated else {}
        spent = {"simulated_s": self.simulated_s, "energy_j": self.energy_j}
        counted = {name: getattr(self, name) for name in ("uplink_bytes", "downlink_bytes", "updated_parameters")}
        return {name: float(figure) for name, figure in (spent | counted | measured).items() if figure is not None}
