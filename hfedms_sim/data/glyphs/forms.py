"""Letter forms: how each of the 62 characters is written in each of six hands, as points along the pen's path.

The strokes are the Hershey fonts (A. V. Hershey, US National Bureau of Standards, 1967), digitised for pen plotters
and so the nearest thing to handwriting that is free to use; the package Hershey-Fonts carries them. A hand takes
digits, capitals and small letters from fonts of its own. Where a font's form could be taken for another character
(script Q for 2, plain I for l) the hand takes a plainer form or adds a stroke, as careful writers do.

Every form has the same number of points, evenly spaced along its strokes, so that many forms make one array.
Coordinates are in capital heights: x from the middle of the form, y down from the baseline (a capital's top is -1).
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hfedms_sim.data.base import CHARACTERS

POINTS = 128

_BASELINE, _CAPITAL_HEIGHT = 9.0, 21.0  # in the fonts' units, y down

Stroke = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Hand:
    """The font of each kind of character; `plain` are the characters taken from the plainest font instead."""

    digits: str
    capitals: str
    small: str
    slope: float = 0.0
    """How far the fonts lean already, in x per y."""
    plain: str = ""
    small_scale: float = 1.0
    pen_scale: float = 1.0
    """Fonts that draw a thick stroke as two lines need a finer pen, or their loops fill up."""


_PLAINEST = "rowmans"
_SCRIPT_SMALL = 1.3  # script small letters are under half a capital's height: too small for 28 pixels
_DOUBLED = 0.75

HANDS = (
    Hand("rowmans", "rowmans", "rowmans"),
    Hand("timesr", "timesr", "timesr", pen_scale=_DOUBLED),
    Hand("timesi", "timesi", "timesi", slope=0.3, pen_scale=_DOUBLED),
    Hand("scripts", "cursive", "cursive", slope=0.3, plain="ABCDEFGHIJKLOPQSTVXYZqrsvz", small_scale=_SCRIPT_SMALL),
    Hand("rowmans", "rowmans", "cursive", slope=0.1, plain="qrsvz", small_scale=_SCRIPT_SMALL),
    Hand("timesi", "timesi", "scriptc", slope=0.3, plain="qrsvz", small_scale=_SCRIPT_SMALL, pen_scale=_DOUBLED),
)

# Strokes added to the plainest font, in its units: a slash through 0, serifs on I, a foot under l.
_ADDED: dict[str, list[list[tuple[float, float]]]] = {
    "0": [[(5, 6), (15, -9)]],
    "I": [[(-1, -12), (9, -12)], [(-1, 9), (9, 9)]],
    "l": [[(4, 8), (6, 9), (9, 9), (10, 7)]],
}


class Forms(NamedTuple):
    points: NDArray[np.float64]
    """(hands, 62, POINTS, 2)"""
    lengths: NDArray[np.float64]
    """(hands, 62): of all strokes, in capital heights."""


@cache
def letter_forms() -> Forms:
    drawn = [[_points(_strokes(hand, character)) for character in CHARACTERS] for hand in HANDS]
    points = np.array([[form for form, _ in hand] for hand in drawn])
    lengths = np.array([[length for _, length in hand] for hand in drawn])
    return Forms(points, lengths)


def _strokes(hand: Hand, character: str) -> list[Stroke]:
    small = character.islower()
    font = hand.digits if character.isdigit() else hand.small if small else hand.capitals
    scale = hand.small_scale if small else 1.0
    if character in hand.plain:
        font, scale = _PLAINEST, 1.0
    strokes = [np.asarray(stroke, dtype=np.float64) for stroke in _font(font).strokes_for_text(character)]
    if font == _PLAINEST:
        strokes += [np.asarray(stroke, dtype=np.float64) for stroke in _ADDED.get(character, [])]
    placed = [(stroke - (0.0, _BASELINE)) * (scale / _CAPITAL_HEIGHT) for stroke in strokes if len(stroke) > 1]
    all_x = np.concatenate([stroke[:, 0] for stroke in placed])
    return [stroke - ((all_x.min() + all_x.max()) / 2, 0.0) for stroke in placed]


def _points(strokes: list[Stroke]) -> tuple[NDArray[np.float64], float]:
    """POINTS points evenly along the strokes; lifting the pen adds no length."""
    path = np.concatenate(strokes)
    steps = np.concatenate([np.append(0.0, np.hypot(*np.diff(stroke, axis=0).T)) for stroke in strokes])
    travelled = np.cumsum(steps)
    at = (np.arange(POINTS) + 0.5) / POINTS * travelled[-1]
    return np.column_stack([np.interp(at, travelled, path[:, axis]) for axis in (0, 1)]), float(travelled[-1])


@cache
def _font(name: str) -> Any:
    # Here: only who draws images pays for unpacking the fonts.
    from HersheyFonts import HersheyFonts  # type: ignore[import-untyped]

    font = HersheyFonts()
    font.load_default_font(name)
    return font
