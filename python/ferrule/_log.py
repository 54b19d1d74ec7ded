"""ferrule's log lines in Python's `logging`, under "ferrule"."""

from __future__ import annotations

import logging

from ferrule import _ferrule

_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR)
_NAMES = ("debug", "info", "warning", "error")
logger = logging.getLogger("ferrule")


def deliver(level: int, message: str) -> None:
    """Called by the extension for each line."""
    logger.log(_LEVELS[level], "%s", message)


def set_log_level(name: str) -> None:
    """What ferrule's core reports from now on: "debug", "info", "warning" or "error". FERRULE_LOG says so at start."""
    _ferrule.set_log_level(_NAMES.index(name.lower()))
    if _LEVELS[_NAMES.index(name.lower())] < logger.getEffectiveLevel():
        logger.setLevel(_LEVELS[_NAMES.index(name.lower())])
