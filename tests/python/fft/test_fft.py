"""Discrete Fourier transforms against NumPy's: lengths, axes, norms, dtypes, padding and cutting."""

from __future__ import annotations

import math
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

NORMS = ["backward", "ortho", "forward"]
LENGTHS = [1, 2, 3, 4, 5, 7, 8, 13, 37, 60, 64, 74, 101, 256, 257, 300, 1009, 1024, 2310, 4099]

Values = np.ndarray[Any, Any]


def numbers(shape: tuple[int, ...], dtype: str) -> Values:
    rng = np.random.default_rng(sum(shape))
    values = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.standard_normal(shape)
    return np.asarray(values.astype(dtype))


def assert_near(got: fe.Array, wanted: Values, dtype: str) -> None:
    values = np.asarray(got)
    assert (values.shape, values.dtype) == (wanted.shape, dtype)
    size = np.sqrt(np.sum(np.abs(wanted) ** 2)) or 1
    assert np.sqrt(np.sum(np.abs(values - wanted) ** 2)) <= 10 * np.finfo(dtype).eps * size


@each("n", LENGTHS)
@each(("real", "kind"), [("float32", "complex64"), ("float64", "complex128")])
def test_lengths(n: int, real: str, kind: str) -> None:
    for shape, axis in (((n,), -1), ((3, n), 1), ((n, 5), 0), ((2, n, 9), 1)):
        x, r = numbers(shape, kind), numbers(shape, real)
        assert_near(fe.fft.fft(fe.asarray(x), axis=axis), np.fft.fft(x.astype("c16"), axis=axis), kind)
        assert_near(fe.fft.ifft(fe.asarray(x), axis=axis), np.fft.ifft(x.astype("c16"), axis=axis), kind)
        assert_near(fe.fft.fft(fe.asarray(r), axis=axis), np.fft.fft(r.astype("f8"), axis=axis), kind)
        half = np.fft.rfft(r.astype("f8"), axis=axis)
        assert_near(fe.fft.rfft(fe.asarray(r), axis=axis), half, kind)
        assert_near(fe.fft.irfft(fe.asarray(half.astype(kind)), n=n, axis=axis), r, real)


@pytest.mark.parametrize("n", [2018, 8190, 8200, 32_768, 40_000, 65_534, 131_072])
@pytest.mark.parametrize(("real", "kind"), [("float32", "complex64"), ("float64", "complex128")])
def test_long_lines_of_real_numbers(n: int, real: str, kind: str) -> None:
    for shape, axis in (((n,), 0), ((n, 2), 0), ((2, n), 1)):
        r = numbers(shape, real)
        half = np.fft.rfft(r.astype("f8"), axis=axis)
        first = None
        try:
            for threads in (1, 3):
                fe.set_thread_count(threads)
                results = [
                    fe.fft.rfft(fe.asarray(r), axis=axis),
                    fe.fft.irfft(fe.asarray(half.astype(kind)), n=n, axis=axis),
                ]
                assert_near(results[0], half, kind)
                assert_near(results[1], r, real)
                if first is not None:
                    assert all(np.array_equal(x, y) for x, y in zip(results, first, strict=True))
                first = results
        finally:
            fe.set_thread_count(0)


