"""Results of traced functions: new objects for each call, Python numbers, and no types that hide arrays."""

from __future__ import annotations

import collections
import gc
import weakref
from typing import Any

import ferrule as fe
import numpy as np
import pytest


def test_a_constant_among_the_results_is_another_object_in_each_call() -> None:
    k = fe.asarray([1.0, 2.0])
    f = fe.graph(lambda x: (k * 2, x + 1, np.ones(2)))
    first = f(fe.zeros(2))
    first[0][0] = 99
    first[2][0] = 99
    second = f(fe.zeros(2))
    assert np.asarray(second[0]).tolist() == [2, 4]
    assert second[2].tolist() == [1, 1]


def test_a_closed_over_array_that_is_returned_is_a_constant() -> None:
    borrowed = np.ones(2, "f4")
    k = fe.asarray(borrowed)
    f = fe.graph(lambda x: (k, x + 1))
    first = f(fe.zeros(2))[0]
    first[0] = 5
    assert np.asarray(k).tolist() == [1, 1]
    borrowed[:] = 7
    assert np.asarray(f(fe.zeros(2))[0]).tolist() == [1, 1]


@pytest.mark.parametrize("traced", [True, False])
def test_identity_of_equal_results_is_preserved(traced: bool) -> None:
    k = fe.zeros(2)

    def function(x: fe.Array) -> Any:
        y = x + 1 if traced else k
        return y, +y, y, x * 2

    one, other, again, _ = fe.graph(function)(fe.zeros(2))
    one[0] = 99
    assert float(other[0]) == (1 if traced else 0)
    assert not traced or again is one


def test_number_results_are_python_numbers() -> None:
    f = fe.graph(lambda x, s: (s * 2, x + s, {"third": s / 3, "larger": s > 1}))
    for s in (0.1, 5.7):
        number, array, numbers = f(fe.zeros(2, dtype="float16"), s)
        assert type(number) is float
        assert number == s * 2
        assert numbers == {"third": s / 3, "larger": s > 1}
        assert (array + number).dtype == np.float16
    assert fe.graph(lambda n: n * 3)(2**61) == 3 * 2**61
    assert fe.graph(lambda x, n: (x, n - 1))(fe.zeros(1), 3)[1] == 2


def test_containers_keep_their_type() -> None:
    pair = collections.namedtuple("pair", "left right")
    f = fe.graph(lambda x: pair(collections.OrderedDict(b=x, a=x + 1), [x, (x,)]))
    made = f(fe.zeros(1))
    assert type(made) is pair
    assert type(made.left) is collections.OrderedDict
    assert [*made.left] == ["b", "a"]
    assert type(made.right) is list
    assert type(made.right[1]) is tuple


class Holder:
    def __init__(self, value: Any) -> None:
        self.value = value


@pytest.mark.parametrize("wrap", [Holder, lambda y: (y,).__iter__(), lambda y: {1: [Holder(y)]}, lambda y: {id(y)}])
def test_result_that_may_contain_arrays_is_refused(wrap: Any) -> None:
    with pytest.raises(fe.TracingError, match=r"the result (is|holds) a .*in a tuple, list, dict or dataclass"):
        fe.graph(lambda x: wrap(x + 1))(fe.zeros(1))


def test_result_without_arrays_is_allowed() -> None:
    result = fe.graph(lambda x: (None, "word", 3, np.float32, np.int8(4), x))(fe.zeros(1))
    assert result[:5] == (None, "word", 3, np.float32, 4)


def test_closed_over_array_is_unchanged_by_assignment() -> None:
    y = fe.zeros(2)

    def function(x: fe.Array) -> fe.Array:
        y[0] = x[0]
        return y + 1

    f = fe.graph(function)
    with pytest.warns(UserWarning, match="an array from outside the function was assigned to"):
        assert np.asarray(f(fe.asarray([1.0, 1.0]))).tolist() == [2, 1]
    assert np.asarray(y).tolist() == [0, 0]
    assert np.asarray(f(fe.asarray([3.0, 3.0]))).tolist() == [4, 1]


