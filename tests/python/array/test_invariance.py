"""A row gives the same bits in any batch and with any number of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import ferrule as fe
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.python.each import each

WIDTH = 96
RANDOM = np.random.default_rng(7)
SQUARE = fe.asarray(RANDOM.standard_normal((WIDTH, WIDTH), "float32"))
WIDE = fe.asarray(RANDOM.standard_normal((4 * WIDTH, WIDTH), "float32"))  # weights in file layout: (out, in)
VECTOR = fe.asarray(RANDOM.standard_normal(WIDTH, "float32"))
SINGLE = fe.asarray(RANDOM.standard_normal((67, 5, WIDTH), "float32"))  # exceeds any tile, with a remainder in each
DTYPES = ["float32", "float16", "bfloat16"]


def like(x: fe.Array, weight: fe.Array) -> fe.Array:
    return weight.astype(x.dtype)


@pytest.fixture(params=DTYPES)
def rows(request: pytest.FixtureRequest) -> NDArray[Any]:
    return np.asarray(SINGLE.astype(request.param))


def attention(x: fe.Array) -> fe.Array:
    heads = fe.permute_dims(fe.reshape(x, (*x.shape[:2], 3, WIDTH // 3)), (0, 2, 1, 3))
    seen = fe.scaled_dot_product_attention(heads, heads, heads)
    return fe.reshape(fe.permute_dims(seen, (0, 2, 1, 3)), x.shape)


def layer(x: fe.Array) -> fe.Array:
    square, wide, vector = (like(x, weight) for weight in (SQUARE, WIDE, VECTOR))
    x = fe.layer_norm(x + fe.matmul(attention(x), square) + vector, vector, vector)
    return fe.matmul(fe.gelu(fe.matmul(x, wide.T)), wide) + x


FUNCTIONS: dict[str, Callable[[fe.Array], fe.Array]] = {
    "matmul": lambda x: fe.matmul(x, like(x, SQUARE)),
    "matmul by transposed": lambda x: fe.matmul(x, like(x, WIDE).T),
    "softmax": fe.softmax,
    "layer_norm": lambda x: fe.layer_norm(x, like(x, VECTOR), like(x, VECTOR)),
    "sum": lambda x: fe.sum(x, axis=-1),
    "mean of columns": lambda x: fe.mean(x, axis=1),
    "exp": fe.exp,
    "gelu": fe.gelu,
    "attention": attention,
    "layer": layer,
}


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    yield
    fe.set_thread_count(0)


def bits(result: Any) -> NDArray[Any]:
    host = np.asarray(result)
    return host.view(f"uint{8 * host.itemsize}")


@each("compiled", [False, True])
@each("name", FUNCTIONS)
def test_a_row_does_not_depend_on_its_batch(name: str, compiled: bool, rows: NDArray[Any]) -> None:
    function = fe.graph(FUNCTIONS[name]) if compiled else FUNCTIONS[name]
    whole = bits(function(fe.asarray(rows)))
    for first, last in ((0, 1), (1, 3), (13, 20), (40, 67)):
        np.testing.assert_array_equal(bits(function(fe.asarray(rows[first:last]))), whole[first:last])


@each("name", FUNCTIONS)
def test_a_result_does_not_depend_on_the_number_of_threads(name: str, rows: NDArray[Any]) -> None:
    function = fe.graph(FUNCTIONS[name])
    fe.set_thread_count(1)
    alone = bits(function(fe.asarray(rows)))
    for count in (2, np.int64(3), 5):
        fe.set_thread_count(count)
        np.testing.assert_array_equal(bits(function(fe.asarray(rows))), alone)


def test_compiled_graph_matches_single_ops_bit_for_bit(rows: NDArray[Any]) -> None:
    x = fe.asarray(rows)
    for name, function in FUNCTIONS.items():
        traced = fe.graph(function).trace(x)
        fused, single = (np.asarray(traced.compile(fuse=fuse).compute(x)) for fuse in (True, False))
        np.testing.assert_array_equal(bits(fused), bits(single), err_msg=name)


def test_repeated_runs_are_identical(rows: NDArray[Any]) -> None:
    function = fe.graph(layer)
    first = bits(function(fe.asarray(rows)))
    for _ in range(5):
        np.testing.assert_array_equal(bits(function(fe.asarray(rows))), first)
