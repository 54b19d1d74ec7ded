"""Reading saved graphs: the types of all parts are checked, and each step may use only values of earlier steps."""

from __future__ import annotations

import io
import json
import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ferrule import _ferrule
from ferrule.array.numbers import Numbers
from ferrule.dtypes.classification import DTYPE_NAMES, as_dtype, is_block
from ferrule.errors import Error, InvalidArgumentError, OutOfMemoryError, UnsupportedError

FORMAT = 4


@dataclass
class SavedGraph:
    """The contents of a file. `steps` are `[kind, value, ...]`, as in `Graph._steps`."""

    device: str
    numbers: list[Any]
    steps: list[Any]
    constants: dict[str, NDArray[Any]]


def read(data: bytes, name: str = "this") -> SavedGraph:
    """Parse a saved graph.

    Raises InvalidArgumentError if the data is not a saved graph, UnsupportedError if it has another format.
    """
    try:
        arrays = _arrays_in(data)
        described = json.loads(arrays.pop("steps").tobytes().decode())
        version = described["format"]
    except MemoryError as error:
        raise OutOfMemoryError(f"there is no memory for the saved graph {name}: {error}") from error
    except Exception as error:  # the readers of zip, NumPy and JSON raise errors of many types
        raise InvalidArgumentError(f"{name} is not a saved graph; Graph.save and Graph.to_bytes make one") from error
    if version != FORMAT:
        raise UnsupportedError(f"{name} was saved in format {version!r}; this ferrule reads {FORMAT}")
    device, numbers, steps = described.get("device"), described.get("numbers", []), described.get("steps")
    if not (_is_text(device) and isinstance(numbers, list) and isinstance(steps, list)):
        raise InvalidArgumentError(f"{name} is not a saved graph: it needs a device, and lists of numbers and steps")
    return SavedGraph(device, numbers, steps, arrays)


def _arrays_in(data: bytes) -> dict[str, NDArray[Any]]:
    attempt = 1
    while True:
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                return {part: file[part] for part in file.files}
        except SystemError:
            # NumPy parses headers by ast.literal_eval, which in CPython 3.11.7 may fail with "AST constructor recursion
            # depth mismatch" while another thread parses Python, too (github.com/python/cpython/issues/106905).
            if attempt == 10:
                raise
            attempt += 1


@contextmanager
def named(what: str) -> Iterator[None]:
    """Prepend the part of the file to the message of an error."""
    try:
        yield
    except Error as error:
        error.args = (f"the saved graph is damaged in {what}: {error}", *error.args[1:])
        raise


def replay_number(numbers: Numbers, entry: Any) -> None:
    """Add a number of the file, which is `[[operation, parts], value]`."""
    if not (_is_list_of(entry, object, 2) and _is_list_of(entry[0], object, 2) and isinstance(entry[0][1], list)):
        _wrong("it is not an operation with its parts and a value")
    numbers.replay((entry[0][0], entry[0][1]), entry[1])


def checked_step(step: Any, values: dict[int, Any], numbers: int) -> tuple[Any, ...]:
    """Check a step and return it. `values` are those of earlier steps, `numbers` is how many numbers the graph has."""
    if not isinstance(step, list) or not step or not isinstance(step[0], str) or step[0] not in _FIELDS:
        _wrong(f"it is none of {', '.join(_FIELDS)}")
    kind, fields = step[0], _FIELDS[step[0]]
    if len(step) != len(fields) + 1:
        _wrong(f"{kind} has {len(fields)} fields, not {len(step) - 1}")
    for (name, fits), field in zip(fields.items(), step[1:], strict=True):
        if not fits(field):
            _wrong(f"{kind} has a wrong field '{name}'")
    used = step[3] if kind == "apply" else [step[1]] if kind == "output" else []
    for value in used:
        if value not in values:
            _wrong(f"{kind} uses the value {value}, which no step before gives")
    if kind == "scalar":
        number, place = step[3], step[4]
        if np.dtype(_ferrule.dtype(step[2])).kind in "iu" and not isinstance(number, int):
            _wrong(f"{number!r} is not of dtype {step[2]}")
        if place is not None and place >= numbers:
            _wrong(f"it takes number {place} of {numbers}")
    if kind == "apply" and len(step[4]) != len(step[3]):
        _wrong(f"it has {len(step[4])} marks for {len(step[3])} inputs")
    return tuple(step)


def kept_attributes(attributes: Mapping[str, object]) -> dict[str, Any]:
    """Return an op's attributes as JSON values; a dtype by its name."""

    def kept(value: Any) -> Any:
        if isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, np.dtype) or is_block(value):
            return str(value)
        if hasattr(value, "__index__"):
            return operator.index(value)
        return [float(item) if isinstance(item, (float, np.floating)) else operator.index(item) for item in value]

    return {name: kept(value) for name, value in attributes.items() if value is not None}


def attributes_in(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of an op from their JSON values."""
    for name, value in attributes.items():
        if not (isinstance(value, (bool, int, float, str)) or _is_list_of(value, (int, float))):
            _wrong(f"its attribute {name!r} must be a number, a string or a list of numbers")
    dtype = attributes.get("dtype")
    return {**attributes, "dtype": as_dtype(dtype)} if isinstance(dtype, str) else attributes


def constant_in(saved: SavedGraph, place: int, dtype: str) -> NDArray[Any]:
    """Return a constant in its dtype, which an .npz does not store for bfloat16; of a block dtype, the bytes."""
    kept: object = saved.constants.get(f"constant{place}")
    wanted = np.dtype(np.uint8) if is_block(_ferrule.dtype(dtype)) else _ferrule.dtype(dtype)
    if not isinstance(kept, np.ndarray) or kept.dtype.itemsize != wanted.itemsize or kept.dtype.hasobject:
        _wrong(f"constant{place} is missing, or no {dtype}")
    return kept.view(wanted)


def _wrong(why: str) -> NoReturn:
    raise InvalidArgumentError(why)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_place(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_dtype(value: object) -> bool:
    return isinstance(value, str) and value in DTYPE_NAMES


def _is_number(value: object) -> bool:
    return isinstance(value, (bool, int, float))


def _is_list_of(value: object, kind: type | tuple[type, ...], length: int | None = None) -> bool:
    return isinstance(value, list) and length in (None, len(value)) and all(isinstance(item, kind) for item in value)


def _or_none(fits: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: value is None or fits(value)


def _is_integers(value: object) -> bool:
    return _is_list_of(value, int)


def _is_places(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_place, value))


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _is_flags(value: object) -> bool:
    return _is_list_of(value, bool)


_FIELDS: dict[str, dict[str, Callable[[object], bool]]] = {
    "input": {
        "value": _is_place,
        "name": _is_text,
        "dtype": _is_dtype,
        "shape": _is_integers,
        "strides": _or_none(_is_integers),
    },
    "constant": {
        "value": _is_place,
        "name": _is_text,
        "place": _is_place,
        "dtype": _is_dtype,
    },
    "scalar": {
        "value": _is_place,
        "dtype": _is_dtype,
        "number": _is_number,
        "place": _or_none(_is_place),
    },
    "apply": {
        "values": _is_places,
        "op": _is_text,
        "inputs": _is_places,
        "weak": _is_flags,
        "attributes": _is_object,
        "device": _or_none(_is_text),
    },
    "output": {"value": _is_place},
}
