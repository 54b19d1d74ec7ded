"""Products with weights in blocks read the blocks, in a graph and outside, however they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import ferrule as fe
import numpy as np
import pytest

SIZE = 2048
Product = Callable[[fe.Array, fe.Array], fe.Array]
FORMS: dict[str, Product] = {
    "linear": fe.linear,
    "@ w.T": lambda x, w: x @ w.T,
    "@ w.astype.T": lambda x, w: x @ w.astype("float32").T,
    "matmul, matrix_transpose": lambda x, w: fe.matmul(x, fe.matrix_transpose(w)),
}


@pytest.fixture(scope="module")
def weights() -> fe.Array:
    w = fe.asarray(np.random.default_rng(0).standard_normal((SIZE, SIZE)).astype(np.float32)).astype(fe.q4_0)
    fe.eval(w)
    return w


@pytest.fixture
def too_little_memory_to_decode(weights: fe.Array) -> Iterator[None]:
    device = weights.device
    device.trim()
    device.set_memory_limit(fe.memory_stats(device).live + 2 * SIZE * SIZE)
    yield
    device.set_memory_limit(None)


@pytest.mark.usefixtures("too_little_memory_to_decode")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rows", [1, 40])
def test_weights_are_not_decoded_to_memory(weights: fe.Array, form: str, rows: int) -> None:
    x = fe.asarray(np.random.default_rng(1).standard_normal((rows, SIZE)).astype(np.float32))
    product = FORMS[form]
    eager, constant = product(x, weights), fe.graph(lambda x: product(x, weights))(x)
    argument = fe.graph(product)(x, weights)
    want = np.asarray(fe.linear(x, weights))
    for result in (eager, constant, argument):
        np.testing.assert_array_equal(np.asarray(result), want)


@pytest.mark.usefixtures("too_little_memory_to_decode")
@pytest.mark.parametrize("rows", [1, 40])
def test_rows_are_rounded_without_decoding_weights(weights: fe.Array, rows: int) -> None:
    x = fe.asarray(np.random.default_rng(2).standard_normal((rows, SIZE)).astype(np.float32))
    want = np.asarray(fe.linear(x.astype("q8_0").astype("float32"), weights))
    for product in (fe.linear, fe.graph(fe.linear)):
        result = np.asarray(product(x, weights, activation="q8"))
        np.testing.assert_allclose(result, want, rtol=1e-5, atol=1e-3)
        assert np.abs(result - np.asarray(fe.linear(x, weights))).max() > 0.01  # rounding is visible


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_rows_of_any_dtype_are_rounded_for_weights_of_it(dtype: str) -> None:
    rng = np.random.default_rng(3)
    x, w = (fe.asarray(rng.standard_normal((3, 64)).astype(np.float32)).astype(dtype) for _ in range(2))
    x[0, :2] = 65504.0  # 65504 / 127 as a float16, times 127, is beyond float16
    wide = "float64" if dtype == "float64" else "float32"
    want = fe.linear(x.astype("float32").astype("q8_0").astype("float32").astype(wide), w.astype(wide)).astype(dtype)
    result = fe.linear(x, w, activation="q8")
    assert result.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(result), np.asarray(want))


def test_a_transposed_array_of_blocks_is_float32(weights: fe.Array) -> None:
    turned = weights[:3].T
    assert (turned.shape, turned.dtype) == ((SIZE, 3), np.float32)
    np.testing.assert_array_equal(np.asarray(turned), np.asarray(weights[:3].astype("float32")).T)
    assert fe.permute_dims(weights, (0, 1)).dtype == fe.q4_0


def test_rows_and_weights_that_do_not_fit_are_refused(weights: fe.Array) -> None:
    with pytest.raises(fe.InvalidArgumentError, match=r"linear: the rows of x have 3 elements, and those of w 2048"):
        fe.linear(fe.ones(3), weights)
    with pytest.raises(fe.InvalidArgumentError, match=r"linear: rows in blocks of 32 elements: \(2, 33\)"):
        fe.linear(fe.ones((2, 33)), fe.ones((4, 33)), activation="q8")
    with pytest.raises(fe.DTypeError, match=r"linear: .*int"):
        fe.linear(fe.ones((2, SIZE), dtype="int32"), weights)
