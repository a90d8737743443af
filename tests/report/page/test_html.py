"""What a page holds: texts as texts, figures as JSON that ends no element, nothing from elsewhere."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from hfedms_sim.exhibits import Bars, Boxes, Figure, HeatMap, Line, Lines, Span, Table, Timeline
from hfedms_sim.report.page.blocks import (
    Card,
    Cards,
    Drawing,
    Listing,
    Page,
    Prose,
    RunPart,
    Section,
    SortableTable,
    Switch,
)
from hfedms_sim.report.page.encoding import encoded
from hfedms_sim.report.page.html import page_html
from tests.report.samples import FIGURE, TABLE

HOSTILE = "</script><script>alert('x')</script>&amp;\u2028"


def lines(title: str = "accuracy") -> Figure:
    return Figure("f", title, (Lines(title, title, title, (Line(title, (1.0,), (2.0,)),)),), note=title)


def page(text: str) -> Page:
    spans = (Span(0, 0.0, 1.0, text, text, is_marked=True),)
    blocks = (
        Cards((Card(text, text, text),)),
        Prose((text,)),
        SortableTable(Table("t", text, (text,), ((text,), (1.5,)), text)),
        Drawing(lines(text)),
        Drawing(Figure("g", text, (Timeline(text, text, (text,), spans, text),))),
        Switch(text, ((text, lines(text)), ("other", lines()))),
        Switch(text, ((text, lines(text)), ("other", lines())), 1, is_long=True),
        Listing(text, text),
    )
    run = RunPart(text, (Section("time", text, blocks),))
    return Page(text, text, (Section("overview", text, blocks),), (run, run))


class Elements(HTMLParser):
    """Notes every element, its text, and what it asks for from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.asks: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.asks += [str(value) for name, value in attrs if name in ("src", "href", "action", "srcset")]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(text: str) -> Elements:
    found = Elements()
    found.feed(text)
    return found


def test_hostile_text_adds_no_element() -> None:
    assert read(page_html(page(HOSTILE))).tags == read(page_html(page("harmless"))).tags


def test_hostile_text_is_shown() -> None:
    assert "".join(read(page_html(page(HOSTILE))).texts).count("alert('x')") > 10


def test_it_asks_for_nothing_from_elsewhere() -> None:
    found = read(page_html(page("harmless")))
    assert all(asked.startswith(("#", "data:")) for asked in found.asks)
    css_and_js = "".join(found.texts)
    assert "@import" not in css_and_js
    assert not re.search(r"url\(|fetch\(|XMLHttpRequest|innerHTML\s*=", css_and_js)


def test_every_figure_that_is_shown_is_there() -> None:
    text = page_html(page("harmless"))
    content = json.loads(re.search(r'id="figures">(.*?)</script>', text, re.DOTALL)[1])  # type: ignore[index]
    assert set(re.findall(r'data-figure="(\w+)"', text)) <= set(content)
    assert set(re.findall(r'(?:option|button)[^>]* value="(f\d+)"', text)) <= set(content)


def test_a_page_of_one_run_has_its_sections_in_the_contents() -> None:
    one = Page("a", "b", (), (RunPart("run", (Section("time", "Where the time went", ()),)),))
    text = page_html(one)
    assert '<a href="#time">Where the time went</a>' in text
    assert '<select id="run">' not in text


def test_numbers_of_a_table_can_be_sorted_by_their_value() -> None:
    text = page_html(Page("a", "b", (Section("s", "S", (SortableTable(TABLE),)),), ()))
    assert '<td class="number" data-value="1258.7990123">1,259</td>' in text


def test_every_kind_of_panel_is_encoded() -> None:
    kinds = {panel["kind"] for panel in encoded(FIGURE)["panels"]}
    assert kinds == {"lines", "boxes", "heatMap", "bars", "timeline", "dots"}


def test_figures_are_json_without_what_json_does_not_know() -> None:
    figure = Figure("f", "f", (Lines("", "x", "y", (Line("a", (1.0, 2.0), (float("nan"), float("inf"))),)),))
    assert encoded(figure)["panels"][0]["series"][0]["y"] == [None, None]
    json.dumps(encoded(FIGURE), allow_nan=False)


@pytest.mark.parametrize("values", [(1.0,), (3.0, 1.0, 2.0), tuple(map(float, range(100))), (0.0, 0.0, 0.0, 50.0)])
def test_a_box_is_that_of_matplotlib(values: tuple[float, ...]) -> None:
    from matplotlib.cbook import boxplot_stats

    (theirs,) = boxplot_stats(np.array(values))
    (ours,) = encoded(Figure("f", "f", (Boxes("", "y", (("a", values),)),)))["panels"][0]["groups"]
    assert ours["quartiles"] == pytest.approx([theirs["q1"], theirs["med"], theirs["q3"]])
    assert ours["whiskers"] == pytest.approx([theirs["whislo"], theirs["whishi"]])


def test_what_is_not_there_is_null_in_bars_and_heat_maps() -> None:
    bars, heat_map = Bars("", "y", ("a", "b"), (("s", (1.0, None)),)), HeatMap("", "x", "y", ("1",), ("2",), ((None,),))
    encoded_bars, encoded_map = encoded(Figure("f", "f", (bars, heat_map)))["panels"]
    assert encoded_bars["series"][0]["values"] == [1.0, None]
    assert encoded_map["values"] == [[None]]


def test_a_box_of_five_numbers_tells_how_many_it_stands_for() -> None:
    boxes = Boxes("", "y", (("a", (1.0, 2.0, 3.0, 4.0, 5.0)),), counts=(1234,))
    assert encoded(Figure("f", "f", (boxes,)))["panels"][0]["groups"][0]["count"] == 1234
