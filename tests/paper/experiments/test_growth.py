"""The heat-maps: whose points they are, and how the paper's claim of them is judged."""

from collections.abc import Callable

import pytest

from hfedms_sim.campaign import Trial
from hfedms_sim.paper import published
from hfedms_sim.paper.claims import Claim
from hfedms_sim.paper.experiment import Results
from hfedms_sim.paper.experiments.growth import GROWTH
from tests.paper.made_up import SEEDS, diverging, results, study

Loss = Callable[[str, float, int], float]


def bowl(law: str, alpha: float, beta: int) -> float:
    """Return a loss that is least at the paper's point of the small scale: logarithmic, alpha = 1, beta = 8."""
    return 0.5 + abs(alpha - 1) / 10 + abs(beta - 8) / 100 + (0.2 if law != "log" else 0.0)


def played(loss: Loss, seeds: tuple[int, ...] = SEEDS) -> Results:
    """Return all points of some seeds; by itself the experiment plays the first one only."""

    def end(trial: Trial) -> tuple[float, float]:
        facts = dict(trial.variant)
        return 0.8, loss(facts["growth"], float(facts["alpha"]), int(facts["beta"]))

    return Results([each for seed in seeds for each in results(GROWTH, study((seed,)), end).results])


def claim_of(found: Results) -> Claim:
    (claim,) = GROWTH.outcome(study(), found).claims
    assert claim.name == "Q9"
    return claim


def only(made: Results, **facts: str) -> Results:
    """Return the trials at one point."""
    return Results([each for each in made.results if facts.items() <= dict(each.trial.variant).items()])


def without(made: Results, some: Results) -> Results:
    return Results([each for each in made.results if each not in some.results])


def test_a_bowl_around_the_papers_point_holds() -> None:
    assert claim_of(played(bowl)).verdict == "holds"


@pytest.mark.parametrize(
    ("better", "broken"),
    [
        (("linear", 0.05, 4), "log's best is below linear's best"),
        (("exp", 0.08, 8), "log's best is below exp's best"),
        (("log", 1.0, 4), "alpha = 1, beta = 8 is log's best point"),
        (("log", 0.25, 4), "the slowest growth is worse"),
        (("log", 3.0, 8), "the fastest growth is worse"),
    ],
)
def test_a_better_point_elsewhere_breaks_the_claim(better: tuple[str, float, int], broken: str) -> None:
    claim = claim_of(played(lambda *point: 0.1 if point == better else bowl(*point)))
    assert claim.verdict == "does not hold"
    assert broken in [part.text for part in claim.parts if part.verdict == "does not hold"]


def test_one_seed_decides_nothing_and_a_point_that_is_missing_leaves_it_untested() -> None:
    one = played(bowl, (1,))
    assert claim_of(one).verdict == "undecided"
    assert claim_of(without(one, only(one, growth="exp", alpha="0.08", beta="4"))).verdict == "cannot be tested here"


def test_a_point_that_diverged_counts_as_the_worst_and_is_named() -> None:
    made = played(bowl)
    fastest = only(made, growth="log", alpha="3", beta="8")
    broken = diverging(fastest, [("hfedms-s", seed) for seed in SEEDS])
    outcome = GROWTH.outcome(study(), Results([*without(made, fastest).results, *broken.results]))
    rows = {row[:3]: row[3] for row in outcome.tables[0].rows}
    assert rows["log", 3.0, 8] == max(value for value in rows.values() if isinstance(value, float))
    assert outcome.tables[0].note.endswith(
        "Counted as the worst: log, alpha 3, beta 8 diverged with seed 1 and 2 and 3."
    )
    assert outcome.claims[0].verdict == "holds"


def test_where_the_papers_point_diverged_the_claim_does_not_hold() -> None:
    made = played(bowl)
    ours = only(made, growth="log", alpha="1", beta="8")
    broken = diverging(ours, [("hfedms-s", seed) for seed in SEEDS])
    assert claim_of(Results([*without(made, ours).results, *broken.results])).verdict == "does not hold"


def test_where_everything_diverged_there_is_no_worst() -> None:
    claim = claim_of(diverging(played(bowl), [("hfedms-s", seed) for seed in SEEDS]))
    assert claim.verdict == "cannot be tested here"


def test_the_papers_best_point_and_its_loss_are_named() -> None:
    assert published.BEST_GROWTH == ("log", 2.0, 10, 0.453)
    note = GROWTH.outcome(study(), played(bowl, (1,))).tables[0].note
    assert "The paper's lowest loss is 0.453 with log, alpha = 2, beta = 10" in note
