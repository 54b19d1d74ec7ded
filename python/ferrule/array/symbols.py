"""What stands for an array while a graph is being built, and who asks for its value too early."""

from __future__ import annotations

import os
import sys
import threading
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from ferrule.errors import TracingError

if TYPE_CHECKING:
    import weakref
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    import numpy as np

    from ferrule import _ferrule
    from ferrule.array.array import Array
    from ferrule.array.numbers import Number, Numbers
    from ferrule.loading.devices import Device

_PACKAGE = os.path.dirname(os.path.dirname(__file__))  # of ferrule


class Recorder(Protocol):
    """A graph under construction, as far as recording an op needs it: `ferrule.graphs.graph.Graph`."""

    device: Device
    _numbers: Numbers
    _assigned: list[tuple[weakref.ref[Array], _ferrule.Array]] | None

    @property
    def _lock(self) -> AbstractContextManager[Any]: ...

    def constant(self, value: object, name: str | None = None) -> Array: ...

    def _record_all(
        self, op: str, operands: Sequence[object], dtypes: Sequence[np.dtype[Any]], attributes: Mapping[str, object]
    ) -> list[Array]: ...

    def _scalar(self, number: Number, dtype: np.dtype[Any], place: int | None = None) -> Array: ...

    def _number_of(self, operation: str, *values: object) -> Array: ...

    def _number_as(self, number: Array, dtype: np.dtype[Any], exact: bool = False) -> Array: ...

    def _own(self, array: Array) -> Symbol: ...


class Symbol:
    """A value of a graph under construction.

    `weak`: a Python number, which does not promote; `id` is then its place in the graph's Numbers, and `dtype` what it
    becomes without arrays beside it. `name`: of the argument that the number is.
    """

    __slots__ = ("dtype", "graph", "id", "name", "shape", "weak")

    def __init__(
        self,
        graph: Recorder,
        id: int,
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
        weak: bool = False,
        name: str | None = None,
    ) -> None:
        self.graph = graph
        self.id = id
        self.dtype = dtype
        self.shape = shape
        self.weak = weak
        self.name = name

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def device(self) -> Device:
        return self.graph.device


class _OnThread(threading.local):
    """`graph`: of the function that this thread is tracing; of the innermost where one is traced within another."""

    graph: Recorder | None = None


on_thread = _OnThread()


def users_frame() -> tuple[FrameType, int]:
    """The frame of the caller's code that called into ferrule, and the `stacklevel` of a warning about it that the
    caller of this function issues."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return frame, level


def users_line() -> str:
    """Where the caller's code called into ferrule: "model.py:12: `if x > 0:`"."""
    import linecache

    frame, _ = users_frame()
    text = linecache.getline(frame.f_code.co_filename, frame.f_lineno, frame.f_globals).strip()
    place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
    return f"{place}: `{text}`" if text else place


def refuse(what: str, handle: object = None) -> NoReturn:
    """Raise TracingError: `what` needs the value of a traced array, or of a Python number of a traced call."""
    if isinstance(handle, Symbol) and handle.weak:
        subject = (
            "the number is computed of Python number arguments"
            if handle.name is None
            else f"{handle.name!r} is a Python number argument"
        )
        raise TracingError(
            f"{what} needs a value, at {users_line()}: {subject} of the graph, so its value is not known while it is "
            "traced. To trace once for each value, pass it in a frozen dataclass; to use it as data, compute with it "
            "or use ferrule.where."
        )
    raise TracingError(
        f"{what} needs the value of an array that is being traced, at {users_line()}. "
        "Inside ferrule.graph an array has a shape and a dtype, but no values: use ferrule.where, or compute outside."
    )
