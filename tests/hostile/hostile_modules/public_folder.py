"""A temporary folder that every user may enter, unlike pytest's: for tests that switch to another user."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534


@contextmanager
def public_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="ferrule-hostile-"))
    try:
        folder.chmod(0o755)
        yield folder
    finally:
        for path, _, _ in os.walk(folder):
            os.chmod(path, 0o700)
        shutil.rmtree(folder)
