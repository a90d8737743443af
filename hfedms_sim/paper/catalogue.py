"""The experiments by name, in the order in which `paper all` conducts them, and what each costs."""

from collections.abc import Iterable

from hfedms_sim.exhibits import Table
from hfedms_sim.paper.experiment import Experiment, distinct
from hfedms_sim.paper.experiments.benchmarks import BENCHMARKS
from hfedms_sim.paper.experiments.beyond.ablation import ABLATION
from hfedms_sim.paper.experiments.beyond.availability import AVAILABILITY
from hfedms_sim.paper.experiments.beyond.lead import LEAD
from hfedms_sim.paper.experiments.efficiency import EFFICIENCY_EXPERIMENT
from hfedms_sim.paper.experiments.forgetting import FORGETTING
from hfedms_sim.paper.experiments.grouping import GROUPING
from hfedms_sim.paper.experiments.growth import GROWTH
from hfedms_sim.paper.experiments.intervals import INTERVALS_EXPERIMENT
from hfedms_sim.paper.experiments.parameters import PARAMETERS
from hfedms_sim.paper.experiments.reading_differences import READING_DIFFERENCES
from hfedms_sim.paper.experiments.scc import SCC
from hfedms_sim.paper.experiments.settings import SETTINGS
from hfedms_sim.paper.experiments.static_curves import STATIC_CURVES
from hfedms_sim.paper.experiments.tuning import TUNING
from hfedms_sim.paper.scales import ORDER, SCALES, ScaleName
from hfedms_sim.paper.study import Study, seconds_of
from hfedms_sim.paper.tuned import Tuned
from hfedms_sim.units import SECONDS_PER_HOUR

PAPER: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        PARAMETERS,
        SETTINGS,
        GROUPING,
        EFFICIENCY_EXPERIMENT,
        INTERVALS_EXPERIMENT,
        SCC,
        FORGETTING,
        BENCHMARKS,
        STATIC_CURVES,
        GROWTH,
    )
}
"""Every table and figure of the paper, the quick ones first."""
BEYOND: dict[str, Experiment] = {
    experiment.name: experiment for experiment in (TUNING, READING_DIFFERENCES, AVAILABILITY, ABLATION, LEAD)
}
"""What the paper does not have."""
EXPERIMENTS = PAPER | BEYOND


def listing(tuned: Tuned) -> Table:
    """Return what there is and what each costs at each scale by itself, and what `paper all` costs."""
    rows = [
        (each.name, each.title, ", ".join(each.claims), *(_cost([each], name, tuned) for name in ORDER))
        for each in EXPERIMENTS.values()
    ]
    together = (_cost(PAPER.values(), name, tuned) for name in ORDER)
    rows.insert(len(PAPER), ("all", "all tables and figures of the paper", "all", *together))
    note = "Hours of one core; --jobs divides them. Trials that experiments share are played once in 'paper all'."
    return Table("experiments", "The paper's experiments", ("name", "what", "claims", *ORDER), tuple(rows), note)


def _cost(experiments: Iterable[Experiment], scale: ScaleName, tuned: Tuned) -> str:
    study = Study(SCALES[scale], tuned=tuned)
    trials = distinct(trial for experiment in experiments for trial in experiment.trials(study))
    return f"{len(trials):,} trials, {_hours(seconds_of(trials))}" if trials else "seconds"


def _hours(seconds: float) -> str:
    hours = seconds / SECONDS_PER_HOUR
    return f"{hours:.1f} h" if hours >= 1 else f"{60 * hours:.0f} min"
