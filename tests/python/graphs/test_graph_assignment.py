"""Assignments to arguments inside traced functions have no effect outside, and cause a warning."""

from __future__ import annotations

import warnings
from typing import Any

import ferrule as fe
import numpy as np
import pytest


def write_first(x: Any) -> Any:
    x[0] = 7
    return x


def test_an_assignment_to_an_argument_warns_at_the_callers_line() -> None:
    @fe.graph
    def f(c: dict[str, fe.Array], v: fe.Array) -> fe.Array:
        c["k"][:, 3] = v
        return c["k"].sum() + 1

    cache = {"k": fe.zeros((2, 5))}
    for call in (f, f.trace):
        with pytest.warns(
            UserWarning, match=r"argument c\['k'\] was assigned to inside the graph; .*return the new"
        ) as caught:
            call(cache, fe.ones(2))
        assert [warning.filename for warning in caught] == [__file__]
    assert np.asarray(cache["k"]).sum() == 0


@pytest.mark.parametrize("make", [fe.zeros, np.zeros])
def test_the_callers_array_stays_as_it_was(make: Any) -> None:
    x = make(3)
    assert fe.graph(write_first)(x).tolist() == [7, 0, 0]
    assert x.tolist() == [0, 0, 0]


def test_an_array_that_is_returned_or_was_copied_does_not_warn() -> None:
    def copying(x: fe.Array) -> fe.Array:
        x = +x
        x[0] = 7
        return x * 2

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fe.graph(lambda c: {"new": [write_first(c["k"])]})({"k": fe.zeros(2)})["new"][0].tolist() == [7, 0]
        assert fe.graph(copying)(fe.zeros(2)).tolist() == [14, 0]
        fe.graph(lambda x: x + 1)(fe.zeros(2))


def test_assignment_in_a_nested_function_does_not_affect_its_caller() -> None:
    inner = fe.graph(lambda x: write_first(x) + 1)

    def outer(x: fe.Array) -> fe.Array:
        y = x * 1
        inner(y)
        return y

    with pytest.warns(UserWarning, match="argument x was assigned to"):
        assert fe.graph(outer)(fe.zeros(2)).tolist() == [0, 0]


def test_assignment_keeps_the_inputs_of_a_graph() -> None:
    graph = fe.Graph()
    x = graph.input((3,))
    x[0] = 7
    graph.output(x, graph.inputs[0])
    assert [result.tolist() for result in graph.compute(np.zeros(3, "f4"))] == [[7, 0, 0], [0, 0, 0]]


def test_known_values_assigned_to_an_array_from_outside_stay_inside_the_graph() -> None:
    w = fe.zeros(3)
    fe.eval(w)

    @fe.graph
    def f(t: fe.Array) -> fe.Array:
        buffer = fe.zeros(3)  # one of the function's own
        buffer[0] = 1
        w[0] = w[0] + 5
        w[1:] += 2
        return t + w + buffer

    with pytest.warns(UserWarning, match="an array from outside the function was assigned to inside the graph"):
        assert f(fe.ones(3)).tolist() == [7, 3, 3]
    assert f(fe.ones(3)).tolist() == [7, 3, 3]
    assert w.tolist() == [0, 0, 0]
