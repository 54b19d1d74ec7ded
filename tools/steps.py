"""The steps of a slow stage.

A step is whole unless a Sample says otherwise: CI runs one stage for ten minutes, with the ops and the order of test
files that the commit's hash chooses, so that successive runs cover them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.process import ROOT


@dataclass(frozen=True)
class Sample:
    """The part of a stage that CI runs: ops and the order of files drawn by a commit's hash. Without one, all of it."""

    commit: str = ""

    def ops(self) -> list[str]:
        """Options of the kit: a tenth of the ops, or none for all."""
        if not self.commit:
            return []
        rows = (path.read_text() for path in (ROOT / "csrc" / "ops").glob("*.cpp"))
        # The kit has no internal ops.
        pattern = r"(?m)^OP\((\w+)\)(?![^;]*\.internal\(\))"
        names = sorted(name for text in rows for name in re.findall(pattern, text))
        chosen = random.Random(self.commit).sample(names, len(names) // 10)
        return [word for name in sorted(chosen) for word in ("--ferrule-op", name)]

    def shuffled(self, paths: list[Path]) -> list[Path]:
        """The paths, in an order that the commit chooses."""
        return random.Random(self.commit).sample(paths, len(paths)) if self.commit else paths

    def stop_early(self) -> list[str]:
        """A failure must be seen before the time ends."""
        return ["-x"] if self.commit else []


@dataclass(frozen=True)
class Step:
    name: str
    run: Callable[[], object]


@dataclass(frozen=True)
class Stage:
    name: str
    shows: str
    sources: str  # a pattern: CI prefers this stage if such a path changed since the verified commit
    steps: Callable[[Sample], Iterator[Step]]
