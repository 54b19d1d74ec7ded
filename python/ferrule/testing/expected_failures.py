"""Known failures, each with a reason. They are strict: a listed test that passes is a failure."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Expected:
    """`pattern` is a shell pattern for the part of the test id in brackets, such as `mine-exp-float16-*`."""

    pattern: str
    reason: str

    def matches(self, item: pytest.Item) -> bool:
        return fnmatchcase(item.name.partition("[")[2].removesuffix("]"), self.pattern)


def read_expected(path: Path) -> list[Expected]:
    """Read a file with one pattern and reason per line; `#` begins a comment. Raises pytest.UsageError."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise pytest.UsageError(f"--ferrule-expect: {path} cannot be read: {error}") from error
    found = []
    for number, line in enumerate(lines, 1):
        pattern, _, reason = line.strip().partition(" ")
        if not pattern or pattern.startswith("#"):
            continue
        if not reason.strip():
            raise pytest.UsageError(f"--ferrule-expect: {path}, line {number}: {pattern} has no reason")
        found.append(Expected(pattern, reason.strip()))
    return found


def mark(items: list[pytest.Item], expected: list[Expected]) -> None:
    """Mark the expected failures. A marked test that passes counts as failed."""
    for item in items:
        for one in expected:
            if one.matches(item):
                item.add_marker(pytest.mark.xfail(reason=one.reason, strict=True))
