"""The search against an exhaustive grid of 320 trials: nearly the same front for a fraction of the training."""

from functools import cache
from pathlib import Path

import pytest

from hfedms_sim.campaign.workers import HereWorkers
from hfedms_sim.recommendation.found import Found, learners_of
from hfedms_sim.recommendation.front import Box, Point, hypervolume
from hfedms_sim.recommendation.goal import Goal
from hfedms_sim.recommendation.playing import CampaignPlayer
from hfedms_sim.recommendation.prospects import Learnt, Prospect
from hfedms_sim.recommendation.search import search
from hfedms_sim.units import SECONDS_PER_DAY
from tests.recommendation.grid import EVERY, ROUNDS, SEEDS, Grid, candidates, question, read_grid

GOALS = {
    "accurate": Goal(0.5),
    "soon": Goal(0.45, within_s=60.0),
    "lasting": Goal(0.45, battery_s=7 * SECONDS_PER_DAY),
}


@cache
def grid() -> Grid:
    return read_grid()


def eligible(goal: Goal) -> list[Prospect]:
    """Return what of the grid's first seed counts for a goal."""
    first = [grid().prospects[each, SEEDS[0]] for each in candidates()]
    if goal.battery_s is not None:
        first = [each for each in first if each.battery_s is not None and each.battery_s >= goal.battery_s]
    cut = first if goal.within_s is None else [each.cut(goal.within_s) for each in first]
    return [each for each in cut if each.rounds]


def points_of(prospects: list[Prospect], learnt: Learnt, goal: Goal) -> list[Point]:
    return [point for each in prospects for point in each.points(learnt, goal.accuracy)]


@cache
def searched(goal: Goal) -> Found:
    return search(grid(), candidates(), goal, SEEDS, EVERY)


def trained_by_grid() -> int:
    everything = [grid().prospects[each, seed] for seed in SEEDS for each in candidates()]
    return ROUNDS * len(learners_of(everything, ROUNDS))


def test_the_grid_was_made_of_the_candidates_as_they_are_now() -> None:
    """Other settings, or another order, need a grid made anew: see grid.py."""
    assert grid().words == [each.words for each in candidates()]


@pytest.mark.slow
def test_a_candidate_played_anew_has_the_figures_of_the_grid(tmp_path: Path) -> None:
    """One learns by rounds, the other without a barrier; timing is exact, accuracies are kept as float32."""
    player = CampaignPlayer(question(Goal(1.0)), tmp_path, lambda options: HereWorkers())
    pairs = [("fedavg", "redcap"), ("fedbuff", "nb-iot-nb2")]
    chosen = [next(each for each in candidates() if (each.strategy, each.radio) == pair) for pair in pairs]
    timed = player.time(chosen, SEEDS[0]).prospects
    assert [each.candidate for each in timed] == chosen
    learnt = player.train("again", timed, ROUNDS, SEEDS[0])
    for each in timed:
        stored = grid().prospects[each.candidate, SEEDS[0]]
        assert each.time_s == pytest.approx(stored.time_s, rel=1e-9)
        assert each.cost == pytest.approx(stored.cost, rel=1e-9)
        assert each.battery_s == pytest.approx(stored.battery_s, rel=1e-9)
        assert dict(each.measured(learnt)) == pytest.approx(dict(stored.measured(grid().learnt)), abs=1e-6)


def test_the_grid_is_large_enough() -> None:
    assert len(grid().prospects) >= 300
    assert len({each.strategy for each in candidates()}) >= 4
    assert len({each.radio for each in candidates()}) == 4


@pytest.mark.parametrize("goal", GOALS.values(), ids=GOALS)
def test_the_front_has_nearly_the_volume_of_the_grids_for_a_seventh_of_its_training(goal: Goal) -> None:
    found = searched(goal)
    assert not found.relaxed
    everything = points_of(eligible(goal), grid().learnt, goal)
    box = Box.around(everything, goal.accuracy)
    measured = points_of(eligible(goal), found.learnt, goal)
    assert hypervolume(measured, box) >= 0.95 * hypervolume(everything, box)
    assert len(found.trained) <= 0.15 * trained_by_grid()


@pytest.mark.parametrize("goal", GOALS.values(), ids=GOALS)
def test_the_recommended_one_is_nearly_as_soon_as_the_grids_best(goal: Goal) -> None:
    found = searched(goal)
    reached = [point for each in eligible(goal) if (point := each.reached(grid().learnt, goal.accuracy))]
    own = found.by_seed[found.finalists[0]][0].reached
    assert own is not None
    assert own.time_s <= 1.25 * min(point.time_s for point in reached)


def test_it_is_the_same_again() -> None:
    one, other = searched(GOALS["soon"]), search(grid(), candidates(), GOALS["soon"], SEEDS, EVERY)
    assert (one.finalists, one.ended, one.trained) == (other.finalists, other.ended, other.trained)
