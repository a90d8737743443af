"""Points of time, cost and accuracy: which no other beats, and how much of the space below they cover.

A point is better the sooner, the cheaper and the more accurate it is. The hypervolume of a set of points is the volume
of all that at least one of them beats, as a share of a box. Time and cost are taken as logarithms, so that a factor
counts the same among fast radios and slow ones; accuracy from 0 up to the goal's, beyond which nothing is asked for.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from math import log
from typing import NamedTuple


class Point(NamedTuple):
    time_s: float
    cost: float
    accuracy: float

    def beats(self, other: "Point") -> bool:
        """Return whether this is at least as good in all three, and not the same."""
        as_good = self.time_s <= other.time_s and self.cost <= other.cost and self.accuracy >= other.accuracy
        return as_good and self != other


class Box(NamedTuple):
    """The part of the space that counts: from the soonest and cheapest round of all to the last and dearest."""

    least_s: float
    most_s: float
    least_cost: float
    most_cost: float
    accuracy: float

    @classmethod
    def around(cls, points: Sequence[Point], accuracy: float) -> "Box":
        """Return the box of these points; what costs nothing is as good as the cheapest of the others."""
        times_s, costs = [each.time_s for each in points], [each.cost for each in points]
        least_cost = min((cost for cost in costs if cost > 0), default=0.0)
        return cls(min(times_s), max(times_s), least_cost, max(costs), accuracy)

    def gains(self, point: Point) -> tuple[float, float, float]:
        """Return how good a point is in each direction, from 0 to 1."""
        time = _share_saved(point.time_s, self.least_s, self.most_s)
        cost = _share_saved(point.cost, self.least_cost, self.most_cost)
        return time, cost, min(1.0, point.accuracy / self.accuracy)


def _share_saved(value: float, least: float, most: float) -> float:
    if least <= 0 or most <= least:  # nothing to tell apart
        return 1.0 if value <= most else 0.0
    return min(1.0, max(0.0, (log(most) - log(max(value, least))) / (log(most) - log(least))))


def front_of(points: Sequence[Point]) -> list[int]:
    """Return the indices of the points that no other beats, in order; of equal ones the first.

    From the most accurate point down: a point is beaten if one that was passed is no later and no dearer.
    """
    order = sorted(range(len(points)), key=lambda index: (-points[index].accuracy, *points[index][:2], index))
    stairs = _Stairs()
    return sorted(index for index in order if stairs.add(-points[index].time_s, -points[index].cost))


def hypervolume(points: Iterable[Point], box: Box) -> float:
    """Return the share of the box that the points beat.

    From the most accurate point down: the area of time and cost that those passed so far beat, times the step to the
    next accuracy.
    """
    gains = sorted((box.gains(point) for point in points), key=lambda gain: -gain[2])
    stairs = _Stairs()
    volume = 0.0
    for place, (time, cost, accuracy) in enumerate(gains):
        stairs.add(time, cost)
        following = gains[place + 1][2] if place + 1 < len(gains) else 0.0
        volume += stairs.area * (accuracy - following)
    return volume


class _Stairs:
    """The union of rectangles from the origin to points: its upper right edge as stairs, and its area."""

    def __init__(self) -> None:
        self._x: list[float] = []  # ascending
        self._y: list[float] = []  # descending
        self.area = 0.0

    def add(self, x: float, y: float) -> bool:
        """Add a rectangle, and return whether it reaches beyond the others. The area is that of positive sides."""
        place = bisect_left(self._x, x)
        if place < len(self._x) and self._y[place] >= y:
            return False
        end = place + (place < len(self._x) and self._x[place] == x)
        start = place
        while start > 0 and self._y[start - 1] <= y:
            start -= 1
        left, below = self._x[start - 1] if start else 0.0, self._y[end] if end < len(self._y) else 0.0
        covered, edge = 0.0, left
        for index in range(start, end):
            covered += (self._x[index] - edge) * (self._y[index] - below)
            edge = self._x[index]
        self.area += (x - left) * (y - below) - covered
        self._x[start:end], self._y[start:end] = [x], [y]
        return True
