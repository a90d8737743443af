"""What the tutorial and the how-to guides show is what a reader sees who does as they say."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.guides import GUIDES, follow, needs_duckdb

if_duckdb = pytest.mark.skipif(find_spec("duckdb") is None, reason="needs DuckDB: pip install 'hfedms_sim[docs]'")
PAGES = [pytest.param(page, id=page.stem, marks=[if_duckdb] if needs_duckdb(page) else []) for page in GUIDES]


@pytest.mark.thorough
@pytest.mark.parametrize("page", PAGES)
def test_a_guide_can_be_followed_and_shows_what_is_printed(page: Path, tmp_path: Path) -> None:
    for printed in follow(page, tmp_path):
        assert printed.is_true, f"run: python -m tests.guides\n{printed.shown}\nis not\n{printed.real}"


def test_guides_are_followed_not_only_read(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1 + 1)\n```\n\n```\n3\n```\n\n```console\n$ hfedms-sim --version\nno\n```\n")
    assert [printed.is_true for printed in follow(page, tmp_path)] == [False, False]
