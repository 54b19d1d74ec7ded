"""Module files are read in a process of their own: a damaged file may crash the library that reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ferrule.tools.child import Child, ChildEnded, ChildError

LIMIT = 60.0  # seconds for one file


def read_modules(files: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """Yield what is known about each file, as `read_module` does; `problems` are sentences."""
    child = Child("ferrule.tools.inspection.worker", LIMIT)
    try:
        for file in files:
            try:
                yield child.ask(path=str(file))
            except (ChildEnded, ChildError) as error:
                problem = f"it is damaged so that it cannot be read: {error}"
                yield {"path": str(file), "problems": [problem], "notes": [], "images": [], "manifest": None}
    finally:
        child.close()
