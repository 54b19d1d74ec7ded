"""Calling an op: operands are converted to arrays of one device, and the op is recorded, lazily or in a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ferrule import _ferrule
from ferrule.array.array import Array, is_number
from ferrule.array.attributes import attribute_of
from ferrule.array.comparison import MIRRORED, compare_mixed, is_mixed, within_range
from ferrule.array.host_memory import from_host, refuse_masked
from ferrule.array.numbers import conversion, perform, shown
from ferrule.array.op_attributes import HAVE_OPTIONAL_INPUTS, ON_TRUTH
from ferrule.array.symbols import Symbol
from ferrule.dtypes.classification import is_floating
from ferrule.dtypes.default_dtypes import default_complex_dtype, default_dtype
from ferrule.errors import DTypeError, InvalidArgumentError, NumberOverflowError
from ferrule.loading.device_lookup import default_handle

if TYPE_CHECKING:
    from ferrule.array.symbols import Recorder
    from ferrule.loading.devices import Device

# The ops that add and multiply bools, as NumPy does. The extension passes sums and products of bools to this module.
_LOGICAL = {"add": "logical_or", "multiply": "logical_and"}
_INT64, _FLOAT64 = np.dtype("int64"), np.dtype("float64")


def apply(op: str, inputs: Sequence[object], attributes: Mapping[str, object]) -> Array:
    """Record an op with one output.

    Inputs are arrays, NumPy arrays or Python numbers. None at the end stands for an optional input.
    """
    if op not in MIRRORED:
        result = _ferrule.apply_with(op, inputs, attributes)
        if result is not NotImplemented:
            return result  # type: ignore[no-any-return]
    return apply_all(op, inputs, attributes)[0]


def apply_all(op: str, inputs: Sequence[object], attributes: Mapping[str, object]) -> list[Array]:
    """Record an op with any number of outputs."""
    operands = list(inputs)
    if op in ON_TRUTH:  # of ints of any size
        operands = [bool(x) if type(x) in (int, float, complex) else x for x in operands]
    if op in HAVE_OPTIONAL_INPUTS:
        while operands and operands[-1] is None:
            operands.pop()
    graph: Recorder[Array] | None = None
    dtypes: list[np.dtype[Any]] = []
    numbers = complexes = False
    for index, operand in enumerate(operands):
        kind = type(operand)
        if kind is not Array:
            if kind is int or kind is float or kind is bool:
                numbers = True
                continue
            if kind is complex:
                complexes = True
                continue
            if isinstance(operand, (int, float)) and not isinstance(operand, np.generic):  # a member of an IntEnum
                operands[index] = int(operand) if isinstance(operand, int) else float(operand)
                numbers = True
                continue
            if operand is None and op in HAVE_OPTIONAL_INPUTS:
                raise InvalidArgumentError(f"{op}: an input before the last one given is None")
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
        dtypes.append(handle.dtype)
    if op in _LOGICAL and dtypes and all(dtype.kind == "b" for dtype in dtypes) and all(map(_is_bool, operands)):
        op = _LOGICAL[op]
    attributes = {name: attribute_of(op, name, value) for name, value in attributes.items()} if attributes else {}
    if op in MIRRORED:
        if graph is not None and numbers and not any(map(is_floating, dtypes)):
            _compare_in_64_bits(operands, dtypes)
        if is_mixed(dtypes):
            return [compare_mixed(op, operands[0], operands[1], apply)]  # type: ignore[arg-type]
        if numbers:
            op, operands = within_range(op, operands, dtypes)
    if graph is not None:
        if complexes:
            operands = _with_complex_arrays(op, operands, dtypes)
        return graph._record_all(op, operands, dtypes, attributes)
    handles: list[Any] = [operand._handle if type(operand) is Array else operand for operand in operands]
    if not dtypes and handles:  # numbers alone: the first one is an array of the default device
        handles[0] = _ferrule.scalar(_device_of(()), handles[0], number_dtype(op, handles[0], ())[0])
    return [Array._of(handle) for handle in _ferrule.apply(op, handles, attributes)]


def _is_bool(operand: object) -> bool:
    return operand.dtype.kind == "b" if isinstance(operand, Array) else type(operand) is bool


def _with_complex_arrays(op: str, operands: list[object], dtypes: list[np.dtype[Any]]) -> list[object]:
    """Convert complex numbers to arrays of 0 dimensions, and add their dtypes to `dtypes`."""
    device = _device_of_all(operands)
    arrays = list(operands)
    for index, operand in enumerate(operands):
        if type(operand) is complex:
            dtype, _ = number_dtype(op, operand, dtypes)
            arrays[index] = Array._of(_ferrule.scalar(device, operand, dtype))
            dtypes.append(dtype)
    return arrays


def _compare_in_64_bits(operands: list[object], dtypes: list[np.dtype[Any]]) -> None:
    """Convert the number arguments of a traced function, which each call passes anew, to arrays of 64 bits.

    Floats beside integers of up to 16 bits stay as they are: float32 has these integers.
    """
    is_wide = any(dtype.itemsize > 2 for dtype in dtypes)
    for index, operand in enumerate(operands):
        if isinstance(operand, Array) and isinstance(operand._handle, Symbol):
            symbol = operand._handle
            if symbol.weak and symbol.dtype.kind == "i":
                operands[index] = symbol.graph._number_as(operand, _INT64)
                dtypes.append(_INT64)
            elif symbol.weak and symbol.dtype.kind == "f" and is_wide:
                operands[index] = symbol.graph._number_as(operand, _FLOAT64)
                dtypes.append(_FLOAT64)


def number_like(caller: str, value: Any, like: Array, exact: bool = False) -> Array:
    """Return a number as an array of 0 dimensions, in the dtype and on the device of another array.

    As in NumPy's assignment, a fraction is dropped where the dtype has none, unless `exact`. A number that does not fit
    raises an error.
    """
    dtype, handle = like.dtype, like._handle
    if isinstance(value, Array):
        return graph_of(value)._number_as(value, dtype, exact)
    operation = conversion(type(value).__name__, dtype, exact)
    try:
        number = value if operation is None else perform(operation, value)
    except NumberOverflowError:
        raise NumberOverflowError(f"{caller}: {shown(value)} does not fit into {dtype}") from None
    except InvalidArgumentError:
        raise InvalidArgumentError(f"{caller}: {shown(value)} is not a value of {dtype}") from None
    if type(number) is int and dtype.kind in "iu":
        check_range(caller, number, dtype)
    if isinstance(handle, Symbol):
        return graph_of(like)._scalar(number, dtype)
    try:
        return Array._of(_ferrule.scalar(handle.device, number, dtype))
    except OverflowError:
        raise NumberOverflowError(f"{caller}: {shown(value)} does not fit into {dtype}") from None


def complex_like(caller: str, value: complex, like: Array) -> Array:
    """Return a complex number as an array of 0 dimensions, in the dtype and on the device of another array."""
    if like.dtype.kind != "c":
        raise DTypeError(f"{caller}: {value} has an imaginary part, and {like.dtype} has none")
    return Array._of(_ferrule.scalar(_device_of_all((like,)), value, like.dtype))


def array_of_number(number: Array, dtype: np.dtype[Any] | None = None) -> Array:
    """Return the array of 0 dimensions that a number argument of a traced function becomes without other arrays."""
    return graph_of(number)._number_as(number, number.dtype if dtype is None else dtype)


def number_of(operation: str, number: Array, *others: int) -> Array:
    """Return the result of an operation of array.numbers on a number argument; each call computes it again."""
    return graph_of(number)._number_of(operation, number, *others)


def graph_of(*values: object) -> Recorder[Array]:
    """Return the graph of the first symbol among the values."""
    return next(x._handle.graph for x in values if isinstance(x, Array) and isinstance(x._handle, Symbol))


def check_range(op: str, value: int, dtype: np.dtype[Any]) -> None:
    """Raise NumberOverflowError unless the integer dtype can represent the number."""
    limits = np.iinfo(dtype)
    if not limits.min <= value <= limits.max:
        raise NumberOverflowError(f"{op or 'ferrule.graph'}: {shown(value)} does not fit into {dtype}")


def number_dtype(op: str, value: object, others: Sequence[np.dtype[Any]]) -> tuple[np.dtype[Any], bool]:
    """Return the dtype of a Python number beside arrays of other dtypes, and whether it leaves theirs unchanged."""
    return _ferrule.number_dtype(op or "ferrule.graph", value, list(others)), bool(others)


def _device_of(operands: Sequence[object]) -> _ferrule.Device:
    for operand in operands:
        if isinstance(operand, Array) and isinstance(operand._handle, _ferrule.Array):
            return operand._handle.device
    return default_handle()


def _array(op: str, operand: object, operands: Sequence[object]) -> Array:
    if isinstance(operand, (np.ndarray, np.generic)):
        refuse_masked(operand, op)
        return Array._of(from_host(np.asarray(operand), _device_of_all(operands), None, op))
    raise no_array(op, operand)


def as_operand(caller: str, value: object, *others: object) -> Array:
    """Return `value` as an array; one that is not an array yet is put on the device of the others."""
    return _operand(caller, value, others, None)


def as_companion(caller: str, value: object, *others: object) -> Array:
    """Return `value` as an array, as as_operand does; a number has the dtype that it has beside the other arrays."""
    is_plain = isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic)
    dtype = _dtype_beside(caller, value, others) if is_plain or is_number(value) else None
    return _operand(caller, value, others, dtype)


def _operand(caller: str, value: object, others: Sequence[object], dtype: np.dtype[Any] | None) -> Array:
    if isinstance(value, Array):
        return array_of_number(value, dtype) if is_number(value) else value
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
        if dtype is None and not isinstance(value, int):
            dtype = default_dtype() if isinstance(value, float) else default_complex_dtype()
        if dtype is not None and dtype.isbuiltin != 1 and isinstance(value, int):
            value = float(value)  # ml_dtypes takes no ints beyond int64
        with np.errstate(over="ignore"):  # large floats are infinite, as they are beside arrays
            value = np.asarray(value, dtype=dtype)
    return _array(caller, value, others)


def _dtype_beside(caller: str, number: object, others: Sequence[object]) -> np.dtype[Any] | None:
    """Return the dtype of a number beside arrays; None if there are none."""
    arrays = (x for x in others if isinstance(x, (Array, np.ndarray, np.generic)) and not is_number(x))
    dtypes = [x.dtype for x in arrays]
    if not dtypes:
        return None
    if isinstance(number, Array):  # of a traced call, which passes another one each time
        number = {"b": False, "i": 0, "f": 0.0, "c": 0j}[number.dtype.kind]
    try:
        return number_dtype(caller, number, dtypes)[0]
    except NumberOverflowError:  # an int beyond their range has a wider dtype
        return None


def another_object(x: Array, caller: str, device: Device | str | None, copy: bool | None, dtype: Any = None) -> Array:
    """Return what asarray and from_dlpack make of an array: x itself unless it is copied, as NumPy does.

    `dtype` applies to a Python number of a traced call.
    """
    if is_number(x):
        return array_of_number(x, dtype)
    is_concrete = isinstance(x._handle, _ferrule.Array)
    array = x if device is None else x.to_device(device)
    if copy and is_concrete:
        return Array._of(_ferrule.apply("copy", [array._handle], {})[0])
    return array._copied(caller) if copy else array


def no_array(op: str, value: object) -> InvalidArgumentError:
    """Return the error for a value that is neither an array nor a number."""
    advice = "" if value is None or isinstance(value, (str, bytes)) else "; ferrule.asarray(x) makes one"
    return InvalidArgumentError(f"{op}: takes arrays, not {type(value).__name__}{advice}")


def _device_of_all(operands: Sequence[object]) -> _ferrule.Device:
    for operand in operands:
        if isinstance(operand, Array) and isinstance(operand._handle, Symbol):
            return operand._handle.graph.device._handle
    return _device_of(operands)
