"""How an op is called: operands become arrays of one device, and the op is recorded, lazily or into a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ferrule import _ferrule
from ferrule._dtypes import as_dtype, is_floating
from ferrule._errors import InvalidArgumentError
from ferrule._symbols import Symbol
from ferrule.array import Array

if TYPE_CHECKING:
    from ferrule.graphs import Graph

_COMPARISONS = frozenset({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})
_BOOL, _INT64, _FLOAT32 = np.dtype("bool"), np.dtype("int64"), np.dtype("float32")


def apply(op: str, inputs: Sequence[object], attributes: Mapping[str, object]) -> Array:
    """Record `op`. Inputs are arrays, NumPy arrays or Python numbers; None at the end stands for an optional one."""
    operands = list(inputs)
    while operands and operands[-1] is None:
        operands.pop()
    graph: Graph | None = None
    device: _ferrule.Device | None = None
    dtypes: list[np.dtype[Any]] = []
    numbers = False
    for index, operand in enumerate(operands):
        kind = type(operand)
        if kind is not Array:
            if kind is int or kind is float or kind is bool:
                numbers = True
                continue
            operand = operands[index] = _array(op, operand, operands)
        assert isinstance(operand, Array)
        handle = operand._handle
        if isinstance(handle, Symbol):
            if graph is not None and graph is not handle.graph:
                raise InvalidArgumentError(f"{op}: its inputs belong to two graphs")
            graph = handle.graph
            if handle.weak:
                numbers = True
                continue
        elif device is None and numbers:
            device = handle.device
        dtypes.append(handle.dtype)
    attributes = {name: _attribute(op, name, value) for name, value in attributes.items()} if attributes else {}
    if graph is not None:
        return graph._record(op, operands, dtypes, attributes)
    if not numbers:
        handles = [operand._handle for operand in operands]  # type: ignore[attr-defined]
        return Array._of(_ferrule.apply(op, handles, (), attributes))
    if device is None:
        device = _device_of(operands)
    handles, weak = [], []
    for operand in operands:
        if isinstance(operand, Array):
            handles.append(operand._handle)
            weak.append(False)
        else:
            assert isinstance(operand, (int, float))
            dtype, is_weak = number_dtype(op, operand, dtypes)
            handles.append(_ferrule.scalar(device, operand, dtype))
            weak.append(is_weak)
    return Array._of(_ferrule.apply(op, handles, weak, attributes))


def number_dtype(op: str, value: float, others: Sequence[np.dtype[Any]]) -> tuple[np.dtype[Any], bool]:
    """The dtype that a Python number takes beside arrays of other dtypes, and whether it leaves theirs as they are."""
    floats = [dtype for dtype in others if is_floating(dtype)]
    if type(value) is bool:
        return _BOOL, bool(others)
    if floats:
        widest = max(floats, key=lambda dtype: dtype.itemsize)
        return (_FLOAT32 if widest.itemsize == 2 and any(dtype != widest for dtype in floats) else widest), True
    if type(value) is float:
        return _FLOAT32, bool(others)
    integers = [dtype for dtype in others if dtype.kind in "iu"]
    if not integers:
        return _INT64, bool(others)
    dtype = max(integers, key=lambda dtype: (dtype.itemsize, dtype.kind))
    if op in _COMPARISONS and not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
        return _INT64, False  # a comparison has an answer for every number
    return dtype, True


def _device_of(operands: Sequence[object]) -> _ferrule.Device:
    for operand in operands:
        if isinstance(operand, Array) and isinstance(operand._handle, _ferrule.Array):
            return operand._handle.device
    from ferrule._devices import default_handle

    return default_handle()


def _array(op: str, operand: object, operands: Sequence[object]) -> Array:
    if isinstance(operand, (np.ndarray, np.generic)):
        from ferrule._host import from_host

        return Array._of(from_host(np.asarray(operand), _device_of_all(operands), None, op))
    if operand is None:
        raise InvalidArgumentError(f"{op}: an input before the last one given is None")
    raise InvalidArgumentError(f"{op}: an input is a {type(operand).__name__}; ferrule.asarray makes arrays") from None


def _device_of_all(operands: Sequence[object]) -> _ferrule.Device:
    for operand in operands:
        if isinstance(operand, Array) and isinstance(operand._handle, Symbol):
            return operand._handle.graph.device._handle
    return _device_of(operands)


_lists: dict[str, frozenset[str]] = {}


def _attribute(op: str, name: str, value: object) -> object:
    """`axis=1` where the op takes a list of axes, and dtypes by any name that NumPy knows."""
    if name == "dtype" and value is not None and not isinstance(value, str):
        return as_dtype(value)
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and name in list_attributes(op):
        return (int(value),)
    return value


def list_attributes(op: str) -> frozenset[str]:
    """The names of an op's attributes that are lists of integers."""
    if not _lists:
        import json

        for row in json.loads(_ferrule.ops()):
            lists = (entry["name"] for entry in row["attributes"] if "list" in entry["type"])
            _lists[row["name"]] = frozenset(lists)
    return _lists.get(op, frozenset())
