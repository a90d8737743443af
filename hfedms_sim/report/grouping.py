"""How alike groups are, as a table and as box plots."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure
from rich.table import Table

from hfedms_sim.grouping import CpdKind
from hfedms_sim.paper.grouping import Spread
from hfedms_sim.report.pictures import save

_NAMES = {"clients": "single clients", "random": "random groups", "icg": "ICG", "matched": "ICG, matched"}
_KINDS: dict[CpdKind, str] = {"onehot": "CPD, classes as one-hot points", "entries": "CPD, probabilities as samples"}


def grouping_table(spreads: Sequence[Spread]) -> Table:
    table = Table(title="Distance between the class distributions of two groups (medians over all pairs)")
    table.title_justify = "left"
    table.add_column("groups", justify="right")
    table.add_column("how")
    for heading in ("CPD onehot", "to random", "CPD entries", "to random", "z"):
        table.add_column(heading, justify="right")
    random = {spread.groups: spread for spread in spreads if spread.way == "random"}
    for spread in spreads:
        reference = random[spread.groups]
        medians = [(spread.median(kind), spread.median(kind) / reference.median(kind)) for kind in _KINDS]
        cells = [cell for median, ratio in medians for cell in (f"{median:.3g}", f"{ratio:.2f}")]
        objective = "" if spread.way == "clients" else f"{spread.objective:,.0f}"
        table.add_row(str(spread.groups), _NAMES[spread.way], *cells, objective, end_section=spread.way == "matched")
    return table


def draw_grouping(spreads: Sequence[Spread], title: str, path: Path) -> None:
    """A row for each kind of distance, a column for each number of groups."""
    numbers = list(dict.fromkeys(spread.groups for spread in spreads))
    figure = Figure(figsize=(4.2 * len(numbers), 7), layout="constrained")
    axes = figure.subplots(len(_KINDS), len(numbers), squeeze=False)
    for row, (kind, name) in enumerate(_KINDS.items()):
        for column, number in enumerate(numbers):
            shown = [spread for spread in spreads if spread.groups == number]
            one = axes[row, column]
            one.boxplot(
                [spread.distances[kind] for spread in shown],
                tick_labels=[_NAMES[spread.way].replace(" ", "\n") for spread in shown],
                sym="",
                medianprops={"color": "crimson"},
            )
            one.set_yscale("log")
            one.grid(axis="y", color="0.9")
            if row == 0:
                one.set_title(f"{number} groups")
            if column == 0:
                one.set_ylabel(name)
    figure.suptitle(title)
    save(figure, path)
