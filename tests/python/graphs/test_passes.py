"""The compiler's passes do not change the results of graphs."""

from __future__ import annotations

import ferrule as fe
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.python.each import each


def read_only(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """A read-only array, which constants borrow without a copy."""
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


def test_ops_that_differ_in_one_attribute_are_not_merged() -> None:
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


@pytest.mark.parametrize("traced", [False, True], ids=["lazy", "graph"])
def test_numbers_that_differ_in_their_last_digits_are_not_merged(traced: bool) -> None:
    """The attributes are distinguished in one graph and in the keys of compiled graphs."""
    x = np.random.default_rng(0).uniform(-1, 1, (3, 7))
    epsilons = [0.5, 0.5 + 2.0**-30, 0.5 + 2.0**-50]
    variance = x.var(1, keepdims=True)
    if traced:
        graph = fe.Graph("cpu")
        symbol = graph.input(x.shape, "float64")
        graph.output(*(fe.layer_norm(symbol, epsilon=epsilon) for epsilon in epsilons))
        got = graph.compute(x)
    else:
        got = tuple(fe.layer_norm(fe.asarray(x), epsilon=epsilon) for epsilon in epsilons)
    for result, epsilon in zip(got, epsilons[:2], strict=False):
        wanted = (x - x.mean(1, keepdims=True)) / np.sqrt(variance + epsilon)
        np.testing.assert_allclose(np.asarray(result), wanted, rtol=1e-13)
    assert (np.asarray(got[0]) != np.asarray(got[2])).any()


@each("lying", [(1, 1, 3), (2, 1, 3), (1, 4, 1), (2, 1, 1), (1, 4, 3), (2, 4, 1)])
@each("shape", [(24,), (8, 3), (2, 12), (3, 8), (12, 2), (2, 2, 6)])
def test_broadcast_array_is_reshaped_as_if_materialised(lying: tuple[int, ...], shape: tuple[int, ...]) -> None:
    x = numbers(*lying)
    graph = fe.Graph("cpu")
    symbol = graph.input(lying)
    graph.output(fe.reshape(fe.broadcast_to(symbol, (2, 4, 3)), shape) + 0.5)
    wanted = np.broadcast_to(x, (2, 4, 3)).reshape(shape)
    np.testing.assert_array_equal(np.asarray(graph.compute(x)), wanted + 0.5)
    np.testing.assert_array_equal(np.asarray(fe.reshape(fe.broadcast_to(fe.asarray(x), (2, 4, 3)), shape)), wanted)


def test_lists_that_differ_in_their_last_item_are_not_merged() -> None:
    """Each item of a list counts, for lists as long as an array's rank."""
    x = numbers(2, 2, 2, 2, 2, 2, 3, 4)
    graph = fe.Graph("cpu")
    symbol = graph.input(x.shape)
    for axis in range(8):
        part, other = ([slice(None)] * 8 for _ in range(2))
        part[axis], other[axis] = slice(0, x.shape[axis] - 1), slice(1, x.shape[axis])
        graph.output(fe.abs(symbol[tuple(part)]), fe.abs(symbol[tuple(other)]))
    got = graph.compute(x)
    for axis in range(8):
        first, last = np.arange(x.shape[axis] - 1), np.arange(1, x.shape[axis])
        np.testing.assert_array_equal(np.asarray(got[2 * axis]), np.abs(x.take(first, axis)))
        np.testing.assert_array_equal(np.asarray(got[2 * axis + 1]), np.abs(x.take(last, axis)))


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_packed_parts_of_one_constant_are_not_mixed_up(dtype: str) -> None:
    """Slices of equal shape and strides that differ only in offset: of columns, of rows, of a stack."""
    lying, x = numbers(3, 80, 80).astype(dtype), numbers(5, 40).astype(dtype)
    lying.flags.writeable = False
    graph = fe.Graph("cpu")
    symbol, weight = graph.input(x.shape, dtype), graph.constant(lying)
    parts = [
        (k, slice(row, row + 40), slice(column, column + 40)) for k in (0, 2) for row in (0, 40) for column in (0, 40)
    ]
    graph.output(*(symbol @ weight[part] for part in parts))
    for part, result in zip(parts, graph.compute(x), strict=True):
        wanted = (x.astype("float32") @ lying[part].astype("float32")).astype(dtype)
        np.testing.assert_array_equal(np.asarray(result), wanted)


@each("rows", [1, 2, 40])
@each("axes", [(0,), (1,), (0, 1)])
def test_packed_constant_with_negative_strides_starts_at_its_first_element(axes: tuple[int, ...], rows: int) -> None:
    """The same if K is longer than one block of the product."""
    lying, x = read_only(numbers(400, 70)), numbers(rows, 400)
    weight = np.flip(lying, axes)
    graph = fe.Graph("cpu")
    symbol = graph.input((rows, 400))
    graph.output(symbol @ graph.constant(fe.asarray(weight)))
    np.testing.assert_array_equal(np.asarray(graph.compute(x)), x @ weight)


def test_temporaries_of_many_sizes_stay_within_the_workspace() -> None:
    """`guard` surrounds the workspace with bytes that must not change."""
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


@pytest.mark.parametrize("count", [1, 2, 3, 9])
def test_each_input_may_have_strides_other_than_declared(count: int) -> None:
    """The graph was compiled for contiguous inputs, so these are copied, in the first run and in later ones."""
    graph = fe.Graph("cpu")
    symbols = [graph.input((5, 7)) for _ in range(count)]
    total = symbols[0]
    for number, symbol in enumerate(symbols[1:], 2):
        total = total + symbol * number
    graph.output(total)
    for _ in range(2):
        inputs = [numbers(7, 5).T + 16 * number for number in range(count)]
        wanted = sum(number * x for number, x in enumerate(inputs, 1))
        np.testing.assert_array_equal(np.asarray(graph.compute(*inputs)), wanted)


def test_sum_that_computes_its_terms_does_not_overwrite_what_they_are_computed_from() -> None:
    """The memory of `sorted_rows` is free for the sums, if the terms are in memory; the first sum reads its end."""
    x = numbers(600, 40)

    @fe.graph
    def function(x: fe.Array) -> fe.Array:
        sorted_rows = fe.sort(x, axis=1)
        terms = fe.flip(sorted_rows) * 2 + 1
        return fe.sort(fe.sum(fe.reshape(terms, (12000, 2)), axis=1))

    wanted = np.sort((np.flip(np.sort(x, axis=1)) * 2 + 1).reshape(12000, 2).sum(1))
    np.testing.assert_array_equal(np.asarray(function(fe.asarray(x))), wanted)
