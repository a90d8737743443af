"""How good the model became: accuracy and loss against what was spent, and how unlike the sensors are in it."""

from collections.abc import Sequence

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Figure
from hfedms_sim.report.page.blocks import Section, Switch, drawings
from hfedms_sim.report.page.runs import PageRuns, is_trained
from hfedms_sim.report.views.learning import Against, learning_figure
from hfedms_sim.report.views.sensor_accuracy import sensor_accuracy_figure
from hfedms_sim.result import RunResult

_AXES: tuple[tuple[str, Against], ...] = (
    ("simulated time", "time"),
    ("bytes", "bytes"),
    ("energy", "energy"),
    ("rounds", "rounds"),
    ("updated parameters", "parameters"),
)


def learning_section(runs: PageRuns) -> Section | None:
    """Return the curves of the runs that were trained; None if none was."""
    trained = [result for result in runs.results if is_trained(result)]
    if not trained:
        return None
    has_energy = all(result.summary["energy_j"] is not None for result in trained)
    axes = [(name, against) for name, against in _AXES if against != "energy" or has_energy]
    options = tuple((name, _curves(trained, against)) for name, against in axes)
    by_sensor = drawings(lambda: sensor_accuracy_figure(trained))
    return Section("learning", "Learning", (Switch("against", options), *by_sensor))


def _curves(trained: Sequence[RunResult], against: Against) -> Figure:
    """Return bands over seeds, or every run by itself where its seeds were never evaluated at the same place."""
    try:
        return learning_figure(trained, against)
    except InputError:
        return learning_figure(trained, against, each=True)
