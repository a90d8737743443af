"""A page draws fewer points than there are, loses no peak, and says what it left out."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hfedms_sim.exhibits import Bars, Dots, DotSet, Figure, Line, Lines
from hfedms_sim.report.page.thinning import MOST_DOTS, MOST_POINTS, thinned


def figure_of(line: Line) -> Figure:
    return Figure("f", "a figure", (Lines("", "x", "y", (line,)),), note="Already said.")


def line_in(figure: Figure) -> Line:
    (panel,) = figure.panels
    assert isinstance(panel, Lines)
    return panel.lines[0]


def test_a_short_line_stays_as_it_is() -> None:
    figure = figure_of(Line("a", (1.0, 2.0), (3.0, 4.0)))
    assert thinned(figure) is figure


def test_what_has_no_points_stays_as_it_is() -> None:
    figure = Figure("f", "bars", (Bars("", "J", ("a",), (("b", (1.0,)),)),))
    assert thinned(figure) is figure


@given(st.integers(MOST_POINTS + 1, 5 * MOST_POINTS), st.integers(0, 2**32 - 1))
def test_a_long_line_keeps_its_ends_its_extremes_and_its_order(count: int, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=count).tolist()
    x = tuple(float(number) for number in range(len(values)))
    line = line_in(thinned(figure_of(Line("a", x, tuple(values)))))
    assert len(line.x) <= MOST_POINTS + 2
    assert list(line.x) == sorted(line.x)
    assert (line.x[0], line.x[-1]) == (x[0], x[-1])
    assert (min(line.y), max(line.y)) == (min(values), max(values))
    assert all(values[int(at)] == value for at, value in zip(line.x, line.y, strict=True))


def test_a_band_keeps_its_widest_edges() -> None:
    count = 10 * MOST_POINTS
    y = tuple(float(number % 7) for number in range(count))
    low, high = [value - 1 for value in y], [value + 1 for value in y]
    low[4321], high[8765] = -50.0, 60.0
    line = line_in(thinned(figure_of(Line("a", tuple(map(float, range(count))), y, tuple(low), tuple(high)))))
    assert min(line.low) == -50.0
    assert max(line.high) == 60.0
    assert all(bottom <= value <= top for bottom, value, top in zip(line.low, line.y, line.high, strict=True))


def test_the_note_counts_what_is_drawn_and_keeps_what_was_said() -> None:
    count = 5 * MOST_POINTS
    figure = thinned(figure_of(Line("a", tuple(map(float, range(count))), tuple(map(float, range(count))))))
    drawn = len(line_in(figure).x)
    assert figure.note.startswith(f"Already said. {drawn:,} of {count:,} points are drawn")


def test_many_dots_keep_their_values_and_texts_beside_them() -> None:
    count = 3 * MOST_DOTS
    numbers = tuple(float(number) for number in range(count))
    own = DotSet("sensors", numbers, numbers, values=numbers, texts=tuple(map(str, range(count))))
    (panel,) = thinned(Figure("f", "map", (Dots("", "x", "y", (own,)),))).panels
    assert isinstance(panel, Dots)
    kept = panel.sets[0]
    assert len(kept.x) == MOST_DOTS
    assert [float(text) for text in kept.texts] == list(kept.values) == list(kept.x)
