"""The verdicts of a study: every claim at the largest scale at which it was tested, for each kind of settings."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Table
from hfedms_sim.paper.claims import CLAIMS, TEXTS
from hfedms_sim.paper.scales import ORDER
from hfedms_sim.result import read_json
from hfedms_sim.system.checksums import Checksums


class Judged(NamedTuple):
    claim: str
    settings: str
    reading: str
    verdict: str
    scale: str
    study: str

    @property
    def is_decided(self) -> bool:
        return self.verdict in ("holds", "does not hold")


def judged(directories: Sequence[Path]) -> list[Judged]:
    """Return each claim's verdict at the largest scale that tested it, and at the largest that could decide it.

    They come from the claims.json of all experiments below the directories; text and program are judged apart.
    """
    paths = [path for directory in directories for path in sorted(directory.glob("**/claims.json"))]
    if not paths:
        raise InputError(f"{', '.join(map(str, directories))}: no claims.json of an experiment there")
    every = [each for path in paths for each in _claims(path) if each.verdict != "cannot be tested here"]
    found: dict[tuple[str, str, str, bool], Judged] = {}
    for each in sorted(every, key=lambda each: [*map(str, ORDER)].index(each.scale)):
        for only_decided in (False, True):
            if each.is_decided or not only_decided:
                found[each.claim, each.settings, each.reading, only_decided] = each
    distinct = dict.fromkeys(found.values())
    return sorted(
        distinct, key=lambda each: (CLAIMS.index(each.claim), each.reading != "text", each.settings, each.scale)
    )


def _claims(path: Path) -> list[Judged]:
    Checksums(path.parent).require(path.name)
    content: dict[str, Any] = read_json(path)
    try:
        scale, study, reading = (str(content[key]) for key in ("scale", "study", "reading"))
        claims = [
            Judged(each["claim"], each["settings"], reading, each["verdict"], scale, study)
            for each in content["claims"]
        ]
        if scale not in ORDER or not {each.claim for each in claims} <= {*CLAIMS}:
            raise KeyError
    except (KeyError, TypeError):
        raise InputError(f"{path}: is not the claims of an experiment") from None
    return claims


def judged_table(found: Sequence[Judged]) -> Table:
    tested = {each.claim for each in found}
    rows = [
        (each.claim, TEXTS[each.claim], f"{each.settings}, {each.reading}", each.verdict, each.study) for each in found
    ]
    rows += [(name, TEXTS[name], "", "not run", "") for name in CLAIMS if name not in tested]
    rows.sort(key=lambda row: CLAIMS.index(row[0]))
    header = ("claim", "what it says", "settings", "verdict", "by")
    return Table(
        "verdicts",
        "The paper's claims, at the largest scale that tested each, and at the largest that decided it",
        header,
        tuple(rows),
    )
