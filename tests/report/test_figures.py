"""What pictures look like: stacks, lanes, names beside dots, notes, and colours that stay."""

from itertools import combinations

import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from hfedms_sim.exhibits import Bars, Dots, DotSet, Figure, Line, Lines, Panel, Span, Timeline
from hfedms_sim.report.figures import picture_of
from hfedms_sim.report.pictures import PALETTE


def drawn(panel: Panel, note: str = "") -> Axes:
    picture = picture_of(Figure("one", "", (panel,), columns=1, note=note))
    picture.draw_without_rendering()
    return picture.axes[0]


def test_stacked_bars_stand_on_each_other_and_none_counts_as_nothing() -> None:
    series = (("a", (1.0, None)), ("b", (2.0, 4.0)), ("c", (3.0, 5.0)))
    axes = drawn(Bars("", "J", ("one", "two"), series, is_stacked=True))
    bottoms = [[bar.get_y() for bar in container] for container in axes.containers]  # type: ignore[attr-defined]
    assert bottoms[1:] == [[1.0, 0.0], [3.0, 4.0]]


def test_the_first_lane_is_on_top_and_kinds_of_spans_keep_their_colours() -> None:
    spans = (Span(0, 0.0, 1.0, "downlink"), Span(1, 1.0, 2.0, "waiting"), Span(1, 2.0, 3.0, "uplink", "", True))
    axes = drawn(Timeline("", "seconds", ("first", "second"), spans, "critical path"))
    assert [label.get_text() for label in axes.get_yticklabels()] == ["first", "second"]
    assert axes.transData.transform((0, 0))[1] > axes.transData.transform((0, 1))[1]
    colours = {each.get_label(): to_hex(each.get_facecolor()[0]) for each in axes.collections[:-1]}
    assert (colours["uplink"], colours["downlink"]) == (PALETTE[0].lower(), PALETTE[1].lower())
    _, labels = axes.get_legend_handles_labels()
    assert sorted(labels) == ["critical path", "downlink", "uplink", "waiting"]


def test_a_timeline_of_many_lanes_names_some_and_stays_a_picture() -> None:
    lanes = tuple(f"sensor {number}" for number in range(400))
    axes = drawn(Timeline("", "s", lanes, tuple(Span(lane, 0.0, 1.0, "work") for lane in range(400))))
    assert len(axes.get_yticklabels()) <= 80
    assert axes.figure.bbox.height / axes.figure.dpi < 20


def boxes_of_names(axes: Axes) -> list[Bbox]:
    return [each.get_window_extent() for each in axes.texts if isinstance(each, Annotation)]


def test_names_of_dots_that_stand_close_do_not_cover_each_other() -> None:
    x = (1.0, 1.02, 1.04, 1.06, 9.0)
    y = (5.0, 4.9, 4.8, 4.7, 0.1)
    names = tuple(f"hfedms-d, variant {number}" for number in range(5))
    axes = drawn(Dots("", "x", "y", (DotSet("front", x, y, texts=names, is_joined=True, is_named=True),)))
    boxes = boxes_of_names(axes)
    assert len(boxes) == 5
    assert not any(Bbox.intersection(one, other) for one, other in combinations(boxes, 2))


def test_a_map_has_equal_scales_and_the_hall_as_its_limits() -> None:
    axes = drawn(Dots("", "x", "y", (DotSet("s", (3.0,), (4.0,)),), is_map=True, extent=(30.0, 10.0)))
    assert (axes.get_xlim(), axes.get_ylim()) == ((0, 30), (0, 10))
    box = axes.get_window_extent()
    assert box.width / box.height == pytest.approx(3.0, rel=1e-3)


def test_a_note_stands_below_the_panels_and_nothing_in_it_is_a_formula() -> None:
    axes = drawn(Lines("", "round", "y", (Line("a", (1.0, 2.0), (1.0, 2.0)),)), note="costs $1$ " * 60)
    [note] = [text for text in axes.figure.texts if text.get_text().startswith("costs")]
    assert r"\$1\$" in note.get_text()
    assert note.get_window_extent().y1 <= axes.xaxis.label.get_window_extent().y0
    assert note.get_window_extent().x1 <= axes.figure.bbox.x1


def test_a_long_title_stands_above_the_panels_and_not_in_the_legend() -> None:
    line = Line("a label of some length", (1.0, 2.0), (1.0, 2.0))
    picture = picture_of(Figure("one", "long " * 40, (Lines("wide " * 40, "x", "y", (line,)),), columns=1))
    picture.draw_without_rendering()
    [title], [legend], axes = picture.texts, picture.legends, picture.axes[0]
    assert title.get_window_extent().x1 <= legend.get_window_extent().x0
    assert axes.title.get_window_extent().x1 <= legend.get_window_extent().x0
    assert axes.title.get_window_extent().y1 <= title.get_window_extent().y0


def test_a_label_that_begins_with_an_underscore_is_in_the_legend() -> None:
    axes = drawn(Lines("", "round", "y", (Line("_hall", (1.0, 2.0), (1.0, 2.0)),)))
    [legend] = axes.figure.legends
    assert [text.get_text().strip() for text in legend.get_texts()] == ["_hall"]


def test_more_labels_than_colours_differ_in_their_markers() -> None:
    sets = tuple(DotSet(f"v{number}", (float(number),), (1.0,)) for number in range(16))
    axes = drawn(Dots("", "x", "y", sets))
    looks = [(str(line.get_color()), str(line.get_marker())) for line in axes.lines]
    assert len(set(looks)) == 16


def test_a_logarithmic_axis_of_less_than_a_power_of_ten_has_numbers_that_can_be_read() -> None:
    line = Line("a", (12.0, 48.0), (3.0, 7.0))
    axes = drawn(Lines("", "x", "y", (line,), log_x=True, log_y=True))
    low, high = axes.get_xlim()
    shown = [text.get_text() for text in axes.get_xticklabels() if low <= text.get_position()[0] <= high]
    assert shown == ["20"] or shown == ["20", "50"]
