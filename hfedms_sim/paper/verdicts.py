"""The verdicts of a study: every claim at the largest scale at which it was tested, for each kind of settings."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Table
from hfedms_sim.paper.claims import CLAIMS, TEXTS
from hfedms_sim.paper.scales import ORDER
from hfedms_sim.result import read_json


class Judged(NamedTuple):
    claim: str
    settings: str
    verdict: str
    scale: str
    study: str


def judged(directories: Sequence[Path]) -> list[Judged]:
    """Return each claim's verdict, from the claims.json of all experiments below the directories."""
    found: dict[tuple[str, str], Judged] = {}
    paths = [path for directory in directories for path in sorted(directory.glob("**/claims.json"))]
    if not paths:
        raise InputError(f"{', '.join(map(str, directories))}: no claims.json of an experiment there")
    for path in paths:
        for each in _claims(path):
            before = found.get((each.claim, each.settings))
            if before is None or _rank(each) > _rank(before):
                found[each.claim, each.settings] = each
    return sorted(found.values(), key=lambda each: (CLAIMS.index(each.claim), each.settings))


def _rank(each: Judged) -> tuple[bool, int]:
    return each.verdict != "cannot be tested here", [*map(str, ORDER)].index(each.scale)


def _claims(path: Path) -> list[Judged]:
    content: dict[str, Any] = read_json(path)
    try:
        scale, study = str(content["scale"]), str(content["study"])
        claims = [Judged(each["claim"], each["settings"], each["verdict"], scale, study) for each in content["claims"]]
        if scale not in ORDER or not {each.claim for each in claims} <= {*CLAIMS}:
            raise KeyError
    except (KeyError, TypeError):
        raise InputError(f"{path}: is not the claims of an experiment") from None
    return claims


def judged_table(found: Sequence[Judged]) -> Table:
    tested = {each.claim for each in found}
    rows = [(each.claim, TEXTS[each.claim], each.settings, each.verdict, each.study) for each in found]
    rows += [(name, TEXTS[name], "", "not run", "") for name in CLAIMS if name not in tested]
    rows.sort(key=lambda row: CLAIMS.index(row[0]))
    header = ("claim", "what it says", "settings", "verdict", "by")
    return Table("verdicts", "The paper's claims, at the largest scale each was tested at", header, tuple(rows))
