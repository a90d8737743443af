"""What variants are called on a page, and at which target accuracy they are compared."""

from collections.abc import Sequence

from hfedms_sim.campaign import Row
from hfedms_sim.campaign.comparison import END
from hfedms_sim.report.comparison import telling_keys

_NAMES = ("strategy", "profile", "run")  # whose values speak for themselves, in this order


def variant_name(row: Row, rows: Sequence[Row]) -> str:
    """Return what tells a variant from the others, in words; all of it if nothing does."""
    facts = dict(row.variant)
    telling = [key for key in telling_keys(rows) if key in facts]
    ordered = sorted(telling or facts, key=lambda key: _NAMES.index(key) if key in _NAMES else len(_NAMES))
    return ", ".join(facts[key] if key in _NAMES else f"{key} {facts[key]}" for key in ordered)


def common_target(rows: Sequence[Row]) -> str:
    """Return the highest accuracy that every variant has reached, else that any has; the end if none was."""
    targets = {row.target for row in rows if row.target != END}
    by_all = {target for target in targets if all(row.reached for row in rows if row.target == target)}
    by_any = {target for target in targets if any(row.reached for row in rows if row.target == target)}
    return max(by_all or by_any, key=float, default=END)
