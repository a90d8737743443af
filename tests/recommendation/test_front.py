"""The front and its hypervolume, against slow and obvious ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hfedms_sim.recommendation.front import Box, Point, front_of, hypervolume

BOX = Box(1.0, 100.0, 1.0, 100.0, 0.8)
VALUES = st.floats(1.0, 100.0)
POINTS = st.lists(st.builds(Point, VALUES, VALUES, st.floats(0.0, 0.8)), max_size=12)


def test_a_point_in_the_middle_beats_a_quarter_of_the_plane_up_to_its_accuracy() -> None:
    assert hypervolume([Point(10.0, 10.0, 0.4)], BOX) == pytest.approx(0.5 * 0.5 * 0.5)


def test_the_best_corner_beats_everything_and_the_worst_nothing() -> None:
    assert hypervolume([Point(1.0, 1.0, 0.8)], BOX) == pytest.approx(1.0)
    assert hypervolume([Point(100.0, 100.0, 0.8)], BOX) == 0.0
    assert hypervolume([], BOX) == 0.0


def test_accuracy_beyond_the_goal_counts_for_nothing() -> None:
    assert hypervolume([Point(10.0, 10.0, 0.9)], BOX) == hypervolume([Point(10.0, 10.0, 0.8)], BOX)


def test_two_points_beat_the_union() -> None:
    assert hypervolume([Point(1.0, 10.0, 0.8), Point(10.0, 1.0, 0.8)], BOX) == pytest.approx(0.75)


@given(POINTS)
def test_the_volume_is_the_share_of_random_points_that_are_beaten(points: list[Point]) -> None:
    gains = np.array([BOX.gains(point) for point in points]).reshape(-1, 3)
    drawn = np.random.default_rng(1).random((2000, 3))
    beaten = (drawn[:, None, :] <= gains[None, :, :]).all(axis=2).any(axis=1)
    assert hypervolume(points, BOX) == pytest.approx(beaten.mean(), abs=0.05)


@given(POINTS)
def test_the_front_alone_has_the_whole_volume(points: list[Point]) -> None:
    front = [points[index] for index in front_of(points)]
    assert hypervolume(front, BOX) == pytest.approx(hypervolume(points, BOX))
    assert not any(one.beats(other) for one in front for other in front)
    assert len(set(front)) == len(front)


@given(POINTS, st.builds(Point, VALUES, VALUES, st.floats(0.0, 0.8)))
def test_another_point_never_makes_it_smaller(points: list[Point], one: Point) -> None:
    assert hypervolume([*points, one], BOX) >= hypervolume(points, BOX) - 1e-12


def test_what_is_free_is_as_good_as_the_cheapest_that_is_not() -> None:
    points = [Point(10.0, 0.0, 0.8), Point(10.0, 1.0, 0.8), Point(1.0, 100.0, 0.8)]
    box = Box.around(points, 0.8)
    assert (box.least_cost, box.most_cost) == (1.0, 100.0)
    assert box.gains(points[0]) == box.gains(points[1])
    assert Box.around([Point(1.0, 0.0, 0.8)], 0.8).gains(Point(1.0, 0.0, 0.8)) == (1.0, 1.0, 1.0)
