"""A release can be cited: version, day, paper and licence are where archives look for them, and agree."""

import re
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def citation() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    return content


def test_the_version_of_the_package_is_the_one_to_cite(citation: dict[str, Any]) -> None:
    command = [sys.executable, "setup.py", "--quiet", "--version"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert said.stdout.split() == [citation["version"]]


def test_the_changelog_begins_with_the_version_and_the_day_to_cite(citation: dict[str, Any]) -> None:
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    released = [heading for heading in headings if heading != "[Unreleased]"]
    assert released[0] == f"[{citation['version']}] - {citation['date-released']}"
    assert isinstance(citation["date-released"], date)


def test_the_citation_has_what_an_archive_asks_for(citation: dict[str, Any]) -> None:
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert citation["license"] == "Apache-2.0"
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    for key in ("message", "title", "abstract", "authors", "keywords"):
        assert citation[key], key
    assert len(set(citation["keywords"])) == len(citation["keywords"])


def test_the_paper_is_cited_as_the_readme_cites_it(citation: dict[str, Any]) -> None:
    (paper,) = citation["references"]
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert paper["title"] in readme
    assert f"https://doi.org/{paper['doi']}" in readme
    assert all(f"{author['given-names'][0]}. {author['family-names']}" in readme for author in paper["authors"])
