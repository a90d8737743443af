"""The documentation site: every page can be reached, what is made from the code is complete, and it builds."""

import re
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from subprocess import run as run_command

import pytest

import hfedms_sim
from hfedms_sim.data import DATA_SOURCES
from hfedms_sim.models import MODELS
from hfedms_sim.scenario import load_profile, shipped
from hfedms_sim.strategies import SHIPPED
from hfedms_sim.trace import TABLES
from tests.test_docs import PAGES, ROOT, text_of

DOCS = ROOT / "docs"
LONGEST_LINE = 120
MARK = re.compile(r"^<!-- filled: ([a-z-]+) -->$", re.MULTILINE)
WRAPPED_PAGES = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", ROOT / "SECURITY.md"]


@pytest.fixture(scope="module")
def fillings() -> dict[str, Callable[[], str]]:
    """What pages are filled with. It needs nothing of Sphinx."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(DOCS / "_site")
        found: dict[str, Callable[[], str]] = import_module("from_code").FILLINGS
        return found


def listed_pages() -> list[str]:
    """The entries of the index's trees of contents."""
    trees = re.findall(r"^```\{toctree\}\n(.*?)^```", text_of(DOCS / "index.md"), re.MULTILINE | re.DOTALL)
    return [line for tree in trees for line in tree.splitlines() if line and not line.startswith(":")]


def test_every_page_is_in_the_index_once() -> None:
    pages = [page.relative_to(DOCS).with_suffix("").as_posix() for page in DOCS.rglob("*.md")]
    assert sorted(listed_pages()) == sorted(set(pages) - {"index"})


def test_every_page_that_asks_to_be_filled_can_be_and_no_filling_is_unused(
    fillings: dict[str, Callable[[], str]],
) -> None:
    asked = [name for page in DOCS.rglob("*.md") for name in MARK.findall(text_of(page))]
    assert sorted(asked) == sorted(fillings)


@pytest.mark.parametrize(
    ("filling", "names"),
    [
        ("profiles", [*shipped("profile")]),
        ("strategies", [*SHIPPED]),
        ("data-sets", [*DATA_SOURCES.shipped]),
        ("networks", [*MODELS.shipped]),
        ("scenarios", [*shipped("scenario")]),
        ("tables", [*TABLES]),
        ("api", [*hfedms_sim.__all__]),
    ],
)
def test_a_page_of_the_reference_has_everything_that_ships(
    filling: str, names: list[str], fillings: dict[str, Callable[[], str]]
) -> None:
    named = re.findall(r"^(?:## |\| `)([\w-]+)", fillings[filling](), re.MULTILINE)
    assert set(names) <= set(named)


@pytest.mark.parametrize("name", shipped("profile"))
def test_every_figure_of_a_profile_stands_there_with_its_source(
    name: str, fillings: dict[str, Callable[[], str]]
) -> None:
    _, _, section = fillings["profiles"]().partition(f"\n## {name}\n")
    rows = dict(re.findall(r"^\| `(\S+)` \|.*\| (.*) \|$", section.partition("\n## ")[0], re.MULTILINE))
    profile = load_profile(name)
    assert list(rows) == list(profile.figures)
    assert {figure for figure, source in rows.items() if source} == profile.sources.keys() & profile.figures.keys()


def test_the_glossary_has_every_word_of_the_design_page(fillings: dict[str, Callable[[], str]]) -> None:
    design = text_of(DOCS / "design.md").partition("## Glossary\n")[2].partition("\n## ")[0]
    words = re.findall(r"^\| (.+?) \|", design, re.MULTILINE)[1:]
    assert sorted(re.findall(r"^([a-z].*)\n: ", fillings["glossary"](), re.MULTILINE)) == sorted(words)


@pytest.mark.parametrize("page", WRAPPED_PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_no_line_is_too_long_but_for_tables_code_and_what_cannot_be_broken(page: Path) -> None:
    text = re.sub(r"^( *)(```|\$\$).*?^\1\2", "", text_of(page), flags=re.MULTILINE | re.DOTALL)
    lines = [line for line in text.splitlines() if not line.startswith((" " * 4, "#")) and line.strip()[:1] != "|"]
    assert [line for line in lines if len(line) > LONGEST_LINE and " " in line.lstrip(" -*").strip()] == []


@pytest.mark.slow  # make docs, which CI runs too, builds it as well
@pytest.mark.skipif(find_spec("sphinx") is None, reason="needs Sphinx: make docs installs it")
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", str(DOCS), str(tmp_path)]
    built = run_command(command, capture_output=True, text=True, check=False)
    assert (built.returncode, built.stderr) == (0, "")
    assert "<math" in (tmp_path / "background.html").read_text(encoding="utf-8")
    remote = re.compile(r'<(?:script|link)[^>]+(?:src|href)="(?:https?:)?//')
    assert [page.name for page in tmp_path.rglob("*.html") if remote.search(page.read_text(encoding="utf-8"))] == []
