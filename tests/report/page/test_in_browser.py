"""A page in a real browser: it asks for nothing, says nothing on the console, and answers to its switches."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hfedms_sim import compare, load_scenario, run
from hfedms_sim.report.page.build import write_page
from hfedms_sim.report.page.runs import open_runs
from tests.campaign.factory import write_radios
from tests.conftest import tiny_scenario, without_checksums
from tests.report.page.browser import MISSING, WHY_NOT, chromium, console_of, requests_of, set_theme, set_width

pytestmark = pytest.mark.skipif(bool(MISSING), reason=WHY_NOT)

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A comparison of two radios, two strategies and two seeds."""
    place = tmp_path_factory.mktemp("page")
    radios = write_radios(place, (8e4, 8e3))
    scenario = tiny_scenario(targets=[0.02], description=HOSTILE)
    compare(scenario, profiles=radios, strategies=["hfedms-d", "fedavg"], seeds=[1, 2], out=place / "campaign")
    write_page(open_runs([place / "campaign"]), place / "report.html")
    return place / "report.html"


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs whose files somebody has changed: scenarios refuse such names, directories of others may hold them."""
    place = tmp_path_factory.mktemp("hostile")
    for strategy in ("hfedms-d", "fedavg"):
        scenario = tiny_scenario(description=HOSTILE).replacing({"strategy.name": strategy})
        run(scenario, timing_only=True, out=place / strategy)
        path = without_checksums(place / strategy) / "summary.json"
        summary = json.loads(path.read_text())
        summary |= {"scenario": f"{strategy} {HOSTILE}", "strategy": HOSTILE, "profile": f"{HOSTILE} {strategy}"}
        summary["limited_by"] |= {"text": f"downlink of {HOSTILE}", "cause": HOSTILE}
        path.write_text(json.dumps(summary))
    write_page(open_runs([place / "hfedms-d", place / "fedavg"]), place / "report.html")
    return place / "report.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with chromium(tmp_path_factory.mktemp("chromium")) as driver:
        yield driver


@pytest.fixture
def opened(browser: Any, page: Path) -> Any:
    requests_of(browser), console_of(browser)
    set_width(browser, 1280)
    set_theme(browser, "light")
    browser.get(page.as_uri())
    return browser


def drawn(driver: Any, figure: str) -> str:
    """Return the figure's picture after it has come into sight."""
    driver.execute_script(f"document.querySelector('{figure}').scrollIntoView()")
    driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    return str(driver.execute_script(f"return document.querySelector('{figure} .panels').innerHTML"))


def test_it_opens_from_a_file_without_a_request_or_a_word_on_the_console(opened: Any, page: Path) -> None:
    for figure in range(int(opened.execute_script("return document.querySelectorAll('figure').length"))):
        opened.execute_script(f"document.querySelectorAll('figure')[{figure}].scrollIntoView()")
    opened.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    asked = [address for address in requests_of(opened) if not address.startswith("data:")]
    assert asked == [page.as_uri()]
    assert console_of(opened) == []


def test_another_axis_is_another_picture(opened: Any) -> None:
    before = drawn(opened, "#learning .switch figure")
    opened.execute_script("[...document.querySelectorAll('#learning .choices button')].at(-1).click()")
    after = drawn(opened, "#learning .switch figure")
    assert "simulated time" in before
    assert "updated parameters" in after


def test_another_round_is_another_timeline(opened: Any) -> None:
    figure = ".run:not([hidden]) [id$=-round] .switch figure"
    before = drawn(opened, figure)
    opened.execute_script(
        f"document.querySelector('{figure}').parentElement.querySelector('[data-step=\"1\"]').click()"
    )
    assert drawn(opened, figure) != before


def test_another_run_has_its_own_sections(opened: Any) -> None:
    shown = "return [...document.querySelectorAll('.run')].map((part) => part.hidden)"
    assert opened.execute_script(shown).index(False) == 0
    opened.execute_script("document.querySelector('[data-run-step=\"1\"]').click()")
    assert opened.execute_script(shown).index(False) == 1
    assert "<rect" in drawn(opened, ".run:not([hidden]) [id$=-round] figure")


def test_a_table_is_sorted_by_a_click_and_the_other_way_by_a_second(opened: Any) -> None:
    rows = "document.querySelector('#comparison table').tBodies[0].rows"
    column = f"return [...{rows}].map((row) => row.cells[0].textContent)"
    click = "document.querySelector('#comparison th button').click()"
    opened.execute_script(click)
    rising = opened.execute_script(column)
    opened.execute_script(click)
    falling = opened.execute_script(column)
    assert len(set(rising)) > 1
    assert rising == sorted(rising)
    assert falling == sorted(falling, reverse=True)


def test_a_click_on_a_legend_hides_what_it_names(opened: Any) -> None:
    figure = "#learning .switch figure"
    before = drawn(opened, figure).count("<polyline")
    opened.execute_script(f"document.querySelector('{figure} .legend button').click()")
    assert drawn(opened, figure).count("<polyline") < before


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_overflows_a_phone(opened: Any, theme: str) -> None:
    set_width(opened, 390)
    set_theme(opened, theme)
    opened.refresh()
    for figure in range(int(opened.execute_script("return document.querySelectorAll('figure').length"))):
        opened.execute_script(f"document.querySelectorAll('figure')[{figure}].scrollIntoView()")
    opened.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
    assert opened.execute_script("return document.documentElement.scrollWidth") <= 390


def test_it_follows_the_system_and_the_button(opened: Any) -> None:
    ground = "return getComputedStyle(document.body).backgroundColor"
    light = opened.execute_script(ground)
    set_theme(opened, "dark")
    dark = opened.execute_script(ground)
    opened.execute_script("document.getElementById('theme').click()")
    assert light != dark
    assert opened.execute_script(ground) == light


def test_hostile_names_are_shown_and_not_run(browser: Any, hostile_page: Path) -> None:
    console_of(browser)
    set_width(browser, 1280)
    browser.get(hostile_page.as_uri())
    chosen = browser.execute_script(
        "return [...document.querySelectorAll('#run option')].map((run) => run.textContent)"
    )
    assert chosen == [f"{HOSTILE}, {HOSTILE} {name}, {name} {HOSTILE}" for name in ("hfedms-d", "fedavg")]
    assert HOSTILE in drawn(browser, "#comparison figure").replace("&lt;", "<").replace("&gt;", ">")
    assert browser.execute_script("return document.querySelector('main').textContent").count(HOSTILE) > 5
    assert browser.execute_script("return document.querySelectorAll('main script, svg script').length") == 0
    assert console_of(browser) == []  # an alert would have failed every script above


@pytest.mark.slow
def test_a_run_with_100_000_transfers_has_a_small_page_that_is_there_at_once(browser: Any, tmp_path: Path) -> None:
    played = run(load_scenario("paper-stream", strategy="fedavg", rounds=460), timing_only=True, out=tmp_path / "run")
    assert played.arrow("transfers").num_rows > 100_000
    write_page(open_runs([tmp_path / "run"]), tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size < 15e6
    browser.get((tmp_path / "page.html").as_uri())
    assert int(browser.execute_script("return document.documentElement.dataset.ready")) < 3_000  # milliseconds
