"""Public functions look like functions, name themselves in errors, and return other objects than their arguments."""

from __future__ import annotations

import copy
import inspect
import pickle
import pydoc
import traceback
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any

import ferrule as fe
import numpy as np
import pytest
from ferrule import _ferrule

from tests.python.each import each

FE: Any = fe
FUNCTIONS = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (fe, fe.fft, fe.linalg, fe.random)
    for name in module.__all__
    if isinstance(getattr(module, name), FunctionType)
}
ON_ARRAYS = {
    name
    for name, function in FUNCTIONS.items()
    if function.__wrapped__.__module__.split(".")[1] in ("functions", "fft", "linalg")
}
# As in NumPy and the standard.
RETURN_THEIR_ARGUMENT = {
    f"ferrule.{name}" for name in ("array", "asarray", "atleast_1d", "atleast_2d", "atleast_3d", "from_dlpack")
}
# Arguments with which a function of one array may have nothing to do.
NOTHING_TO_DO: list[dict[str, Any]] = [
    {},
    {"axis": ()},
    {"axis": None},
    {"axis": 0},
    {"axes": ()},
    {"axes": (0,)},
    {"shape": (3,)},
    {"widths": 0, "mode": "edge"},
    {"n": 1},
    {"n": 0},
    {"copy": True, "dtype": "float32"},
]


def test_public_functions_are_found() -> None:
    assert len(FUNCTIONS) > 250
    assert {"ferrule.add", "ferrule.fft.fft", "ferrule.linalg.matmul", "ferrule.random.key"} < FUNCTIONS.keys()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_looks_like_a_function(name: str) -> None:
    function = FUNCTIONS[name]
    module, _, short = name.rpartition(".")
    module = "ferrule" if FUNCTIONS.get(f"ferrule.{short}") is function else module
    assert (function.__module__, function.__name__) == (module, short)
    assert inspect.isfunction(function)
    assert inspect.signature(function) == inspect.signature(function.__wrapped__)
    assert f"def {short}(" in inspect.getsource(function)
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.deepcopy(function) is function
    assert weakref.ref(function)() is function
    text = pydoc.plain(pydoc.render_doc(function))
    assert f"function {short} in module {module}" in text
    assert "Returns\n" in text or "-> 'None'" in text


def test_a_public_function_in_a_class_is_a_method() -> None:
    class Model:
        activate = fe.relu

    assert Model.activate(fe.asarray([-1.0, 2.0])).tolist() == [0, 2]
    bound = fe.ones((2, 3)).sum
    assert bound(axis=0).tolist() == [2, 2, 2]


def test_what_is_no_function_of_python_stays_as_it_is() -> None:
    for value in (3, None, len, fe.Array):
        assert _ferrule.public(value, "ferrule") is value


@each(
    ("call", "message"),
    [
        (lambda x: fe.clip(x, fe.ones(4)), "clip: maximum: "),
        (lambda x: fe.linalg.vector_norm(x, axis=5), "linalg.vector_norm: "),
        (lambda x: fe.random.uniform(x, -1), "random.uniform: "),
        (lambda x: fe.stack([x, fe.ones(4)]), "stack: "),
        (lambda x: fe.graph(lambda x: fe.stack([x, fe.ones(4)]))(x), "stack: "),
        (lambda x: np.stack([x, fe.ones(4)]), "stack: |all input arrays"),
    ],
)
def test_an_error_names_the_function_that_was_called(call: Callable[[fe.Array], object], message: str) -> None:
    with pytest.raises(ValueError, match=f"^({message})") as caught:
        call(fe.ones(3))
    assert str(caught.value).count(message) <= 1


def test_an_error_has_no_other_error_as_its_cause() -> None:
    with pytest.raises(fe.InvalidArgumentError) as caught:
        fe.clip(fe.ones(3), fe.ones(4))
    assert caught.value.__cause__ is None
    assert "The above exception" not in "".join(traceback.format_exception(caught.value))
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again)) == (type(caught.value), str(caught.value))


@pytest.mark.parametrize("name", sorted(ON_ARRAYS - RETURN_THEIR_ARGUMENT))
def test_a_function_returns_another_object_than_its_argument(name: str) -> None:
    for x in (fe.ones(3), fe.ones((1, 1)), fe.ones((1, 1, 1))):
        for words in NOTHING_TO_DO:
            for positional in ((x,), (x, x), (x, 1), (x, x.shape), ([x],)):
                try:
                    result = FUNCTIONS[name](*positional, **words)
                except (fe.Error, TypeError):
                    continue
                assert result is not x, (positional, words)
