"""How good the model became: accuracy and loss against what was spent, and how unlike the sensors are in it."""

from hfedms_sim.report.page.blocks import Block, Drawing, Section, Switch
from hfedms_sim.report.page.runs import PageRuns, is_trained
from hfedms_sim.report.views.learning import Against, learning_figure
from hfedms_sim.report.views.sensor_accuracy import sensor_accuracy_figure

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
    options = tuple((name, learning_figure(trained, against)) for name, against in axes)
    blocks: list[Block] = [Switch("against", options)]
    by_sensor = sensor_accuracy_figure(trained)
    return Section("learning", "Learning", (*blocks, *([Drawing(by_sensor)] if by_sensor is not None else [])))
