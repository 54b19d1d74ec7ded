"""Environment variables that Python code reads; the core reads the others."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ferrule.later import later

if TYPE_CHECKING:
    from ferrule.process import log_lines
else:
    log_lines = later("ferrule.process.log_lines")  # for warnings

_WARNING = 2  # the level, as in log_lines
_warned: set[str] = set()


def choice(name: str, words: tuple[str, ...]) -> str:
    """Return the word that an environment variable has; the first one if it is unset, and with a warning otherwise.

    Each value causes one warning.
    """
    value = os.environ.get(name) or words[0]
    if value in words:
        return value
    sentence = f"{name} is {value!r}, and must be {' or '.join(words)}; using {words[0]}"
    if sentence not in _warned:
        _warned.add(sentence)
        log_lines.deliver(_WARNING, sentence)
    return words[0]
