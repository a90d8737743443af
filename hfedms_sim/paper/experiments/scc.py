"""The paper's ablation of semantic compression and compensation (SCC) on streams: on, off, uncompensated, oracle.

"SCC disabled" is HFedMS-S in the paper's words, which also synchronises the whole model in every round; the schedule of
HFedMS-D without SCC (`scc: off`) is shown beside it. The oracle keeps every raw sample and extracts it anew.
"""

from hfedms_sim.campaign import Trial
from hfedms_sim.exhibits import Figure, Lines, Table
from hfedms_sim.paper.claims import Claim, ClaimPart, paired
from hfedms_sim.paper.experiment import Experiment, ExperimentOutcome, Results, Seeds, divergences
from hfedms_sim.paper.study import Study

VARIANTS: dict[str, tuple[str, dict[str, str]]] = {
    "SCC": ("hfedms-d", {}),
    "SCC off": ("hfedms-d", {"strategy.scc": "off"}),
    "uncompensated": ("hfedms-d", {"strategy.compensation": "off"}),
    "oracle": ("hfedms-d", {"strategy.scc": "oracle"}),
    "HFedMS-S": ("hfedms-s", {}),
}
_BETTER = (
    ("oracle", "SCC"),
    ("SCC", "SCC off"),
    ("SCC", "HFedMS-S"),
    ("SCC off", "uncompensated"),
    ("HFedMS-S", "uncompensated"),
)
"""First better than second, by the paper; that no SCC beats SCC without compensation it says of HFedMS-S."""


def _trials(study: Study) -> list[Trial]:
    changed = [(strategy, _fitting(study, changes)) for strategy, changes in VARIANTS.values()]
    return [trial for strategy, changes in changed for trial in study.trials(strategy, "stream", changes)]


def _fitting(study: Study, changes: dict[str, str]) -> dict[str, str]:
    """Return the changes with what the oracle cannot have in the program's reading left out: a memory to begin with."""
    if study.reading == "program" and changes.get("strategy.scc") == "oracle":
        return changes | {"strategy.initial_memory": "empty"}
    return changes


def _outcome(study: Study, results: Results) -> ExperimentOutcome:
    found = {name: _seeds(study, results, name) for name in VARIANTS}
    lines = {
        measure: tuple(
            seeds.line(name, "round", measure, style="dashed" if name == "HFedMS-S" else "solid")
            for name, seeds in found.items()
        )
        for measure in ("accuracy", "loss")
    }
    panels = tuple(Lines(f"test {measure}", "round", measure, lines[measure]) for measure in lines)
    rows = tuple(
        (name, seeds.shown("accuracy"), seeds.shown("loss"), _less(found, name)) for name, seeds in found.items()
    )
    header = ("variant", "accuracy", "loss", "accuracy less SCC's, mean")
    table = Table(
        "scc", "Semantic compression and compensation", header, rows, f"{study.words}. The paper shows curves only."
    )
    return ExperimentOutcome(
        (table,), (Figure("scc", f"SCC on streams, {study.words}", panels),), (_claim(study, found),)
    )


def _seeds(study: Study, results: Results, name: str) -> Seeds:
    strategy, changes = VARIANTS[name]
    return results.of(strategy, "stream", _fitting(study, changes))


def _less(found: dict[str, Seeds], name: str) -> float | None:
    values = paired(found[name].final("accuracy"), found["SCC"].final("accuracy"))
    return sum(values) / len(values) if values else None


def _claim(study: Study, found: dict[str, Seeds]) -> Claim:
    """Judge the paper's order. In the program's reading the oracle has less to begin with than SCC: no upper bound."""
    order = [pair for pair in _BETTER if study.reading == "text" or "oracle" not in pair]
    parts = [
        ClaimPart(
            f"{more} ends more accurate than {less}",
            paired(found[more].final("accuracy"), found[less].final("accuracy")),
        )
        for more, less in order
    ]
    return Claim("Q11", "defaults", tuple(parts), diverged=divergences(found))


SCC = Experiment("scc", "figure: accuracy with and without SCC", _trials, _outcome, ("Q11",))
