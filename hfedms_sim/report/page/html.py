"""One HTML file of a page: style, program and figures inside it, so that it opens without a network.

Jinja escapes every text that it fills in; figures are JSON in which no `<` is left, and charts.js sets text as text.
The page forbids itself every request (Content-Security-Policy).
"""

import json
from collections.abc import Iterator
from functools import partial
from importlib.resources import files

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from hfedms_sim.exhibits import Figure, Value
from hfedms_sim.report.exhibits import formatted
from hfedms_sim.report.page.blocks import Drawing, Page, Section, Switch
from hfedms_sim.report.page.encoding import encoded
from hfedms_sim.report.page.thinning import thinned
from hfedms_sim.system.provenance import package_version

_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def page_html(page: Page) -> str:
    """Return the page as the text of one file."""
    figures = list(_figures(page))
    numbers = {id(figure): f"f{number}" for number, figure in enumerate(figures)}
    template = Environment(autoescape=True, undefined=StrictUndefined).from_string(_asset("template.html"))
    return template.render(
        page=page,
        version=package_version("hfedms_sim"),
        css=Markup(_asset("page.css")),  # noqa: S704 (our own files, no foreign text)
        charts_js=Markup(_asset("charts.js")),  # noqa: S704
        page_js=Markup(_asset("page.js")),  # noqa: S704
        figure_id=lambda figure: numbers[id(figure)],
        figures=partial(_json, figures),
        formatted=formatted,
        is_number=_is_number,
    )


def _figures(page: Page) -> Iterator[Figure]:
    of_runs = (section for run in page.runs for section in run.sections)
    for section in (*page.sections, *of_runs, *page.closing):
        yield from _figures_of(section)


def _figures_of(section: Section) -> Iterator[Figure]:
    for block in section.blocks:
        if isinstance(block, Drawing):
            yield block.figure
        elif isinstance(block, Switch):
            yield from (figure for _, figure in block.options)


def _json(figures: list[Figure]) -> Markup:
    """Return the figures by their names as JSON that cannot end the element it stands in."""
    content = {f"f{number}": encoded(thinned(figure)) for number, figure in enumerate(figures)}
    text = json.dumps(content, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    return Markup(text.translate(_ESCAPES))  # noqa: S704 (just escaped)


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _asset(name: str) -> str:
    return files("hfedms_sim.report.page").joinpath(name).read_text(encoding="utf-8")
