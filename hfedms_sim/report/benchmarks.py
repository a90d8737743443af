"""The paper's accuracy table beside ours, and which of its claims hold."""

from collections.abc import Sequence

from rich.table import Table

from hfedms_sim.paper.benchmarks import BASELINES, HFEDMS, PUBLISHED, STATIC_GROUPINGS, Claim, Curves, DataKind

_KINDS: tuple[DataKind, ...] = ("stream", "static")


def benchmarks_table(curves: Curves, title: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("strategy")
    for kind in _KINDS:
        table.add_column(f"{kind}\npublished", justify="right")
        table.add_column(f"{kind}\nmeasured", justify="right")
    for name in (*BASELINES, *STATIC_GROUPINGS, *HFEDMS.values()):
        table.add_row(name, *(cell for kind in _KINDS for cell in _cells(curves, name, kind)))
    return table


def claims_table(claims: Sequence[Claim]) -> Table:
    table = Table(title="The paper's claims at this scale", title_justify="left")
    for heading in ("claim", "what it says", "holds here", "measured"):
        table.add_column(heading, overflow="fold")
    for claim in claims:
        table.add_row(claim.name, claim.text, "yes" if claim.holds else "no", claim.detail)
    return table


def _cells(curves: Curves, name: str, kind: DataKind) -> tuple[str, str]:
    """Accuracy / loss."""
    published = PUBLISHED.get(name, {}).get(kind)
    curve = curves.get((name, kind))
    return (
        "" if published is None else f"{published[0]:.3f} / {published[1]:.3f}",
        "" if curve is None else f"{curve.final_accuracy:.3f} / {curve.final_loss:.3f}",
    )
