"""The paper's claims Q1 to Q13, and how each is judged: by differences paired by seed, never by eye.

A claim has parts, each a quantity that is positive where the claim is right, measured once for every seed. With the
95 % interval of its mean over seeds, no narrower than what it is read off (campaign/statistics.py), a part

    holds            if the interval lies above zero
    does not hold    if it lies below zero
    is undecided     if it contains zero, or if there is one seed only

A claim holds if all its parts do, does not hold if one of them does not, and is undecided otherwise. Without any part
it cannot be tested here, and says what is missing.

What has diverged has no end and leaves no value. A claim of which one of HFedMS's own runs diverged would be judged by
those that went well: it is undecided at best, and says which run it was.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from hfedms_sim.campaign.statistics import Estimate, estimate
from hfedms_sim.exhibits import Table, Value
from hfedms_sim.paper.tuned import Column

Verdict = Literal["holds", "does not hold", "undecided", "cannot be tested here"]

TEXTS = {
    "Q1": "on streams HFedMS-D ends better than every baseline, in accuracy and loss",
    "Q2": "on static data HFedMS-S ends better than every baseline, in accuracy and loss",
    "Q3": "every baseline is worse on streams; adaptive servers are the best there, FedAvg and FedProx the worst",
    "Q4": "HFedMS needs 83 to 93 % fewer rounds than FedAvg to the target",
    "Q5": "bytes and hours to the target: D below S below FedAvg; T = 5 is the least, with about as many rounds as S",
    "Q6": "class distributions: inter-cluster groups are more alike than random groups, these more than single sensors",
    "Q7": "static: fixed groups converge faster than FedAvg, inter-cluster ones end better, HFedMS-S ends best",
    "Q8": "static: the test loss of fixed groups rises again, that of HFedMS-S keeps falling",
    "Q9": "growth: log is the best law, the paper's alpha and beta its best point; too slow and too fast are worse",
    "Q10": "HFedMS-S forgets a batch it has learnt, HFedMS-D keeps it, and its gain grows with the rounds",
    "Q11": "the oracle is as good as SCC or better, SCC beats no SCC and HFedMS-S, these SCC without compensation",
    "Q12": "HFedMS-D's accuracy jumps in calibration rounds and rises slowly in full rounds",
    "Q13": "for the same number of updated parameters HFedMS-D is better than HFedMS-S on streams",
}
CLAIMS = tuple(TEXTS)


@dataclass(frozen=True)
class ClaimPart:
    """`values` has one number a seed, positive where it speaks for the claim; `shown` says what was measured."""

    text: str
    values: tuple[float, ...]
    shown: str = ""
    resolution: float = 0.0

    @property
    def estimate(self) -> Estimate | None:
        """Return the mean and the interval that decides, which is no narrower than the resolution."""
        return estimate(self.values, self.resolution)

    @property
    def verdict(self) -> Verdict:
        found = self.estimate
        if found is None:
            return "cannot be tested here"
        if found.half_width is None or abs(found.mean) <= found.half_width:
            return "undecided"
        return "holds" if found.mean > 0 else "does not hold"


@dataclass(frozen=True)
class Claim:
    name: str
    column: Column
    parts: tuple[ClaimPart, ...]
    missing: str = ""
    """What keeps the claim from being tested, where something does."""
    diverged: str = ""
    """Which of HFedMS's own runs diverged, where one did: it keeps the claim from holding."""

    @property
    def text(self) -> str:
        return TEXTS[self.name]

    @property
    def verdict(self) -> Verdict:
        verdicts = [part.verdict for part in self.parts]
        if self.missing:
            return "cannot be tested here"
        if "does not hold" in verdicts:
            return "does not hold"
        if self.diverged:
            return "undecided"
        if all(each == "cannot be tested here" for each in verdicts):
            return "cannot be tested here"
        return "holds" if all(each == "holds" for each in verdicts) else "undecided"

    @property
    def remarks(self) -> str:
        """Return what is missing and what diverged, in words."""
        return "; ".join(each for each in (self.missing, self.diverged) if each)

    def as_json(self) -> dict[str, Any]:
        return {
            "claim": self.name,
            "text": self.text,
            "settings": self.column,
            "verdict": self.verdict,
            "missing": self.missing,
            "diverged": self.diverged,
            "parts": [_part_as_json(part) for part in self.parts],
        }


def paired(ours: Mapping[int, float], theirs: Mapping[int, float]) -> tuple[float, ...]:
    """Return ours less theirs for each seed that has both."""
    return tuple(ours[seed] - theirs[seed] for seed in ours if seed in theirs)


def verdicts_table(claims: Iterable[Claim]) -> Table:
    """Return a line for each claim."""
    rows = tuple((claim.name, claim.column, claim.text, claim.verdict, _counts(claim)) for claim in claims)
    return Table(
        "verdicts", "The paper's claims here", ("claim", "settings", "what it says", "verdict", "its parts"), rows
    )


def claims_table(claims: Iterable[Claim]) -> Table:
    """Return the verdicts, and below each what decided it."""
    rows: list[tuple[Value, ...]] = []
    for claim in claims:
        rows.append((claim.name, claim.column, claim.text, claim.verdict, claim.remarks))
        rows += [("", "", f"- {part.text}", part.verdict, _shown(part)) for part in claim.parts]
    return Table(
        "claims", "The paper's claims here", ("claim", "settings", "what it says", "verdict", "measured"), tuple(rows)
    )


def _counts(claim: Claim) -> str:
    """Return how many parts came to which verdict and what diverged, or what is missing."""
    verdicts = Counter(part.verdict for part in claim.parts)
    counts = [] if claim.missing else [f"{count} {verdict}" for verdict, count in verdicts.items()]
    return ", ".join([*counts, claim.remarks] if claim.remarks else counts)


def _shown(part: ClaimPart) -> str:
    found = part.estimate
    if found is None:
        return part.shown
    spread = "" if found.half_width is None else f" ± {found.half_width:.2g}"
    return f"{found.mean:+.3g}{spread}" + (f"; {part.shown}" if part.shown else "")


def _part_as_json(part: ClaimPart) -> dict[str, Any]:
    found: Sequence[float | None] = part.estimate or (None, None)
    return asdict(part) | {"verdict": part.verdict, "mean": found[0], "half_width": found[1]}
