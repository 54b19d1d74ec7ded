"""Errors that begin with the name of the function that the user called, not with that of one which it calls, and that
say which argument is meant."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ferrule.array.array import Array
from ferrule.errors import InvalidArgumentError, NotFoundError, NumberOverflowError, OutOfMemoryError, UnsupportedError
from ferrule.later import later

if TYPE_CHECKING:
    from ferrule.text import argument_names
else:
    argument_names = later("ferrule.text.argument_names")  # for messages

P = ParamSpec("P")
R = TypeVar("R")


# The packages whose functions are not names of the module `ferrule` itself.
_NAMESPACES = ("fft", "linalg", "random")


def names_itself(function: Callable[P, R]) -> Callable[P, R]:
    """Make the errors of a function begin with its public name, such as "sum" or "random.uniform".

    Messages inside of the function begin with its name alone, "uniform", if they begin with any.
    """
    package = function.__module__.split(".")[1]
    prefix, own = f"{package}." if package in _NAMESPACES else "", function.__name__
    name = prefix + own

    @functools.wraps(function)
    def named(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            result = function(*args, **kwargs)
        except (InvalidArgumentError, NotFoundError, OutOfMemoryError, UnsupportedError) as error:
            text = str(error)
            if text.startswith((f"{name}:", f"{name} ")):
                raise
            names_function = text.startswith((f"{own}:", f"{own} "))
            raise type(error)(f"{prefix}{text}" if names_function else f"{name}: {text}") from error
        except OverflowError as error:  # an int that Python cannot convert to float, for example
            raise NumberOverflowError(f"{name}: {error}") from error
        except TypeError as error:
            _explain(error, function, args, kwargs)
            raise
        return _another(result, name) if any(result is x for x in args) else result  # type: ignore[return-value]

    return named


def explains_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Make Python's errors about the arguments of a function name the arguments that are meant."""

    @functools.wraps(function)
    def explained(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            _explain(error, function, args, kwargs)
            raise

    return explained


def _explain(error: TypeError, function: Callable[..., Any], args: tuple[object, ...], kwargs: dict[str, Any]) -> None:
    """Raise the error with advice if the call itself failed, not something that the function called."""
    assert error.__traceback__ is not None
    if error.__traceback__.tb_next is None and (advice := argument_names.advice(function, args, kwargs)):
        raise TypeError(f"{error}{advice}") from None


def _another(result: object, name: str) -> object:
    """Return an object of its own instead of the argument, so that assignments to one do not change the other.

    The functions that return the argument itself where NumPy does are left out.
    """
    is_wanted = name in ("array", "asarray", "astype", "atleast_1d", "atleast_2d", "atleast_3d", "from_dlpack")
    return result._another(f"{name}()") if isinstance(result, Array) and not is_wanted else result
