"""The mean of runs that differ in nothing but the seed, and how far they lie apart.

Against rounds the mean is taken at the rounds that were evaluated in all runs. Against anything else each seed has
spent a little more or less at the same round. Then the grid is what the first run had spent at each of its evaluations,
as far as all runs go, and the ends of that stretch; between its own evaluations a run is interpolated linearly.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


class Curve(NamedTuple):
    """What a run had spent (`x`, ascending) when it was evaluated, and what came out."""

    x: Values
    y: Values


class Band(NamedTuple):
    x: Values
    mean: Values
    low: Values
    high: Values


def band_of(curves: Sequence[Curve], *, exact_x: bool) -> Band:
    """Return mean, lowest and highest; `exact_x`: only where all have a point. Empty if they share no stretch."""
    grid = _shared_points(curves) if exact_x else _shared_stretch(curves)
    y = np.array([np.interp(grid, curve.x, curve.y) for curve in curves])
    return Band(grid, y.mean(axis=0), y.min(axis=0), y.max(axis=0))


def _shared_points(curves: Sequence[Curve]) -> Values:
    grid = curves[0].x
    for curve in curves[1:]:
        grid = np.intersect1d(grid, curve.x)
    return grid


def _shared_stretch(curves: Sequence[Curve]) -> Values:
    start, end = max(curve.x[0] for curve in curves), min(curve.x[-1] for curve in curves)
    first = curves[0].x
    inside = first[(first > start) & (first < end)]
    return np.unique(np.concatenate(([start], inside, [end]))) if start <= end else np.empty(0)
