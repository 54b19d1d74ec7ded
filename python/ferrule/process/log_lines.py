"""ferrule's log lines in Python's `logging`, in the logger "ferrule".

In a program that does not set up `logging`, FERRULE_LOG=debug prints them to standard error.
"""

from __future__ import annotations

import logging
import os
import sys

from ferrule import _ferrule
from ferrule.errors import InvalidArgumentError

_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR)
_NAMES = ("debug", "info", "warning", "error")
logger = logging.getLogger("ferrule")


def deliver(level: int, message: str) -> None:
    """Log a line; called by the extension."""
    if os.environ.get("FERRULE_LOG") and not logger.hasHandlers():
        if sys.stderr is not None:
            print(f"ferrule: {message}", file=sys.stderr)
    else:
        logger.log(_LEVELS[level], "%s", message)


def set_log_level(name: str) -> None:
    """Set the level from which ferrule logs. The environment variable FERRULE_LOG sets the initial level.

    Parameters
    ----------
    name : {"debug", "info", "warning", "error"}
        The lowest level to log.

    Raises
    ------
    InvalidArgumentError
        `name` is not such a level.

    Examples
    --------
    >>> fe.set_log_level("error")
    """
    if not isinstance(name, str) or name.lower() not in _NAMES:
        raise InvalidArgumentError(f'set_log_level: takes "debug", "info", "warning" or "error", not {name!r}')
    level = _NAMES.index(name.lower())
    _ferrule.set_log_level(level)
    if _LEVELS[level] < logger.getEffectiveLevel():
        logger.setLevel(_LEVELS[level])
