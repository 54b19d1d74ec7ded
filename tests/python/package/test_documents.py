"""The pages for readers: links, paths and verbs exist, paragraphs are short, and a term has one meaning."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
from installed import ROOT

PAGES = sorted(page for pattern in ("*", "docs/**/*", "wheels/*/*", "csrc/**/*") for page in ROOT.glob(f"{pattern}.md"))
LINK = re.compile(r"(?<!\!)\[[^\]\n]+\]\(([^)\s]+)\)")
# Paths from the root, as they stand in pages: without <names>.
FOLDERS = r"csrc|tests|python|docs|cmake|wheels|tools|examples|benchmarks|licenses|\.github"
PATH = re.compile(rf"(?<![\w./<-])(?:{FOLDERS})/[\w./*-]*[\w*]")
VERB = re.compile(r"\./dev ([a-z]+)")
NOT_PROSE = re.compile(r"^ *```.*?^ *```$|^[|#].*?$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)


@cache
def anchors(page: Path) -> set[str]:
    """As a heading's text becomes one: lower case, without punctuation, with hyphens for spaces."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_pages_are_found() -> None:
    names = {str(page.relative_to(ROOT)) for page in PAGES}
    assert {
        "README.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "docs/README.md",
        "docs/develop/glossary.md",
    } <= names


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_resolve(page: Path) -> None:
    broken = []
    for link in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"\w+:", link):
            continue  # elsewhere
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def missing_paths(page: Path) -> list[str]:
    """The paths of a page that lead nowhere from the root, the page, tests/, the package or the folder of a backend."""
    folders = [ROOT, page.parent, ROOT / "tests", ROOT / "python" / "ferrule", *ROOT.glob("csrc/backends/*/")]
    paths = PATH.findall(page.read_text(encoding="utf-8"))
    return [path for path in paths if not any(any(folder.glob(path)) for folder in folders)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_in_pages_exist(page: Path) -> None:
    assert missing_paths(page) == []


def test_missing_path_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("csrc/core/log.h, csrc/core/gone.h, tools/gone.py, `tests/cpp/*/files_test.cpp`; build/csrc/x.so\n")
    assert missing_paths(page) == ["csrc/core/gone.h", "tools/gone.py"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_paragraphs_have_at_most_120_words(page: Path) -> None:
    """A list without empty lines is one paragraph; tables and code are none."""
    paragraphs = re.split(r"\n\s*\n", NOT_PROSE.sub("", page.read_text(encoding="utf-8")))
    assert [text for text in paragraphs if len(text.split()) > 120] == []


def test_verbs_in_pages_exist() -> None:
    printed = subprocess.run([ROOT / "dev", "--help"], capture_output=True, text=True, check=True).stdout
    verbs = {*re.findall(r"^ {2,4}([a-z]+)\b", printed, re.MULTILINE)}
    assert {"build", "unit", "kit"} <= verbs
    used = {verb: page.name for page in PAGES for verb in VERB.findall(page.read_text(encoding="utf-8"))}
    assert {verb: page for verb, page in used.items() if verb not in verbs} == {}


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = [f"{page.parent.name}/{page.name}" for page in ROOT.glob("docs/*/*.md")]
    assert [page for page in pages if f"({page})" not in index] == []


def test_a_term_of_the_glossary_has_one_meaning_and_a_file() -> None:
    lines = (ROOT / "docs" / "develop" / "glossary.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| **")]
    terms = [term.lower() for row in rows for term in re.findall(r"\*\*([^*]+)\*\*", row)]
    assert len(terms) > 70
    assert sorted(terms) == sorted(set(terms))
    for row in rows:
        _, _, meaning, where, _ = row.split("|")
        assert meaning.strip().endswith("."), row
        assert LINK.search(where), row
