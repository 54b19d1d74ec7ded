"""Errors that begin with the name of the function that the user called, not with that of one which it calls."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from ferrule.array.array import Array
from ferrule.errors import InvalidArgumentError, NotFoundError, NumberOverflowError, OutOfMemoryError, UnsupportedError

P = ParamSpec("P")
R = TypeVar("R")


def names_itself(function: Callable[P, R]) -> Callable[P, R]:
    """Make the errors of a function begin with its name, such as "sum" or "random.uniform"."""
    package = "random." if function.__module__.startswith("ferrule.random.") else ""
    name = f"{package}{function.__name__}"

    @functools.wraps(function)
    def named(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            result = function(*args, **kwargs)
        except (InvalidArgumentError, NotFoundError, OutOfMemoryError, UnsupportedError) as error:
            text = str(error)
            if text.startswith((f"{name}:", f"{name} ")):
                raise
            raise type(error)(f"{name}: {text}") from error
        except OverflowError as error:  # an int that Python cannot convert to float, for example
            raise NumberOverflowError(f"{name}: {error}") from error
        return _another(result, name) if any(result is x for x in args) else result  # type: ignore[return-value]

    return named


def _another(result: object, name: str) -> object:
    """Return an object of its own instead of the argument, so that assignments to one do not change the other.

    asarray and astype return the argument if that is what `copy=False` asks for.
    """
    is_wanted = name in ("asarray", "astype")
    return result._another(f"{name}()") if isinstance(result, Array) and not is_wanted else result
