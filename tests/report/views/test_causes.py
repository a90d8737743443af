"""Seconds of a round by cause: what the summary's shares are shares of."""

import dataclasses

import pytest

from hfedms_sim.errors import InputError
from hfedms_sim.exhibits import Bars
from hfedms_sim.report.run_labels import run_sets
from hfedms_sim.report.views.causes import causes_figure, seconds_by_cause
from tests.report.views.samples import timed, timed_once

FEDAVG = {"name": "fedavg", "sample_ratio": 0.5}


def test_the_causes_of_a_run_add_up_to_its_mean_round() -> None:
    result = timed_once()
    mean_s = (result.rounds["end_s"] - result.rounds["start_s"]).mean()
    assert sum(seconds_by_cause(result).values()) == pytest.approx(mean_s)


def test_a_bar_is_the_mean_over_seeds() -> None:
    one, other, fedavg = timed(seed=1), timed(seed=2), timed(seed=1, strategy=FEDAVG)
    (bars,) = causes_figure(run_sets([one, other, fedavg])).panels
    assert isinstance(bars, Bars)
    assert bars.labels == ("hfedms-d, 2 seeds", "fedavg, seed 1")
    values = dict(bars.series)["cell direction"]
    expected = [seconds_by_cause(each)["cell direction"] for each in (one, other, fedavg)]
    assert values == pytest.approx(((expected[0] + expected[1]) / 2, expected[2]))


def test_shares_of_a_bar_add_up_to_one() -> None:
    (bars,) = causes_figure(run_sets([timed_once(), timed(strategy=FEDAVG)]), in_shares=True).panels
    assert isinstance(bars, Bars)
    assert [
        sum(value for value in column if value) for column in zip(*(own for _, own in bars.series), strict=True)
    ] == [pytest.approx(1.0)] * 2


def test_runs_of_an_earlier_version_are_refused_in_one_line() -> None:
    result = timed_once()
    earlier = dataclasses.replace(
        result, summary={key: value for key, value in result.summary.items() if key != "limited_by"}
    )
    assert seconds_by_cause(earlier) == {}
    with pytest.raises(InputError, match="an earlier version has made them"):
        causes_figure(run_sets([earlier]))
