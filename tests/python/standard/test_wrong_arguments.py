"""Arguments of wrong types, shapes, dtypes and sizes raise ferrule's errors, which begin with the function's name.

The examples are the same in each run. FERRULE_TEST_EXAMPLES=2000 tries that many others for each function.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import Any

import ferrule as fe
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

FE: Any = fe
SEARCH = os.environ.get("FERRULE_TEST_EXAMPLES")

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
    ["ij,jk->ik", "linear"],
    "ij->ji",
    "...i,...i",
    "reflect",
    "nearest",
    "ortho",
    [[fe.ones(2)], 3],
    lambda: 1,
    fe,
]
KEYS: list[Any] = [fe.random.key(1), fe.random.split(fe.random.key(2), 3), *ARRAYS[:3], 5, None]
JUNK = st.one_of(*map(st.sampled_from, (ARRAYS, NUMBERS, TUPLES, DTYPES, OTHERS)))
ANY_ARRAY = st.one_of(st.sampled_from(ARRAYS), JUNK)
SEVERAL = st.one_of(st.lists(st.sampled_from(ARRAYS), max_size=3), JUNK)

# Functions that take no arrays and make none: those of devices, files, the process and graphs.
OF_THE_PROCESS = {
    *(
        "backends",
        "best_device",
        "buffer_from_host_ptr",
        "default_device",
        "device",
        "devices",
        "eval",
        "executable_dir",
    ),
    *("explain", "graph", "host_empty", "load", "load_all", "memory_stats", "profile", "refresh", "register_container"),
    *("reload", "set_default_device", "set_default_dtype", "set_log_level", "set_thread_count", "shutdown", "stats"),
    *("synchronize", "thread_count", "trace", "trim", "unload", "__array_namespace_info__"),
}
MODULES: dict[str, Any] = {"": fe, "linalg.": fe.linalg, "fft.": fe.fft, "random.": fe.random}


def functions() -> dict[str, Callable[..., Any]]:
    """Return all public functions of arrays by their names, such as "linalg.solve"."""
    found = {}
    for prefix, module in MODULES.items():
        for name in module.__all__:
            member = getattr(module, name)
            if inspect.isroutine(member) and not (module is fe and name in OF_THE_PROCESS):
                found[prefix + name] = member
    return found


FUNCTIONS = functions()
OWN_NAMES = tuple(f"{own}{end}" for name in FUNCTIONS for own in (name, name.rpartition(".")[2]) for end in (":", " "))


def parameters(name: str) -> tuple[int, list[str]]:
    """Return how many arguments are given by position, and the names of those that may be given by name."""
    count, named = 0, []
    for parameter in inspect.signature(FUNCTIONS[name]).parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            count += 0 if parameter.name == "more" else 2  # `more` is what is refused with an explanation
        elif parameter.kind is parameter.POSITIONAL_ONLY or parameter.default is parameter.empty:
            count += parameter.kind is not parameter.KEYWORD_ONLY
        else:
            named.append(parameter.name)
    return count, named


# Functions that take arrays in a list.
LISTS = ("concat", "concatenate", "dstack", "hstack", "stack", "vstack")
# Results of huge sizes are recorded, and not computed.
HUGE = 2**20


def compute(result: Any = ()) -> None:
    """Compute the result unless it is huge, or one of several results of the same op is."""
    arrays = [x for x in (result if isinstance(result, (tuple, list)) else (result,)) if isinstance(x, fe.Array)]
    if all(x.size < HUGE for x in arrays):
        for x in arrays:
            fe.eval(x)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", FUNCTIONS)
@settings(
    max_examples=int(SEARCH or 40),
    derandomize=not SEARCH,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_wrong_arguments_raise_errors_that_begin_with_the_functions_name(name: str, data: st.DataObject) -> None:
    count, keywords = parameters(name)
    first = SEVERAL if name in LISTS else st.sampled_from(KEYS) if name.startswith("random.") else ANY_ARRAY
    positional = [data.draw(first if number == 0 else JUNK) for number in range(count)]
    named = {word: data.draw(JUNK) for word in keywords if data.draw(st.integers(0, 2)) == 0}
    results: list[Any] = []
    error = error_of(lambda: results.append(FUNCTIONS[name](*positional, **named)))
    assert not isinstance(error, fe.InternalError)
    plain = name.rpartition(".")[2]
    own = plain if getattr(fe, plain, None) is FUNCTIONS[name] else name
    assert error is None or str(error).startswith((f"{own}:", f"{own} ")), repr(error)
    error = error_of(lambda: compute(*results))  # errors of values name an op that the function uses
    assert not isinstance(error, fe.InternalError)
    assert error is None or str(error).startswith(OWN_NAMES), repr(error)


def error_of(call: Callable[[], object]) -> fe.Error | None:
    """Return the error that the call raises; errors of other libraries are raised."""
    try:
        call()
    except fe.Error as error:
        return error
    return None
