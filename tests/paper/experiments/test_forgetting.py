"""Forgetting: what a model knows of a round's batches beyond the test data, and for how long."""

import pytest

from hfedms_sim.campaign import Point
from hfedms_sim.paper.experiments.forgetting import FORGETTING
from tests.paper.made_up import claims_of, reshaped, results, study


@pytest.mark.parametrize(("forgetful", "verdict"), [("hfedms-s", "holds"), ("hfedms-d", "does not hold")])
def test_forgetting_is_judged_by_who_loses_what_it_knew_of_the_probe(forgetful: str, verdict: str) -> None:
    """One of them loses all of 0.05 on a straight line from round 21, the probe's, to the end; the other nothing."""

    def row(strategy: str, point: Point) -> Point:
        left = (40 - point.round) / (40 - 21) if strategy == forgetful else 1.0
        return point._replace(probe_accuracy=(point.accuracy or 0.0) + 0.05 * left)

    here = study()
    (claim,) = FORGETTING.outcome(here, reshaped(results(FORGETTING, here), row)).claims
    assert (claim.name, claim.verdict) == ("Q10", verdict)


def test_forgetting_is_judged_beyond_the_test_data() -> None:
    """Both keep 0.05 beyond the test data for ever, however much better one of them reads in general."""
    claim = claims_of(FORGETTING)["Q10"]
    assert all(value == pytest.approx(0.0) for part in claim.parts for value in part.values)
