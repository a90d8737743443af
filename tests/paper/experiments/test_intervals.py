"""Curves for several T: what each round of a cycle brings, and HFedMS-D against HFedMS-S by updated parameters."""

from collections.abc import Callable

import pytest

from hfedms_sim.campaign import Point
from hfedms_sim.paper.experiments.intervals import INTERVALS_EXPERIMENT, gains_of
from tests.paper.made_up import claims_of, reshaped, results, study


def test_for_as_many_updated_parameters_hfedms_d_is_compared_with_hfedms_s() -> None:
    claim = claims_of(INTERVALS_EXPERIMENT)["Q13"]
    assert len(claim.parts) == 8  # T = 3, 5, 7, 9; accuracy and loss
    by_text = {part.text: part for part in claim.parts}
    assert by_text["T = 5: more accurate than hfedms-s"].values == pytest.approx((0.042,) * 3)  # 0.842 against 0.80
    worse = claims_of(INTERVALS_EXPERIMENT, {("hfedms-d", "stream"): (0.7, 0.5)})["Q13"]
    assert worse.verdict == "does not hold"


def rising(*by_position: float) -> Callable[[str, Point], Point]:
    """Return what gives curves this rise of accuracy in each round of a cycle; rounds 1, 6, 11 and so on are full."""

    def row(_: str, point: Point) -> Point:
        cycle, position = divmod(point.round - 1, 5)
        return point._replace(accuracy=cycle * sum(by_position) + sum(by_position[: position + 1]))

    return row


def test_gains_are_told_apart_by_position_in_the_cycle() -> None:
    here = study()
    found = reshaped(results(INTERVALS_EXPERIMENT, here), rising(0.01, 0.02, 0.003, 0.002, -0.001))
    gains = gains_of(found.of("hfedms-d", "stream").by_seed[1].curve)
    assert gains == pytest.approx((0.01, 0.02, 0.003, 0.002, -0.001))
    table = INTERVALS_EXPERIMENT.outcome(here, found).tables[1]
    shown = [(*row[:2], str(row[table.header.index("T = 5")]).split()[0]) for row in table.rows[:5]]
    assert shown == [
        (1, "full", "0.0100"), (2, "calibration", "0.0200"), (3, "calibration", "0.0030"), (4, "calibration", "0.0020"),
        (5, "calibration", "-0.0010"),
    ]  # fmt: skip


def test_cycles_that_were_not_evaluated_in_every_round_have_no_gains() -> None:
    every_fifth = reshaped(
        results(INTERVALS_EXPERIMENT, study()),
        lambda _, point: point if point.round % 5 == 0 else point._replace(accuracy=None),
    )
    assert gains_of(every_fifth.of("hfedms-d", "stream").by_seed[1].curve) == ()


@pytest.mark.parametrize(
    ("rises", "verdict"),
    [
        ((0.01, 0.02, 0.0, 0.0, 0.0), "holds"),
        ((0.01, 0.008, 0.006, 0.0, 0.0), "does not hold"),  # its calibration brings more, but not the first of it
        ((0.01, 0.02, -0.004, -0.004, -0.004), "does not hold"),  # the first brings more, but not all of it
        ((-0.01, 0.02, 0.01, 0.0, 0.0), "does not hold"),
    ],
)
def test_accuracy_has_to_jump_in_calibration_and_with_its_first_round(rises: tuple[float, ...], verdict: str) -> None:
    here = study()
    outcome = INTERVALS_EXPERIMENT.outcome(here, reshaped(results(INTERVALS_EXPERIMENT, here), rising(*rises)))
    assert outcome.claims[0].name == "Q12"
    assert outcome.claims[0].verdict == verdict
