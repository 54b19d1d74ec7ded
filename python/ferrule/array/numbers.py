"""Python numbers in a graph: what a traced function computes from its int and float arguments is computed by Python.

Each call computes these numbers again, exactly, and passes them to the graph as scalars in the dtypes of the arrays
they are combined with. So a traced function has the results and the errors of the plain function: `a + s * s` raises
an error if `s * s` does not fit the dtype of `a`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ferrule.errors import DTypeError, InvalidArgumentError, NumberOverflowError, OutOfRangeError

Number = bool | int | float
# The functions and operators that take the start of a slice; error messages name them.
STARTING = ("dynamic_slice", "update_slice", "x[key]", "x[key] = value")
# An operation and the places of its operands; or "literal" and its value; or "operand" and its place in the call.
Step = tuple[str, list[Any]]


def shown(value: object) -> str:
    """Format a number for a message; Python refuses to print ints of thousands of digits."""
    if isinstance(value, int) and value.bit_length() > 512:
        return f"{'a negative int' if value < 0 else 'an int'} of {value.bit_length()} bits"
    return repr(value)


def _exactly(kind: type[Number]) -> Callable[[Number], Number]:
    def convert(value: Number) -> Number:
        if value != value or kind(value) != value:
            raise NumberOverflowError(f"{shown(value)} does not fit into {kind.__name__}")
        return kind(value)

    return convert


def _index(value: int, size: int) -> int:
    """Return the position that an index means on an axis."""
    if not -size <= value < size:
        raise OutOfRangeError(f"x[key]: index {shown(value)} is out of range for an axis with {size} elements")
    return value % size


def _slice_start(value: int, size: int, length: int) -> int:
    """Return where a slice of `length` elements begins on an axis. Unlike Python's slices, it is never shorter."""
    start = value + size if value < 0 else value
    ends_before_it_begins = value < 0 <= value + length and length > 0  # x[-1:1]
    if not 0 <= start <= size - length or ends_before_it_begins:
        raise OutOfRangeError(
            f"x[key]: {length} elements from {shown(value)} on leave an axis with {size}; a slice that depends on a "
            "number of a traced call has one length"
        )
    return start


def _start_of(caller: str) -> Callable[[int, int, int, int], int]:
    """Return the check of a slice's start that does not count from the end."""

    def start(value: int, axis: int, size: int, length: int) -> int:
        if not 0 <= value <= size - length:
            elements = "1 element" if length == 1 else f"{length} elements"
            raise OutOfRangeError(f"{caller}: {elements} from {shown(value)} on leave axis {axis}, which has {size}")
        return value

    return start


def _key_count(value: int, most: int) -> int:
    """Check the number of keys that attention reads."""
    if not 0 <= value <= most:
        raise OutOfRangeError(
            f"scaled_dot_product_attention: kv_length {shown(value)} is not between 0 and {most}, the length of key"
        )
    return value


def _check(
    rule: str,
    holds: Callable[[Number], bool],
    error: type[InvalidArgumentError | OutOfRangeError] = InvalidArgumentError,
) -> Callable[[Number], Number]:
    """Return a check of a number argument. The rule, which names function and argument, begins the message."""

    def check(value: Number) -> Number:
        if not holds(value):
            raise error(f"{rule}, not {shown(value)}")
        return value

    return check


# Checks of arguments: `perform` checks a number at once, and `recording.number_of` in each call of a traced function.
_CHECKS = {
    "p of bernoulli": _check("random.bernoulli: p is a probability from 0 to 1", lambda p: 0 <= p <= 1),
    "q of percentile": _check("percentile: q is from 0 to 100", lambda q: 0 <= q <= 100, OutOfRangeError),
    "q of quantile": _check("quantile: q is from 0 to 1", lambda q: 0 <= q <= 1, OutOfRangeError),
    "scale of exponential": _check("random.exponential: scale is a number from 0 on", lambda scale: scale >= 0),
    "scale of gumbel": _check("random.gumbel: scale is a number from 0 on", lambda scale: scale >= 0),
    "seed of key": _check("random.key: seed is from 0 to 2**64 - 1", lambda seed: 0 <= seed < 2**64),
    "std of normal": _check("random.normal: std is a number from 0 on", lambda std: std >= 0),
    "width of uniform": _check(
        "random.uniform: high - low is a finite number from 0 on", lambda width: 0 <= width < math.inf
    ),
}
_OPERATIONS: dict[str, Callable[..., Any]] = {
    **_CHECKS,
    "abs": abs,
    "add": operator.add,
    "bitwise_and": operator.and_,
    "bitwise_invert": operator.invert,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "bool": bool,
    "divide": operator.truediv,
    "equal": operator.eq,
    "exactly bool": _exactly(bool),
    "exactly int": _exactly(int),
    "floor_divide": operator.floordiv,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "index": _index,
    "int": int,
    "key_count": _key_count,
    "less": operator.lt,
    "less_equal": operator.le,
    "multiply": operator.mul,
    "negative": operator.neg,
    "not_equal": operator.ne,
    "pow": operator.pow,
    "remainder": operator.mod,
    "slice_start": _slice_start,
    "subtract": operator.sub,
    **{f"start of {caller}": _start_of(caller) for caller in STARTING},
}


# The number of operands of an operation; 2 for those not listed.
_ARITIES = {
    **dict.fromkeys(_CHECKS, 1),
    **dict.fromkeys(("abs", "bitwise_invert", "bool", "exactly bool", "exactly int", "int", "negative"), 1),
    "slice_start": 3,
    **{f"start of {caller}": 4 for caller in STARTING},
}


