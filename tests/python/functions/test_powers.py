"""An integer to a negative integer power is an error, as in NumPy, wherever it is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

SIGNED = ["int8", "int16", "int32", "int64"]
LARGE = 100_003  # elements: enough for several threads, and not a multiple of a block

Compute = Callable[..., object]


@pytest.fixture(autouse=True, params=[1, 3], ids=["one thread", "three threads"])
def threads(request: pytest.FixtureRequest) -> Iterator[None]:
    fe.set_thread_count(request.param)
    yield
    fe.set_thread_count(0)


def powers_of(dtype: str, count: int, wrong: int | None) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Ones, whose every power is one, and exponents, of which only the one at `wrong` is negative."""
    bases, exponents = np.ones(count, dtype), np.arange(count).astype("u1").astype(dtype) % 7
    if wrong is not None:
        exponents[wrong] = -1
    return bases, exponents.astype(dtype)


def refuses(dtype: str, compute: Callable[[], object]) -> None:
    with pytest.raises(fe.InvalidArgumentError, match=rf"pow: {dtype} to a negative"):
        compute()


@each("dtype", SIGNED)
@each(("count", "wrong"), [(1, 0), (5, 4), (1025, 1024), (LARGE, 0), (LARGE, LARGE - 1)])
def test_negative_exponent_in_an_array_is_an_error(dtype: str, count: int, wrong: int) -> None:
    bases, exponents = powers_of(dtype, count, wrong)
    refuses(dtype, lambda: np.asarray(fe.asarray(bases) ** fe.asarray(exponents)))
    refuses(dtype, lambda: np.asarray(fe.asarray(bases[::-1]) ** fe.asarray(exponents[::-1])))
    bases, exponents = powers_of(dtype, count, None)
    np.testing.assert_array_equal(np.asarray(fe.asarray(bases) ** fe.asarray(exponents)), bases)


@each("dtype", SIGNED)
def test_negative_scalar_exponent_is_an_error(dtype: str) -> None:
    x = fe.asarray(np.array([1, 2, -3], dtype))
    refuses(dtype, lambda: np.asarray(x**-1))
    refuses(dtype, lambda: fe.graph(lambda x: x**-2)(x))
    refuses(dtype, lambda: np.asarray(2 ** fe.asarray(np.array([3, -1], dtype))))
    np.testing.assert_array_equal(np.asarray(x**2), np.array([1, 4, 9], dtype))


def test_smallest_exponent_is_an_error_for_every_base() -> None:
    for base in (-2, -1, 0, 1, 2):
        for exponent in (-1, -2, -(2**63)):
            x, y = fe.asarray(np.array(base)), fe.asarray(np.array(exponent))
            refuses("int64", lambda x=x, y=y: np.asarray(x**y))


FUSED: dict[str, Compute] = {
    "the first of a body": lambda x, n: (x**n + 1) * 2,
    "in the middle of a body": lambda x, n: ((x + 1) ** (n * 1) - 3) * x,
    "the last of a body": lambda x, n: (x * 2 + n) ** n,
    "one of several outputs": lambda x, n: (x**n, x + n),
    "an exponent that is computed": lambda x, n: (x + 1) ** (n - 0),
    "unused by what is chosen": lambda x, n: fe.where(n >= 0, x**n, x),
    "after an epilogue's product": lambda x, n: (
        fe.reshape(x.astype("float32"), (-1, 1)) @ fe.ones((1, 3)) + fe.reshape((x**n).astype("float32"), (-1, 1))
    ),
    "in an epilogue": lambda x, n: (
        fe.reshape(x.astype("float32"), (-1, 1))
        @ fe.ones((1, 3))
        * (fe.broadcast_to(fe.reshape(x, (-1, 1)), (x.shape[0], 3)) ** fe.reshape(n, (-1, 1))).astype("float32")
    ),
    "beside a sum": lambda x, n: fe.sum(x**n),
}


def force(result: Any) -> None:
    for one in result if isinstance(result, tuple) else (result,):
        np.asarray(one)


@each("traced", [False, True])
@each("count", [40, LARGE])
@each("name", FUSED)
def test_negative_exponent_in_a_graph_is_an_error(name: str, count: int, traced: bool) -> None:
    compute = fe.graph(FUSED[name]) if traced else FUSED[name]
    good, wrong = (tuple(map(fe.asarray, powers_of("int32", count, place))) for place in (None, count - 2))
    refuses("int32", lambda: force(compute(*wrong)))
    force(compute(*good))  # the executable is still usable


def test_constants_are_folded_to_the_same_error() -> None:
    two, less = fe.asarray(np.array([2, 3])), fe.asarray(np.array([1, -1]))
    refuses("int64", lambda: np.asarray(fe.graph(lambda x: x + two**less)(fe.asarray([1, 2]))))
    refuses("int64", lambda: np.asarray(fe.graph(lambda: two**less)()))


def test_other_arrays_are_unaffected() -> None:
    x = fe.asarray([2, 3])
    wrong, right = x ** fe.asarray([1, -1]), x + 1
    refuses("int64", lambda: np.asarray(wrong))
    refuses("int64", lambda: np.asarray(wrong))
    np.testing.assert_array_equal(np.asarray(right), [3, 4])


@each("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_unsigned_exponents_are_never_negative(dtype: str) -> None:
    greatest = np.array([np.iinfo(dtype).max], dtype)
    np.testing.assert_array_equal(np.asarray(fe.asarray(np.ones(1, dtype)) ** fe.asarray(greatest)), np.ones(1, dtype))


@each("dtype", ["float16", "float32", "float64"])
def test_floats_allow_negative_exponents(dtype: str) -> None:
    x = fe.asarray(np.array([2, 4], dtype))
    np.testing.assert_array_equal(np.asarray(x**-1), np.array([0.5, 0.25], dtype))
    np.testing.assert_array_equal(np.asarray(x ** fe.asarray(np.array([-1, -2]))), np.array([0.5, 0.0625]))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_small_powers_of_complex_integers_are_exact(dtype: str) -> None:
    """They are products: a logarithm would round."""
    numbers = [complex(a, b) for a in range(-2, 3) for b in range(-2, 3) if a or b]
    for exponent in range(9):
        wanted = [np.prod([number] * exponent) for number in numbers]
        x = fe.asarray(np.array(numbers, dtype))
        np.testing.assert_array_equal(np.asarray(x ** fe.asarray(np.array(exponent, dtype))), np.array(wanted, dtype))
    assert (fe.asarray(np.array([1j, 2], dtype)) ** fe.asarray(np.array(-2, dtype))).tolist() == [-1, 0.25]
