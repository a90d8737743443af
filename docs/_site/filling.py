"""Fills pages from the code, and leads links to files outside of docs/ to their pages on the site.

A page says `<!-- filled: NAME -->` where the site has what `from_code.FILLINGS[NAME]` returns: Markdown, made anew in
each build. On a code host such a page is its introduction. Files of the repository that other pages link to
(CHANGELOG.md, the examples) are pages here; the links in the Markdown stay those of the repository.
"""

import posixpath
import re
from pathlib import Path

from from_code import FILLINGS
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

MARK = re.compile(r"^<!-- filled: ([a-z-]+) -->$", re.MULTILINE)
LINK = re.compile(r"(\]\(|^\[[^\]]+\]: +)([^)\s]+)", re.MULTILINE)
PAGES_OF_FILES = {
    "README.md": "docs/overview.md",
    "CHANGELOG.md": "docs/changelog.md",
    "CONTRIBUTING.md": "docs/contributing.md",
    "SECURITY.md": "docs/security.md",
    "examples": "docs/examples.md",
}


def fill(app: Sphinx, page: str, content: list[str]) -> None:
    """Put what is made from the code into a page that asks for it, and lead its links to pages of the site."""
    text = MARK.sub(lambda mark: FILLINGS[mark[1]](), content[0])
    content[0] = LINK.sub(lambda link: link[1] + _target(link[2], posixpath.dirname(f"docs/{page}")), text)


def _target(link: str, directory: str) -> str:
    """Return where a link leads on the site; it stays as it is unless its file has a page of another name."""
    path, hash_sign, anchor = link.partition("#")
    if not path or re.match(r"[a-z]+:", path):
        return link
    file = posixpath.normpath(posixpath.join(directory, path))
    if file.startswith("examples/") and file.endswith(".py"):
        file, hash_sign, anchor = "examples", "#", posixpath.basename(file).replace(".", "")
    page = PAGES_OF_FILES.get(file, file)
    return posixpath.relpath(page, directory) + hash_sign + anchor if page.startswith("docs/") else link


def filled_pages(
    app: Sphinx, env: BuildEnvironment, added: set[str], changed: set[str], removed: set[str]
) -> list[str]:
    """Return the pages that are read in every build, because the code may have changed though they have not."""
    return sorted(page for page in env.found_docs if MARK.search(Path(env.doc2path(page)).read_text(encoding="utf-8")))


def setup(app: Sphinx) -> dict[str, bool]:
    """Read every page through `fill`, and those that it fills in every build."""
    app.connect("source-read", fill)
    app.connect("env-get-outdated", filled_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
