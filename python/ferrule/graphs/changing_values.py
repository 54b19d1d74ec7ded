"""Clocks, random numbers and environment variables, whose value in a graph stays that of the trace."""

from __future__ import annotations

import datetime
import os
from typing import Any

_NOT_CLOCKS = ("mktime", "sleep", "strptime")
# These give the current time if they are called with this number of arguments, and otherwise that of an argument.
_CURRENT = {"asctime": 0, "ctime": 0, "gmtime": 0, "localtime": 0, "strftime": 1}
_NAMED_UUIDS = ("uuid3", "uuid5")  # which follow from their arguments
_RANDOM_OF_SYSTEM = ("getrandom", "urandom")


def gives_changing_values(owner: Any) -> bool:
    """Whether an object is a generator of random numbers, of NumPy or Python."""
    return _is_of_generators(type(owner).__module__)


def reads_environment(value: Any) -> bool:
    """Whether an object is the environment variables, or a function that reads one."""
    of_environment = type(os.environ)
    return (
        isinstance(value, of_environment)
        or isinstance(getattr(value, "__self__", None), of_environment)
        or (value is os.getenv)
    )


def is_changing(value: Any, argument_count: int | None) -> bool:
    """Whether each call of a function gives another value. `argument_count`: None if it is unknown."""
    if not callable(value):
        return False
    module, name = getattr(value, "__module__", None) or "", getattr(value, "__name__", "")
    if isinstance(value, type) or name == "default_rng":  # a generator, which is another one each time without a seed
        return argument_count == 0 and _is_of_generators(module)
    owner = getattr(value, "__self__", None)
    if isinstance(owner, type):
        return issubclass(owner, datetime.date) and name in ("now", "today", "utcnow")
    if module == "time":
        return argument_count == _CURRENT[name] if name in _CURRENT else name not in _NOT_CLOCKS
    if module == os.urandom.__module__:
        return name in _RANDOM_OF_SYSTEM
    if module == "uuid":
        return name not in _NAMED_UUIDS
    return module == "secrets" or _is_of_generators(module) or gives_changing_values(owner)


def _is_of_generators(module: str) -> bool:
    return module.startswith("numpy.random") or module in ("random", "_random")
