"""The pages for readers: their links lead somewhere, and the glossary has one meaning a term."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from installed import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("wheels/*/*.md"), *ROOT.glob("csrc/**/*.md")])
LINK = re.compile(r"(?<!\!)\[[^\]\n]+\]\(([^)\s]+)\)")
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
        "docs/glossary.md",
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


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    missing = [
        page.name for page in ROOT.glob("docs/*.md") if page.name != "README.md" and f"({page.name})" not in index
    ]
    assert missing == []


def test_a_term_of_the_glossary_has_one_meaning_and_a_file() -> None:
    lines = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| **")]
    terms = [term.lower() for row in rows for term in re.findall(r"\*\*([^*]+)\*\*", row)]
    assert len(terms) > 70
    assert sorted(terms) == sorted(set(terms))
    for row in rows:
        _, _, meaning, where, _ = row.split("|")
        assert meaning.strip().endswith("."), row
        assert LINK.search(where), row