@each("n", [1, 2, 4, 9, 16, 600, 40_000])
@each("axis", [0, 1])
def test_imaginary_parts_that_real_results_do_not_have_are_not_read(n: int, axis: int) -> None:
    x = numbers((n // 2 + 1, 3) if axis == 0 else (3, n // 2 + 1), "complex128")
    edges = [0, n // 2] if n % 2 == 0 else [0]
    other = x.copy()
    np.moveaxis(other.imag, axis, 0)[edges] = [np.nan, np.inf, 7.0]
    got = fe.fft.irfft(fe.asarray(other), n=n, axis=axis)
    assert np.array_equal(got, fe.fft.irfft(fe.asarray(x), n=n, axis=axis))
    assert_near(got, np.fft.irfft(x, n=n, axis=axis), "float64")


@each("norm", NORMS)
@each("n", [None, 1, 4, 7, 10])
@each("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_norms_and_other_lengths(name: str, n: int | None, norm: Any) -> None:
    for dtype in ["float64"] if name in ("rfft", "ihfft") else ["float64", "complex128"]:
        x = numbers((3, 7, 2), dtype)
        got = getattr(fe.fft, name)(fe.asarray(x), n=n, axis=1, norm=norm)
        wanted = getattr(np.fft, name)(x, n=n, axis=1, norm=norm)
        assert_near(got, wanted, wanted.dtype.name)


@each("norm", NORMS)
@each("name", ["fftn", "ifftn", "rfftn", "irfftn"])
@each(
    ("s", "axes"),
    [
        (None, None),
        (None, (0,)),
        (None, (2, 0)),
        (None, (-1, -2)),
        ((4, 9), (0, 1)),
        ((3, 5, 8), (0, 1, 2)),
        ((6, 4), (-1, 0)),
    ],
)
def test_several_axes(name: str, s: Any, axes: Any, norm: Any) -> None:
    x = numbers((4, 6, 5), "float64" if name == "rfftn" else "complex128")
    got = getattr(fe.fft, name)(fe.asarray(x), s=s, axes=axes, norm=norm)
    wanted = getattr(np.fft, name)(x, s=s, axes=axes, norm=norm)
    assert_near(got, wanted, wanted.dtype.name)


def test_lengths_without_axes_are_those_of_the_last_axes() -> None:
    x = numbers((3, 4, 5), "complex128")
    assert_near(fe.fft.fftn(fe.asarray(x), s=(6, 7)), np.fft.fftn(x, s=(6, 7), axes=(1, 2)), "complex128")
    assert_near(fe.fft.fftn(fe.asarray(x), s=(-1, 7)), np.fft.fftn(x, s=(4, 7), axes=(1, 2)), "complex128")
    assert_near(fe.fft.fftn(fe.asarray(x), axes=()), x, "complex128")


@pytest.mark.parametrize(
    ("given", "kind"),
    [("float16", "complex64"), ("bfloat16", "complex64"), ("int64", "complex64"), ("bool", "complex64")],
)
def test_narrow_floats_and_integers_become_float32(given: str, kind: str) -> None:
    x = fe.astype(fe.asarray(np.float32([1, 0, 1, 1])), given)
    assert_near(fe.fft.fft(x), np.fft.fft([1, 0, 1, 1]), kind)
    assert_near(fe.fft.rfft(x), np.fft.rfft([1, 0, 1, 1]), kind)
    assert fe.fft.irfft(x).dtype == "float32"


def test_long_lines_and_many_threads() -> None:
    x = numbers((1 << 17,), "complex64")
    many = numbers((40, 1000), "complex128")

    def results() -> list[bytes]:
        found = fe.fft.fft(fe.asarray(x)), fe.fft.fftn(fe.asarray(many)), fe.fft.fft(fe.asarray(x[:65_537]))
        return [np.asarray(each).tobytes() for each in found]

    assert_near(fe.fft.fft(fe.asarray(x)), np.fft.fft(x.astype("c16")), "complex64")
    assert_near(fe.fft.fft(fe.asarray(x[:65_537])), np.fft.fft(x[:65_537].astype("c16")), "complex64")
    try:
        fe.set_thread_count(1)
        alone = results()
        fe.set_thread_count(3)
        assert results() == alone
    finally:
        fe.set_thread_count(0)


def test_a_line_gives_the_same_bits_in_any_stack() -> None:
    for n in (24, 300, 331):
        x = numbers((37, n), "complex64")
        whole = np.asarray(fe.fft.fft(fe.asarray(x)))
        for row in (0, 5, 36):
            assert np.array_equal(fe.fft.fft(fe.asarray(x[row : row + 1])), whole[row : row + 1])
        real = np.asarray(fe.fft.rfft(fe.asarray(x.real.copy())))
        back = np.asarray(fe.fft.irfft(fe.asarray(x)))
        for row in (0, 5, 36):
            assert np.array_equal(fe.fft.rfft(fe.asarray(x[row : row + 1].real.copy())), real[row : row + 1])
            assert np.array_equal(fe.fft.irfft(fe.asarray(x[row : row + 1])), back[row : row + 1])
        columns = np.asarray(fe.fft.fft(fe.asarray(x.T.copy()), axis=0))
        assert np.array_equal(fe.fft.fft(fe.asarray(x.T[:, 3:5].copy()), axis=0), columns[:, 3:5])


@each("n", [1, 2, 3, 8, 15, 300, 301, 331, 662, 3375, 40_000])
def test_imaginary_parts_that_do_not_count_may_be_nan(n: int) -> None:
    """irfft ignores the imaginary parts of the first element and, for an even length, of the last one."""
    for shape, axis in (((2, n // 2 + 1), 1), ((n // 2 + 1, 9), 0), ((n // 2 + 1, 3), 0)):
        x = numbers(shape, "complex128")
        wanted = np.fft.irfft(x, n, axis=axis)
        parts = np.moveaxis(x, axis, 0)
        parts.imag[0] = math.nan
        if n % 2 == 0:
            parts.imag[-1] = math.inf
        np.testing.assert_allclose(fe.fft.irfft(fe.asarray(x), n=n, axis=axis), wanted, atol=1e-12)


def test_long_columns_of_real_numbers() -> None:
    """All threads work on each of them, and its elements are not side by side."""
    x = numbers((40_000, 3), "float64")
    np.testing.assert_allclose(fe.fft.rfft(fe.asarray(x), axis=0), np.fft.rfft(x, axis=0), atol=1e-9)


def test_the_result_of_one_element_is_the_sum() -> None:
    """Twiddle factors of the frequency zero are exactly one."""
    x = np.arange(1024.0)
    assert fe.fft.fft(fe.asarray(x))[0].item() == x.sum()
    assert np.array_equal(fe.fft.fft(fe.asarray(np.eye(1, 300)[0])), np.ones(300))


@each("n", [1, 2, 3, 8, 9])
@each("dtype", [None, "float32", "float64", "float16"])
def test_frequencies(n: int, dtype: str | None) -> None:
    for distance in (1.0, 0.1, 3, -2.0):
        for name in ("fftfreq", "rfftfreq"):
            got = getattr(fe.fft, name)(n, d=distance, dtype=dtype)
            wanted = getattr(np.fft, name)(n, distance).astype(dtype or "float32")
            assert got.dtype == wanted.dtype
            np.testing.assert_allclose(got, wanted, rtol=2 * float(np.finfo(wanted.dtype).eps))


@each("axes", [None, 0, 1, (0, 1), (1,), -1])
def test_shifts(axes: Any) -> None:
    for shape in ((4, 5), (1, 3), (0, 4)):
        x = np.arange(np.prod(shape)).reshape(shape)
        assert np.array_equal(fe.fft.fftshift(fe.asarray(x), axes=axes), np.fft.fftshift(x, axes=axes))
        assert np.array_equal(fe.fft.ifftshift(fe.asarray(x), axes=axes), np.fft.ifftshift(x, axes=axes))


@each("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_wrong_arguments(name: str) -> None:
    transform, x = getattr(fe.fft, name), fe.ones((3, 4))
    for n in (0, -1, 1.5, "4"):
        with pytest.raises(fe.InvalidArgumentError, match=rf"^fft\.{name}: n must be"):
            transform(x, n=n)
    for axis in (2, -3):
        with pytest.raises(fe.OutOfRangeError, match=rf"^fft\.{name}: axis"):
            transform(x, axis=axis)
    for norm in ("back", None, 1):
        with pytest.raises(fe.InvalidArgumentError, match=rf"^fft\.{name}: norm must be"):
            transform(x, norm=norm)
    with pytest.raises(fe.InvalidArgumentError, match=rf"^fft\.{name}: "):
        transform(fe.ones((3, 0)))
    with pytest.raises(fe.OutOfRangeError, match=rf"^fft\.{name}: axis"):
        transform(fe.ones(()))
    with pytest.raises(fe.InvalidArgumentError, match=rf"^fft\.{name}: takes arrays, not list"):
        transform([1.0])


def test_wrong_axes() -> None:
    x = fe.ones((3, 4))
    for name in ("fftn", "ifftn", "rfftn", "irfftn"):
        transform = getattr(fe.fft, name)
        with pytest.raises(fe.InvalidArgumentError, match=rf"^fft\.{name}: an axis is named twice"):
            transform(x, axes=(0, -2))
        with pytest.raises(fe.InvalidArgumentError, match=rf"^fft\.{name}: s has 1 lengths for 2 axes"):
            transform(x, s=(3,), axes=(0, 1))
        with pytest.raises(fe.InvalidArgumentError, match=rf"^fft\.{name}: s has 3 lengths for 2 dimensions"):
            transform(x, s=(3, 3, 3))
        with pytest.raises(fe.InvalidArgumentError, match=rf"^fft\.{name}: a length of s"):
            transform(x, s=(0, 2))
        with pytest.raises(fe.InvalidArgumentError, match=rf"^fft\.{name}: a length of s must be at least 1, not -2"):
            transform(x, s=(-2, 2))
    with pytest.raises(fe.InvalidArgumentError, match=r"^fft\.rfftn: needs at least one axis"):
        fe.fft.rfftn(x, axes=())
    with pytest.raises(fe.DTypeError, match=r"^fft\.rfft: needs real numbers"):
        fe.fft.rfft(fe.ones(3, dtype="complex64"))
    for n in (0, -1, 2**41, 2.0):
        with pytest.raises(fe.InvalidArgumentError, match=r"^fft\.fftfreq: n must be"):
            fe.fft.fftfreq(n)  # type: ignore[arg-type]
    for d in (0, "1", None, True):
        with pytest.raises(fe.InvalidArgumentError, match=r"^fft\.rfftfreq: d must (be|not)"):
            fe.fft.rfftfreq(3, d=d)  # type: ignore[arg-type]
    with pytest.raises(fe.DTypeError, match=r"^fft\.fftfreq: the dtype"):
        fe.fft.fftfreq(3, dtype="int32")


def test_traced_functions_transform() -> None:
    @fe.graph
    def filtered(x: fe.Array) -> fe.Array:
        return fe.fft.irfft(fe.fft.rfft(x) * 2) + fe.real(fe.fft.ifft(fe.fft.fft(x)))

    x = numbers((5, 16), "float64")
    for factor in (1.0, 3.0):
        np.testing.assert_allclose(filtered(fe.asarray(factor * x)), 3 * factor * x, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("n", [2**40, 3 * 2**40, 2**58, 31**11])
def test_a_transform_that_no_memory_can_hold_is_refused_at_once(n: int) -> None:
    x = fe.broadcast_to(fe.zeros((1,), dtype="complex64"), (n,))
    with pytest.raises(fe.OutOfMemoryError):
        fe.eval(fe.fft.fft(x))
