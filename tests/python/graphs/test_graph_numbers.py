"""Python numbers as arguments of traced functions: code that needs their value gets an error that says how."""

from __future__ import annotations

import dataclasses
import enum
import fractions
from collections.abc import Callable
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

NEEDS: dict[str, Callable[[fe.Array, Any], Any]] = {
    "range": lambda x, pos: [x for _ in range(pos)],
    "slice": lambda x, pos: x[:, :pos],
    "axis": lambda x, pos: fe.softmax(x, axis=pos),
    "axis of a reduction": lambda x, pos: x.sum(axis=pos),
    "epsilon": lambda x, pos: fe.layer_norm(x, fe.ones(3), fe.ones(3), epsilon=pos),
    "float": lambda x, pos: x * float(pos),
    "int": lambda x, pos: x * int(pos),
    "bool": lambda x, pos: x if pos else x + 1,
    "item": lambda x, pos: x * pos.item(),
    "key": lambda x, pos: {1: x}[pos],
    "iteration": lambda x, pos: [x for _ in pos],
    "len": lambda x, pos: len(pos),
    "shape": lambda x, pos: x.reshape(pos, -1),
    "new array": lambda x, pos: fe.zeros(pos) + x,
    "numpy": lambda x, pos: x + np.asarray(pos),
    "str": lambda x, pos: {str(pos): x},
    "f-string": lambda x, pos: {f"layer{pos}": x},
    "f-string with a format": lambda x, pos: {f"layer{pos:03}": x},
    "format": lambda x, pos: {"layer{}".format(pos): x},  # noqa: UP032
    "round": lambda x, pos: x * round(pos),
}


@each("number", [1, 1.0])
@each("need", NEEDS)
def test_error_for_a_needed_value_names_argument_and_alternatives(need: str, number: float) -> None:
    f = fe.graph(NEEDS[need])
    with pytest.raises(fe.TracingError) as caught:
        f(fe.ones((2, 3)), number)
    message = str(caught.value)
    assert "'pos' is a Python number argument of the graph, so its value is not known while it is traced. " in message
    assert "To trace once for each value, declare" in message
    assert "or pass it in a frozen dataclass" in message
    assert "to use it as data, compute with it or use ferrule.where" in message
    assert "test_graph_numbers.py" in message


def test_errors_name_nested_and_computed_numbers() -> None:
    with pytest.raises(fe.TracingError, match=r"c\['at'\]\[1\]\" is a Python number argument"):
        fe.graph(lambda x, c: x[: c["at"][1]])(fe.ones(3), {"at": (1, 2)})
    with pytest.raises(fe.TracingError, match=r"'places\[1\]' is a Python number argument"):
        fe.graph(lambda x, *places: x[: places[1]])(fe.ones(3), 1, 2)
    with pytest.raises(fe.TracingError, match="the number is computed of Python number arguments of the graph"):
        fe.graph(lambda x, pos: x[: pos + 1])(fe.ones(3), 1)


@dataclasses.dataclass(frozen=True)
class Place:
    pos: int


def test_a_frozen_dataclass_traces_once_for_each_value() -> None:
    f = fe.graph(lambda x, place: x[: place.pos] * range(1, 9)[place.pos])
    for _ in range(2):
        assert f(fe.ones(4), Place(1)).tolist() == [2]
        assert f(fe.ones(4), Place(3)).tolist() == [4, 4, 4]
    assert f.cache_info()[:2] == (2, 2)


def test_repr_of_a_traced_number_shows_that_it_is_traced() -> None:
    seen: list[str] = []
    fe.graph(lambda x, pos: (seen.append(repr(pos)), x + pos)[1])(fe.ones(1), 2)
    assert seen[0].startswith("Array(traced")


@pytest.mark.parametrize("traced", [False, True])
def test_attributes_accept_numbers_of_any_class(traced: bool) -> None:
    x = np.arange(6, dtype="float32").reshape(2, 3)

    class Axis(enum.IntEnum):
        ROWS = 0

    def reduced(a: fe.Array) -> Any:
        return (
            fe.scaled_dot_product_attention(a, a, a, scale=np.float32(2)),
            fe.scaled_dot_product_attention(a, a, a, scale=fractions.Fraction(2), causal=np.False_),
            fe.layer_norm(a, epsilon=np.float64(1e-5)),
            a.sum(axis=np.int64(1), keepdims=np.True_),
            fe.max(a, axis=(np.int32(0), Axis.ROWS - 1)),
            fe.topk(a, np.uint8(2), axis=np.asarray(-1)).values,
            fe.softmax(a, axis=Axis.ROWS),
        )

    got = fe.graph(reduced)(fe.asarray(x)) if traced else reduced(fe.asarray(x))
    a = fe.asarray(x)
    wanted = (
        fe.scaled_dot_product_attention(a, a, a, scale=2.0),
        fe.scaled_dot_product_attention(a, a, a, scale=2.0),
        fe.layer_norm(a, epsilon=1e-5),
        a.sum(axis=1, keepdims=True),
        fe.max(a, axis=(0, -1)),
        fe.topk(a, 2).values,
        fe.softmax(a, axis=0),
    )
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other), strict=True)


def test_graph_with_such_attributes_can_be_saved() -> None:
    graph = fe.graph(lambda x: x.mean(axis=np.int64(0), keepdims=np.True_)).trace(fe.ones((2, 3)))
    again = fe.Graph.from_bytes(graph.to_bytes())
    assert np.asarray(again.compute(np.ones((2, 3), "float32"))).tolist() == [[1, 1, 1]]


def test_ints_of_any_size_combine_with_traced_numbers() -> None:
    f = fe.graph(lambda x, n: x * ((10**400 * n) // 10**400))
    assert f(fe.asarray(np.ones(3, "float32")), 3).tolist() == [3, 3, 3]