def test_closed_over_array_is_unchanged_when_the_function_raises_or_returns_it() -> None:
    y = fe.zeros(2)

    def assigning(x: fe.Array, fails: bool) -> fe.Array:
        y[0] = x[0]
        if fails:
            raise KeyError("mine")
        return y

    with pytest.raises(KeyError), pytest.warns(UserWarning, match="assigned to"):
        fe.graph(assigning)(fe.ones(2), True)
    assert np.asarray(y).tolist() == [0, 0]
    assert np.asarray(fe.graph(assigning)(fe.ones(2), False)).tolist() == [1, 0]
    assert np.asarray(y).tolist() == [0, 0]


@pytest.mark.filterwarnings("error")
def test_an_array_of_the_function_itself_may_be_assigned_to() -> None:
    def function(x: fe.Array) -> tuple[fe.Array, fe.Array]:
        y, z = fe.zeros(2), fe.zeros(2)
        y[0] = x[0]
        z[1] = x[1]
        return y * 2, z

    made = fe.graph(function)(fe.ones(2))
    assert [np.asarray(one).tolist() for one in made] == [[2, 0], [0, 1]]


def test_nested_traced_function_does_not_change_arrays_of_its_caller() -> None:
    def inner(a: fe.Array) -> fe.Array:
        a[0] = 7
        return a * 2

    def outer(x: fe.Array) -> fe.Array:
        y = x + 1
        return fe.graph(inner)(y) + y

    with pytest.warns(UserWarning, match="argument a was assigned to"):
        assert np.asarray(fe.graph(outer)(fe.zeros(2))).tolist() == [15, 3]


def test_a_traced_function_within_another_may_close_over_its_arrays() -> None:
    def outer(x: fe.Array) -> fe.Array:
        return fe.graph(lambda k: x * k)(fe.asarray([2.0, 3.0]))

    assert np.asarray(fe.graph(outer)(fe.ones(2))).tolist() == [2, 3]


def test_each_constant_of_a_graph_is_an_object_of_its_own() -> None:
    k = fe.asarray([1.0, 2.0])
    g = fe.Graph("cpu")
    x = g.input((2,))
    z = g.constant(k)
    z[0] = 7
    g.output(g.constant(k) + x, x + k, z)
    assert [np.asarray(one).tolist() for one in g.compute(np.zeros(2, "f4"))] == [[1, 2], [1, 2], [7, 2]]


def test_membership_of_incomparable_values_is_false() -> None:
    assert "a" not in fe.ones(3)
    assert 1 in fe.ones(3)


def test_results_that_depend_on_no_argument_are_constants_and_traced_once() -> None:
    borrowed = np.ones(2, "f4")
    k = fe.asarray(borrowed)
    traced = []
    f = fe.graph(lambda x: (traced.append(1), k * 2)[1])
    g = fe.graph(lambda: k * 3)
    x = fe.zeros(2)
    assert (np.asarray(f(x)).tolist(), np.asarray(g()).tolist()) == ([2, 2], [3, 3])
    borrowed[:] = 5
    assert (np.asarray(f(x)).tolist(), np.asarray(g()).tolist()) == ([2, 2], [3, 3])
    assert len(traced) == 1
    assert f.cache_info() == (1, 1, 64, 1)
    assert g.cache_info() == (1, 1, 64, 1)
    half = fe.graph(lambda n: n * 0.5)
    assert (half(3), half(5)) == (1.5, 2.5)
    assert half.cache_info().misses == 1


def test_a_function_whose_result_refers_to_it_is_collected() -> None:
    def make() -> weakref.ref[object]:
        box: list[object] = []
        f = fe.graph(lambda x: (x + 1, box[0]))
        box.append(f)
        assert f(fe.zeros(2))[1] is f
        return weakref.ref(f)

    dead = make()
    gc.collect()
    assert dead() is None
