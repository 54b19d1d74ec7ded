"""What the compiler's passes do to graphs does not show in their results."""

from __future__ import annotations

import ferrule as fe
import numpy as np
import pytest
from numpy.typing import NDArray


def read_only(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """As constants are borrowed without a copy."""
    values.flags.writeable = False
    return values


def numbers(*shape: int) -> NDArray[np.float32]:
    return np.random.default_rng(0).integers(-8, 9, shape).astype(np.float32)


def test_folded_constants_of_one_shape_are_not_mixed_up() -> None:
    w, x = read_only(numbers(5) + 9.5), numbers(5)
    graph = fe.Graph("cpu")
    symbol, constant = graph.input((5,)), graph.constant(w)
    graph.output(symbol - fe.negative(constant), symbol * fe.square(constant), fe.abs(constant) + symbol)
    got = graph.compute(x)
    for result, wanted in zip(got, (x + w, x * (w * w), w + x), strict=True):
        np.testing.assert_array_equal(np.asarray(result), wanted)


def test_ops_that_differ_in_one_attribute_are_not_taken_for_one() -> None:
    x = numbers(4, 4)
    graph = fe.Graph("cpu")
    symbol = graph.input((4, 4))
    given = [
        ("sum", {"axis": [0], "keepdims": False}, x.sum(0)),
        ("sum", {"axis": [1], "keepdims": False}, x.sum(1)),
        ("sum", {"axis": [0], "keepdims": True}, x.sum(0, keepdims=True)),
        ("pad", {"before": [1, 0], "after": [0, 1]}, np.pad(x, ((1, 0), (0, 1)))),
        ("pad", {"before": [1, 0], "after": [0, 2]}, np.pad(x, ((1, 0), (0, 2)))),
        ("var", {"axis": [0], "correction": 0.0}, x.var(0)),
        ("var", {"axis": [0], "correction": 2.0}, x.var(0, ddof=2)),
    ]
    graph.output(*(graph.apply(op, symbol, **attributes) for op, attributes, _ in given))
    for result, (op, attributes, wanted) in zip(graph.compute(x), given, strict=True):
        np.testing.assert_allclose(np.asarray(result), wanted, rtol=1e-6, err_msg=f"{op} {attributes}")


@pytest.mark.parametrize("rows", [1, 2, 40])
@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)], ids=str)
def test_a_packed_constant_begins_where_it_does_when_it_lies_backwards(axes: tuple[int, ...], rows: int) -> None:
    """Also where K is longer than one block of the product."""
    lying, x = read_only(numbers(400, 70)), numbers(rows, 400)
    weight = np.flip(lying, axes)
    graph = fe.Graph("cpu")
    symbol = graph.input((rows, 400))
    graph.output(symbol @ graph.constant(fe.asarray(weight)))
    np.testing.assert_array_equal(np.asarray(graph.compute(x)), x @ weight)


def test_temporaries_of_many_sizes_stay_within_the_workspace() -> None:
    """`guard` surrounds the workspace by bytes that nobody may touch."""
    x = numbers(33, 65)
    graph = fe.Graph("cpu")
    symbol = graph.input((33, 65))
    first = graph.apply("softmax", symbol, axis=1)
    joined = graph.apply("concat", first, symbol, first, axis=0)
    graph.output(graph.apply("softmax", joined, axis=1), graph.apply("sum", graph.apply("softmax", joined, axis=0)))
    graph.compile(guard=True, fuse=False)
    rows, total = graph.compute(x)
    np.testing.assert_allclose(np.asarray(rows).sum(1), 1, rtol=1e-5)
    np.testing.assert_allclose(np.asarray(total), 65, rtol=1e-5)
