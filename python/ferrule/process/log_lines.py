"""ferrule's log lines in Python's `logging`, under "ferrule"."""

from __future__ import annotations

import logging

from ferrule import _ferrule
from ferrule.errors import InvalidArgumentError

_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR)
_NAMES = ("debug", "info", "warning", "error")
logger = logging.getLogger("ferrule")


def deliver(level: int, message: str) -> None:
    """Called by the extension for each line."""
    logger.log(_LEVELS[level], "%s", message)


def set_log_level(name: str) -> None:
    """What ferrule's core reports from now on: "debug", "info", "warning" or "error". FERRULE_LOG says so at start."""
    if not isinstance(name, str) or name.lower() not in _NAMES:
        raise InvalidArgumentError(f'set_log_level: takes "debug", "info", "warning" or "error", not {name!r}')
    level = _NAMES.index(name.lower())
    _ferrule.set_log_level(level)
    if _LEVELS[level] < logger.getEffectiveLevel():
        logger.setLevel(_LEVELS[level])
