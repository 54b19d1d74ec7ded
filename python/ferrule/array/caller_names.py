"""Errors that begin with the name of the function that the user called, not with that of one which it calls."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ferrule.errors import InvalidArgumentError, NotFoundError, OutOfMemoryError, UnsupportedError

P = ParamSpec("P")
R = TypeVar("R")


def names_itself(function: Callable[P, R]) -> Callable[P, R]:
    """Make the errors of a function begin with its name, such as "sum" or "random.uniform"."""
    name = "random." * function.__module__.startswith("ferrule.random.") + function.__name__

    @functools.wraps(function)
    def named(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except (InvalidArgumentError, NotFoundError, OutOfMemoryError, UnsupportedError) as error:
            text = str(error)
            if text.startswith((f"{name}:", f"{name} ")):
                raise
            raise type(error)(f"{name}: {text}") from error

    return named
