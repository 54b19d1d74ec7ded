"""What stands for an array while a graph is being built, and who asks for its value too early."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from ferrule._errors import TracingError

if TYPE_CHECKING:
    import numpy as np

    from ferrule._devices import Device
    from ferrule.graphs import Graph

_PACKAGE = os.path.dirname(__file__)


class Symbol:
    """A value of a graph under construction.

    `weak`: a Python number, which does not promote; `id` is then its place in the graph's Numbers, and `dtype` what it
    becomes without arrays beside it.
    """

    __slots__ = ("dtype", "graph", "id", "shape", "weak")

    def __init__(self, graph: Graph, id: int, dtype: np.dtype[Any], shape: tuple[int, ...], weak: bool = False) -> None:
        self.graph = graph
        self.id = id
        self.dtype = dtype
        self.shape = shape
        self.weak = weak

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def device(self) -> Device:
        return self.graph.device


def users_line() -> str:
    """Where the caller's code called into ferrule: "model.py:12: `if x > 0:`"."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    import linecache

    text = linecache.getline(frame.f_code.co_filename, frame.f_lineno, frame.f_globals).strip()
    place = f"{frame.f_code.co_filename}:{frame.f_lineno}"
    return f"{place}: `{text}`" if text else place


def refuse(what: str) -> NoReturn:
    """Raise TracingError: `what` needs the value of a traced array."""
    raise TracingError(
        f"{what} needs the value of an array that is being traced, at {users_line()}. "
        "Inside ferrule.graph an array has a shape and a dtype, but no values: use ferrule.where, or compute outside."
    )
