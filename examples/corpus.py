"""The documentation that Python ships with itself, as a list of paragraphs to search.
 `pydoc_data.topics` is what `help("assert")` prints: about 465,000 characters of plain text laid out for a terminal. A
search result has to be readable on its own, so headings are dropped, a table gives one paragraph per row, a signature
such as `object.__len__(self)` stays with the description below it, and duplicates in several topics are kept once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pydoc_data.topics import topics

# Shorter paragraphs are remains of the layout ("See also:", "Notes:", "New in version 3.2."), which answer nothing but
# are close to every short query. With this limit CPython 3.11.7 gives 1,700 paragraphs (`python examples/corpus.py`).
MINIMUM_CHARACTERS = 24

_HEADING = re.compile(r"^.*\S.*\n([*=~\-^\"])\1{2,} *$", re.MULTILINE)
_TABLE_RULE = re.compile(r"^ *(\+[-+]+\+|\|[=|]+\|) *$")
_SIGNATURE = re.compile(r"^ *(?:(?:class|classmethod|staticmethod|coroutine|exception) )?[\w.]+\(.*\)$")


@dataclass(frozen=True)
class Paragraph:
    """One search result: the topic (`help(topic)` shows all of it) and the text with single spaces."""

    topic: str
    text: str


def load_paragraphs(limit: int | None = None) -> list[Paragraph]:
    """All paragraphs in the order of the topics, or `limit` of them spread evenly over all topics."""
    found: dict[str, Paragraph] = {}
    for topic in sorted(topics):
        for block in _blocks(topics[topic]):
            text = " ".join(block.split())
            if len(text) >= MINIMUM_CHARACTERS and any(map(str.isalpha, text)):
                found.setdefault(text, Paragraph(topic, text))
    every = list(found.values())
    if limit is None or limit >= len(every):
        return every
    return [every[index * len(every) // limit] for index in range(limit)]


def _blocks(text: str) -> Iterator[str]:
    """Splits one topic into paragraphs; signature lines are joined to the description that follows them."""
    waiting = ""
    for block in re.split(r"\n\s*\n", _HEADING.sub("", text)):
        if not block.strip():
            continue
        lines = block.strip("\n").splitlines()
        if all(_SIGNATURE.match(line) for line in lines):
            waiting += block + "\n"
        elif any(_TABLE_RULE.match(line) for line in lines):
            yield from _table_rows(lines)
        else:
            yield waiting + block
            waiting = ""
    yield waiting


def _table_rows(lines: list[str]) -> Iterator[str]:
    """The rows of a table drawn with `+---+` and `|`: the cells of a row joined, and the lines of each cell."""
    cells: list[list[str]] = []
    for line in lines:
        if _TABLE_RULE.match(line):
            if "=" not in line:  # the rows above a rule of "=" are the names of the columns
                yield ": ".join(text for text in (" ".join(cell).strip() for cell in cells) if text)
            cells = []
        else:
            parts = line.strip().strip("|").split(" | ")
            cells = cells or [[] for _ in parts]
            for cell, part in zip(cells, parts, strict=False):
                cell.append(part.strip())


if __name__ == "__main__":
    paragraphs = load_paragraphs()
    print(f"{len(paragraphs)} paragraphs, {sum(len(p.text) for p in paragraphs)} characters")
