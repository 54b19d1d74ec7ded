"""Docstrings in NumPy's form."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

WIDTH = 116  # of a line, without its indent


def docstring(
    summary: str,
    parameters: Iterable[tuple[str, str, str]],
    results: Iterable[tuple[str, str]],
    errors: Iterable[tuple[str, str]],
    example: str,
    indent: int = 4,
) -> str:
    """A docstring, indented but for its first line. The first sentence is its summary line.

    Parameters have a name, a type and a sentence; results a type and a sentence; errors a class and when it is raised.
    """
    first, stop, rest = summary.partition(". ")
    assert len(first) < WIDTH, f"{first}: the first sentence does not fit on one line"
    width = WIDTH + 4 - indent
    text = first + stop.strip() + ("\n\n" + _wrapped(rest, "", width) if rest else "")
    text += _section("Parameters", [(f"{name} : {kind}", about) for name, kind, about in parameters], width)
    text += _section("Returns", results, width)
    text += _section("Raises", errors, width)
    text += f"\n\nExamples\n--------\n{example.strip()}"
    return textwrap.indent(text, indent * " ").lstrip()


def _section(title: str, entries: Iterable[tuple[str, str]], width: int) -> str:
    body = "\n".join(_entry(head, text, width) for head, text in entries)
    return f"\n\n{title}\n{'-' * len(title)}\n{body}" if body else ""


def _entry(head: str, text: str, width: int) -> str:
    assert text, f"{head}: there is no sentence about it"
    return f"{head}\n{_wrapped(text, '    ', width)}"


def _wrapped(text: str, indent: str, width: int) -> str:
    return textwrap.fill(text, width, initial_indent=indent, subsequent_indent=indent, break_long_words=False)
