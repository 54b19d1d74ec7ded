"""Clocks and random numbers: functions whose value in a graph stays that of the trace."""

from __future__ import annotations

import datetime
from typing import Any

_NOT_CLOCKS = ("gmtime", "localtime", "mktime", "sleep", "strftime", "strptime")


def gives_changing_values(owner: Any) -> bool:
    """Whether an object is a generator of random numbers, of NumPy or Python."""
    return _is_of_generators(type(owner).__module__)


def is_changing(value: Any, is_called_plainly: bool) -> bool:
    """Whether each call of a function gives another value. `is_called_plainly`: it is called without a seed."""
    if not callable(value):
        return False
    module, name = getattr(value, "__module__", None) or "", getattr(value, "__name__", "")
    if isinstance(value, type) or name == "default_rng":  # a generator, which is another one each time without a seed
        return is_called_plainly and _is_of_generators(module)
    owner = getattr(value, "__self__", None)
    if isinstance(owner, type):
        return issubclass(owner, datetime.date) and name in ("now", "today", "utcnow")
    if module == "time":
        return name not in _NOT_CLOCKS
    return module in ("secrets", "uuid") or _is_of_generators(module) or gives_changing_values(owner)


def _is_of_generators(module: str) -> bool:
    return module.startswith("numpy.random") or module in ("random", "_random")
