"""Arguments of wrong types, shapes, dtypes and sizes raise ferrule's errors, which begin with the function's name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ferrule as fe
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FE: Any = fe

ARRAYS: list[Any] = [
    fe.ones((2, 3)),
    fe.arange(6),
    fe.ones(()),
    fe.ones((2, 0, 3)),
    fe.ones((2,) * 8),
    fe.ones(3, dtype="bool"),
    fe.ones((2, 2), dtype="complex64"),
    fe.ones(3, dtype="float16"),
    fe.ones(2, dtype="bfloat16"),
    fe.ones(3, dtype="float8_e5m2"),
    fe.ones(3, dtype="uint64"),
    fe.asarray(np.ones((2, 32), "f4")).astype("q8_0"),
    np.ones((2, 3)),
    np.float32(1.5),
]
NUMBERS: list[Any] = [
    0,
    1,
    -1,
    2,
    3,
    300,
    2**62,
    2**63,
    -(2**70),
    10**400,
    0.5,
    1e300,
    float("nan"),
    -float("inf"),
    1j,
    True,
]
TUPLES: list[Any] = [
    (),
    (0,),
    (1,),
    (-1,),
    (0, 1),
    (1, 0),
    (0, 0),
    (2, 3),
    (3, -1),
    (9, 9),
    (2,) * 9,
    (2**40, 2**40),
    (1.5,),
    ("a",),
    (None,),
    [[0], [0]],
]
DTYPES: list[Any] = [
    "float32",
    "int8",
    "bool",
    "complex64",
    "bfloat16",
    "q8_0",
    "U3",
    "no dtype",
    object,
    np.dtype("M8[s]"),
    int,
]
OTHERS: list[Any] = [
    None,
    "a",
    b"a",
    "",
    object(),
    {},
    {1},
    ...,
    slice(None),
    [1, [2, 3]],
    [1, 2, 3],
    [fe.ones(2), fe.ones(3)],
    [[fe.ones(2)], 3],
    lambda: 1,
    fe,
]
JUNK = st.one_of(*map(st.sampled_from, (ARRAYS, NUMBERS, TUPLES, DTYPES, OTHERS)))
ANY_ARRAY = st.one_of(st.sampled_from(ARRAYS), JUNK)
SEVERAL = st.one_of(st.lists(st.sampled_from(ARRAYS), max_size=3), JUNK)

# The positional arguments of each function, and its keywords.
CALLS: dict[str, tuple[int, tuple[str, ...]]] = {
    "__array_namespace_info__": (0, ()),
    "all": (1, ("axis", "keepdims")),
    "any": (1, ("axis", "keepdims")),
    "arange": (3, ("dtype", "device")),
    "argmax": (1, ("axis", "keepdims")),
    "argmin": (1, ("axis", "keepdims")),
    "asarray": (1, ("dtype", "device", "copy")),
    "astype": (2, ("copy", "device")),
    "broadcast_arrays": (3, ()),
    "broadcast_to": (2, ()),
    "can_cast": (2, ()),
    "clip": (3, ()),
    "concat": (1, ("axis",)),
    "count_nonzero": (1, ("axis", "keepdims")),
    "diff": (1, ("axis", "n", "prepend", "append")),
    "divide": (2, ()),
    "empty": (1, ("dtype", "device")),
    "empty_like": (1, ("dtype", "device")),
    "expand_dims": (1, ("axis",)),
    "eye": (2, ("k", "dtype", "device")),
    "finfo": (1, ()),
    "flip": (1, ("axis",)),
    "from_dlpack": (1, ("device", "copy")),
    "full": (2, ("dtype", "device")),
    "full_like": (2, ("dtype", "device")),
    "iinfo": (1, ()),
    "isdtype": (2, ()),
    "linspace": (3, ("dtype", "device", "endpoint")),
    "matmul": (2, ()),
    "matrix_transpose": (1, ()),
    "max": (1, ("axis", "keepdims")),
    "mean": (1, ("axis", "keepdims")),
    "meshgrid": (3, ("indexing",)),
    "min": (1, ("axis", "keepdims")),
    "moveaxis": (3, ()),
    "nonzero": (1, ("size", "fill_value")),
    "ones": (1, ("dtype", "device")),
    "ones_like": (1, ("dtype", "device")),
    "permute_dims": (2, ()),
    "prod": (1, ("axis", "dtype", "keepdims")),
    "repeat": (2, ("axis",)),
    "reshape": (2, ("copy",)),
    "result_type": (3, ()),
    "roll": (2, ("axis",)),
    "squeeze": (2, ()),
    "stack": (1, ("axis",)),
    "std": (1, ("axis", "correction", "keepdims")),
    "sum": (1, ("axis", "dtype", "keepdims")),
    "take": (2, ("axis",)),
    "take_along_axis": (2, ("axis",)),
    "tensordot": (2, ("axes",)),
    "tile": (2, ()),
    "tril": (1, ("k",)),
    "triu": (1, ("k",)),
    "unstack": (1, ("axis",)),
    "var": (1, ("axis", "correction", "keepdims")),
    "vecdot": (2, ("axis",)),
    "where": (3, ()),
    "zeros": (1, ("dtype", "device")),
    "zeros_like": (1, ("dtype", "device")),
    "sort": (1, ("axis", "descending", "stable")),
    "argsort": (1, ("axis", "descending", "stable")),
    "searchsorted": (2, ("side", "sorter")),
    **dict.fromkeys(("unique_all", "unique_counts", "unique_inverse", "unique_values"), (1, ("size",))),
    **dict.fromkeys(("cumulative_sum", "cumulative_prod"), (1, ("axis", "dtype", "include_initial"))),
    "isin": (2, ("invert",)),
    "logical_not": (1, ()),
    **dict.fromkeys(("logical_and", "logical_or", "logical_xor"), (2, ())),
    **dict.fromkeys(("real", "imag", "conj"), (1, ())),
}
# Functions that take arrays in a list.
LISTS = ("concat", "stack")
# What huge sizes lead to is recorded, and not computed.
HUGE = 2**20


def compute(result: Any) -> None:
    """Compute the result unless it is huge, or one of several results of the same op is."""
    arrays = [x for x in (result if isinstance(result, (tuple, list)) else (result,)) if isinstance(x, fe.Array)]
    if all(x.size < HUGE for x in arrays):
        for x in arrays:
            fe.eval(x)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", CALLS)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_wrong_arguments_raise_errors_that_begin_with_the_functions_name(name: str, data: st.DataObject) -> None:
    count, keywords = CALLS[name]
    first = SEVERAL if name in LISTS else ANY_ARRAY
    positional = [data.draw(first if number == 0 else JUNK) for number in range(count)]
    named = {word: data.draw(JUNK) for word in keywords if data.draw(st.integers(0, 2)) == 0}
    error = error_of(lambda: compute(getattr(fe, name)(*positional, **named)))
    assert not isinstance(error, fe.InternalError)
    assert error is None or str(error).startswith((f"{name}:", f"{name} ")), repr(error)


def error_of(call: Callable[[], object]) -> fe.Error | None:
    """Return the error that the call raises; errors of other libraries are raised."""
    try:
        call()
    except fe.Error as error:
        return error
    return None


def test_every_function_of_the_package_is_called() -> None:
    own = {
        name
        for name in fe.__all__
        if getattr(getattr(fe, name), "__module__", "") in {f"ferrule.functions.{file}" for file in FILES}
    }
    assert own <= CALLS.keys() | {"compress", "from_packed", "to_packed", "host_empty", "pad", "split"}


FILES = (
    "arithmetic",
    "limits",
    "logical",
    "complex_parts",
    "cumulative",
    "searching",
    "selection",
    "sets",
    "sorting",
    "arrangement",
    "asarray",
    "compaction",
    "conversion",
    "creation",
    "linear_algebra",
    "movement",
    "namespace_info",
    "reduction",
    "repetition",
    "type_information",
)
