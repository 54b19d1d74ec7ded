"""Symbols, which stand for arrays while a graph is built, and the error for code that needs their values."""

from __future__ import annotations

import os
import sys
import threading
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar

from ferrule.errors import TracingError

if TYPE_CHECKING:
    import weakref
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    import numpy as np

    from ferrule import _ferrule
    from ferrule.array.numbers import Number, Numbers
    from ferrule.loading.devices import Device

    A = TypeVar("A")  # the class Array, whose module imports this one

    class Recorder(Protocol[A]):
        """The part of `ferrule.graphs.recorded_graph.RecordedGraph` that recording an op needs; A is `Array`."""

        device: Device
        _numbers: Numbers
        _assigned: dict[int, tuple[weakref.ref[A], _ferrule.Array]] | None

        @property
        def _lock(self) -> AbstractContextManager[Any]: ...

        def constant(self, value: object, name: str | None = None) -> A: ...

        def _record_all(
            self, op: str, operands: Sequence[object], dtypes: Sequence[np.dtype[Any]], attributes: Mapping[str, object]
        ) -> list[A]: ...

        def _scalar(self, number: Number, dtype: np.dtype[Any], place: int | None = None) -> A: ...

        def _number_of(self, operation: str, *values: object) -> A: ...

        def _number_as(self, number: A, dtype: np.dtype[Any], exact: bool = False) -> A: ...

        def _own(self, array: A) -> Symbol: ...

        def _placed(self, array: A, device: Device) -> A: ...


_PACKAGE = os.path.dirname(os.path.dirname(__file__))  # the folder of the package


class Symbol:
    """A value of a graph under construction.

    `weak`: the value is a Python number, which does not promote. Then `id` is its place in the graph's Numbers, `dtype`
    its dtype without arrays beside it, and `name` the argument that it comes from. `place`: the device on which ops on
    it are computed; None for numbers, constants, and results of ops that were given a device, which go anywhere.
    """

    __slots__ = ("dtype", "graph", "id", "name", "place", "shape", "weak")

    def __init__(
        self,
        graph: Recorder[Any],
        id: int,
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
        weak: bool = False,
        name: str | None = None,
        place: Device | None = None,
    ) -> None:
        self.graph = graph
        self.id = id
        self.dtype = dtype
        self.shape = shape
        self.weak = weak
        self.name = name
        self.place = place

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def device(self) -> Device:
        return self.graph.device if self.place is None else self.place


class _OnThread(threading.local):
    """`graph`: the graph of the function that this thread is tracing; with nested tracing, of the innermost one."""

    graph: Recorder[Any] | None = None


on_thread = _OnThread()


def users_frame() -> tuple[FrameType, int]:
    """Return the frame of the user's code that called ferrule, and the matching `stacklevel` for a warning.

    The `stacklevel` is valid for a warning issued by the caller of this function.
    """
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return frame, level


def users_line() -> str:
    """Return the line of the user's code that called ferrule: "model.py:12: `if x > 0:`"."""
    import linecache

    frame, _ = users_frame()
    text = linecache.getline(frame.f_code.co_filename, frame.f_lineno, frame.f_globals).strip()
    place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
    return f"{place}: `{text}`" if text else place


def refuse(what: str, handle: object = None) -> NoReturn:
    """Raise TracingError: `what` needs the value of a traced array or of a number argument of a traced call."""
    if isinstance(handle, Symbol) and handle.weak:
        subject = (
            "the number is computed of Python number arguments"
            if handle.name is None
            else f"{handle.name!r} is a Python number argument"
        )
        is_argument = handle.name is not None and handle.name.isidentifier()
        declared = (
            f"declare it by ferrule.graph(static_argnames={handle.name!r})"
            if is_argument
            else ("declare the argument by ferrule.graph(static_argnames=...)")
        )
        raise TracingError(
            f"{what} needs a value, at {users_line()}: {subject} of the graph, so its value is not known while it is "
            f"traced. To trace once for each value, {declared}, or pass it in a frozen dataclass; to use it as data, "
            "compute with it or use ferrule.where."
        )
    raise TracingError(
        f"{what} needs the value of an array that is being traced, at {users_line()}. "
        "Inside ferrule.graph an array has a shape and a dtype, but no values: use ferrule.where, or compute outside."
    )
