"""Static data: who ends where, who is there sooner, and whose loss rises again."""

from math import log

import pytest

from hfedms_sim.campaign import Curve
from hfedms_sim.paper.experiment import Seeds
from hfedms_sim.paper.experiments.static_curves import STATIC_CURVES, loss_trend
from tests.paper.made_up import End, claims_of, results, study

ORDERED: dict[tuple[str, str], End] = {
    ("static-groups", "static"): (0.92, 0.6), ("static-icg", "static"): (0.93, 0.6), ("hfedms-s", "static"): (0.94, 0.6)
}  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "verdict"),
    [
        ({}, "holds"),
        ({"static-groups": 0.81}, "undecided"),  # sooner than FedAvg, but not seen so in every fifth round
        ({"static-icg": 0.91}, "does not hold"),
        ({"hfedms-s": 0.925}, "does not hold"),
    ],
)
def test_static_curves_judge_the_order_of_their_ends(changed: dict[str, float], verdict: str) -> None:
    ends = ORDERED | {(name, "static"): (accuracy, 0.6) for name, accuracy in changed.items()}
    assert claims_of(STATIC_CURVES, ends)["Q7"].verdict == verdict


def test_who_is_there_sooner_is_known_to_half_a_step_of_what_was_looked_at() -> None:
    sooner = claims_of(STATIC_CURVES, ORDERED)["Q7"].parts[0]
    assert sooner.values == pytest.approx([log(40 / 35)] * 3)  # rounds 35 and 40
    assert sooner.estimate is not None
    assert sooner.estimate.half_width == pytest.approx(2.5 / 35)


def test_static_curves_judge_overfitting() -> None:
    assert claims_of(STATIC_CURVES)["Q8"].verdict == "does not hold"  # no loss rises in a straight line


def test_a_loss_that_rises_at_the_end_is_seen() -> None:
    here = study((1,))
    made = results(STATIC_CURVES, here).of("static-groups", "static").by_seed[1]
    rows = [row._replace(loss=1.0 + abs(row.round - 25) / 40) for row in made.curve.rows]  # lowest in round 25 of 40
    assert loss_trend(Seeds({1: made._replace(curve=Curve(tuple(rows)))}))[1] == pytest.approx(8 / 40)
    assert loss_trend(Seeds({1: made}))[1] < 0
