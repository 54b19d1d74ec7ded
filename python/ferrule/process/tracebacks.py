"""Tracebacks of ferrule's errors end in the caller's code: ferrule's own frames are left out when one is printed.

The exception keeps its whole traceback, for debuggers and loggers. FERRULE_TRACEBACK=full prints it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from ferrule.errors import Error
from ferrule.process import variables

_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep
Hook = Callable[[type[BaseException], BaseException, TracebackType | None], object]


def _length() -> str:
    return variables.choice("FERRULE_TRACEBACK", ("short", "full"))


def install() -> None:
    """Shorten what Python and notebooks print. Called once, when ferrule is imported.

    Python calls `sys.excepthook` for an exception that nobody handles, and IPython the method `_render_traceback_` of
    the exception. Neither costs anything before.
    """
    _length()  # warns of a wrong value
    sys.excepthook = _hook_before(sys.excepthook)
    Error._render_traceback_ = _render  # type: ignore[attr-defined]


def _hook_before(previous: Hook) -> Hook:
    def show(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        if not isinstance(error, Error):
            previous(kind, error, traceback)
            return
        with shortened(error):
            previous(kind, error, error.__traceback__)

    return show


def _render(error: Error) -> list[str]:
    """Return the lines that IPython prints."""
    shell: Any = sys.modules["IPython"].get_ipython()
    with shortened(error):
        lines: list[str] = shell.InteractiveTB.structured_traceback(type(error), error, error.__traceback__)
    return lines


@contextmanager
def shortened(error: BaseException) -> Iterator[None]:
    """Leave out ferrule's frames of an exception, and of those it was raised from, for the time of the block."""
    changed: list[tuple[BaseException, TracebackType | None, BaseException | None, bool]] = []
    if _length() == "short":
        _shorten(error, changed)
    try:
        yield
    finally:
        for one, traceback, cause, suppresses in changed:
            one.__traceback__ = traceback
            one.__cause__ = cause
            one.__suppress_context__ = suppresses  # after __cause__, which sets it


def _shorten(
    error: BaseException, changed: list[tuple[BaseException, TracebackType | None, BaseException | None, bool]]
) -> None:
    if any(error is one for one, *_ in changed):
        return
    changed.append((error, error.__traceback__, error.__cause__, error.__suppress_context__))
    error.__traceback__ = _callers_part(error.__traceback__) or error.__traceback__
    origin = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if origin is None:
        return
    if _callers_part(origin.__traceback__) is None:  # it arose and was handled inside of ferrule
        error.__cause__ = None
        error.__suppress_context__ = True
    else:
        _shorten(origin, changed)


def _callers_part(traceback: TracebackType | None) -> TracebackType | None:
    """Return a copy of the traceback without ferrule's frames; None if there are no others."""
    kept = []
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith(_PACKAGE):
            kept.append(traceback)
        traceback = traceback.tb_next
    result: TracebackType | None = None
    for one in reversed(kept):
        result = TracebackType(result, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return result