def perform(operation: str, *values: Number) -> Any:
    """Return the result of Python's operation, and raise ferrule's errors where it fails."""
    try:
        return _OPERATIONS[operation](*values)
    except (InvalidArgumentError, OutOfRangeError):  # the message is complete already
        raise
    except OverflowError as error:
        raise NumberOverflowError(f"{operation} of {', '.join(map(shown, values))}: {error}") from error
    except ValueError as error:
        raise InvalidArgumentError(f"{operation} of {', '.join(map(shown, values))}: {error}") from error
    except TypeError as error:
        raise DTypeError(f"{operation} of {', '.join(map(shown, values))}: {error}") from error


def conversion(kind: str, dtype: np.dtype[Any], exact: bool) -> str | None:
    """Return the operation that converts a number of `kind` ("bool", "int", "float") for a dtype; None if not needed.

    As in NumPy's assignment, conversion to bool compares with zero, and to integers truncates; `exact` refuses loss.
    """
    wanted = {"b": "bool", "i": "int", "u": "int"}.get(dtype.kind)
    if wanted is None or wanted == kind or (wanted == "int" and kind == "bool"):
        return None
    return f"exactly {wanted}" if exact else wanted


class Numbers:
    """The numbers of a graph in the order in which they are computed, each identified by its place, and its scalars."""

    __slots__ = ("_places", "operand_count", "scalars", "steps", "values")

    def __init__(self) -> None:
        self.operand_count = 0
        self.steps: list[Step] = []
        self.values: list[Number] = []  # from the traced call
        self.scalars: list[tuple[int | None, Number]] = []  # of the graph: the place of a number, or None and a literal
        self._places: dict[Any, int] = {}

    def operand(self, value: Number) -> int:
        """Add a number that each call passes."""
        self.operand_count += 1
        return self._add(("operand", [self.operand_count - 1]), value)

    def literal(self, value: Number) -> int:
        return self._add(("literal", [value]), value)

    def compute(self, operation: str, *places: int) -> int:
        """Add a number that is computed from others."""
        return self._add((operation, list(places)), perform(operation, *(self.values[place] for place in places)))

    def distance(self, later: int, earlier: int) -> int | None:
        """Return the difference of two int numbers if it is the same in every call, else None.

        It is known where both are the same number plus or minus literals.
        """
        base, offset = self._away_from(later)
        other, other_offset = self._away_from(earlier)
        return offset - other_offset if base == other else None

    def _away_from(self, place: int) -> tuple[int | None, int]:
        """Return the number that this one differs from by a literal, and the literal; for a literal, None and it."""
        operation, parts = self.steps[place]
        if operation == "literal" and type(parts[0]) is int:
            return None, parts[0]
        if operation in ("add", "subtract") and type(self.values[place]) is int:
            base, offset = self._away_from(parts[0])
            other, added = self._away_from(parts[1])
            if other is None:
                return base, offset + added if operation == "add" else offset - added
            if base is None and operation == "add":
                return other, offset + added
        return place, 0

    def replay(self, step: Step, value: Number) -> None:
        """Add a step of a saved graph."""
        operation, parts = step[0], list(step[1])
        if operation == "operand":
            fits = parts == [self.operand_count] and type(parts[0]) is int
            self.operand_count += 1
        elif operation == "literal":
            fits = len(parts) == 1 and type(parts[0]) in (bool, int, float)
        elif isinstance(operation, str) and operation in _OPERATIONS:
            fits = len(parts) == _ARITIES.get(operation, 2) and all(
                type(part) is int and 0 <= part < len(self.steps) for part in parts
            )
        else:
            raise InvalidArgumentError(f"the operation {operation!r} is unknown")
        if not fits:
            raise InvalidArgumentError(f"operation {operation} refers to undefined numbers")
        if self._add((operation, parts), value) + 1 != len(self.steps):
            raise InvalidArgumentError(f"operation {operation} is repeated")

    def _add(self, step: Step, value: Number) -> int:
        if type(value) not in (bool, int, float):
            raise InvalidArgumentError(
                f"{step[0]} of Python's numbers gave {shown(value)}, which is not a bool, int or float"
            )
        key = (step[0], *((type(part), part if type(part) is int else repr(part)) for part in step[1]))
        place = self._places.setdefault(key, len(self.steps))
        if place == len(self.steps):
            self.steps.append(step)
            self.values.append(value)
        return place

    def scalars_of(self, operands: Sequence[Number]) -> list[Number]:
        """Return the graph's scalars in a call with these operands."""
        values = self.values_of(operands)
        return [literal if place is None else values[place] for place, literal in self.scalars]

    def values_of(self, operands: Sequence[Number]) -> list[Number]:
        """Return all numbers in a call with these operands."""
        values: list[Number] = []
        for (operation, parts), known in zip(self.steps, self.values, strict=True):
            if operation == "operand":
                value = operands[parts[0]]
            elif operation == "literal":
                value = parts[0]
            else:
                value = perform(operation, *[values[place] for place in parts])
            if type(value) is not type(known):
                raise InvalidArgumentError(
                    f"ferrule.graph: {operation} of Python's numbers gave {shown(value)} in this call, but "
                    f"{shown(known)} in the one that was traced: a graph has one dtype for both"
                )
            values.append(value)
        return values
