"""The paper's table of settings, beside what this package takes by default and what the study takes."""

from hfedms_sim.exhibits import Table
from hfedms_sim.loading import load_scenario
from hfedms_sim.models import spec_of
from hfedms_sim.paper import published
from hfedms_sim.paper.experiment import Experiment, ExperimentOutcome, Results
from hfedms_sim.paper.study import Study
from hfedms_sim.scenario import Scenario
from hfedms_sim.strategies.hfedms import HFedMSDynamicSettings


def _values(scenario: Scenario) -> dict[str, str]:
    """Return the settings of an HFedMS-D scenario by the paper's symbols."""
    strategy, model = scenario.strategy, spec_of(scenario.model)
    assert isinstance(strategy, HFedMSDynamicSettings)
    return {
        "K": f"{scenario.sensors.count}",
        "eta": f"{strategy.learning_rate:g}",
        "b": f"{strategy.batch_size}",
        "e": f"{strategy.epochs}",
        "R": f"{scenario.rounds}",
        "T": f"{strategy.interval}",
        "Q": f"{strategy.memory}",
        "kappa": f"{strategy.sample_ratio:g}",
        "f": strategy.growth.upper(),
        "alpha; beta": f"{strategy.alpha:g}; {strategy.beta}",
        "n": f"{scenario.stream.batch}",
        "M": f"{model.parameters:,}",
        "Mc": f"{model.classifier_parameters:,}",
    }


def _outcome(study: Study, _: Results) -> ExperimentOutcome:
    shipped = _values(load_scenario("paper-stream"))
    here = _values(study.scenario("hfedms-d", "stream", {}, study.seeds[0], study.scale.rounds))
    rows = tuple(
        (meaning, symbol, printed, shipped[symbol], here[symbol]) for meaning, symbol, printed in published.SETTINGS
    )
    header = ("setting", "symbol", "published", "paper-stream", f"this study ({study.scale.name})")
    note = "The paper's M leaves the classifier out; runs send what the network has."
    return ExperimentOutcome((Table("settings", "Settings", header, rows, note),))


SETTINGS = Experiment("settings", "table: settings", lambda study: [], _outcome)
