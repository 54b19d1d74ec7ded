"""Functions of the standard give the results of NumPy and of array-api-strict."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import array_api_strict
import ferrule as fe
import numpy as np
from hypothesis import example, given, settings, strategies as st
from hypothesis.extra import numpy as st_numpy

from tests.python.each import each

array_api_strict.set_array_api_strict_flags(api_version=fe.__array_api_version__)
LIBRARIES: list[ModuleType] = [np, array_api_strict]
DTYPES = ("bool", "int8", "int64", "uint8", "uint32", "float32", "float64", "complex64")
NUMERIC = DTYPES[1:]
REAL = DTYPES[1:-1]
Call = Callable[[Any, Any], Any]  # of a library and an array of shape (3, 4)


def sample(dtype: str, shape: tuple[int, ...] = (3, 4), seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 2 if dtype == "bool" else 9, shape)
    return (values + 1j * rng.integers(0, 9, shape)).astype(dtype) if dtype == "complex64" else values.astype(dtype)


CALLS: dict[str, tuple[tuple[str, ...], Call]] = {
    # ---- creation
    "arange": (("int64",), lambda xp, x: xp.arange(7)),
    "arange down": (("int64",), lambda xp, x: xp.arange(7, 0, -3)),
    "arange of floats": (("float64",), lambda xp, x: xp.arange(1, 2, 0.3, dtype=xp.float64)),
    "arange of none": (("int64",), lambda xp, x: xp.arange(3, 1)),
    "full": (("float32",), lambda xp, x: xp.full((2, 3), 1.5, dtype=xp.float32)),
    "full of an int": (("int64",), lambda xp, x: xp.full(3, 2)),
    "full_like": (NUMERIC, lambda xp, x: xp.full_like(x, 3)),
    "zeros_like": (DTYPES, lambda xp, x: xp.zeros_like(x)),
    "ones_like": (DTYPES, lambda xp, x: xp.ones_like(x)),
    "eye": (("float64",), lambda xp, x: xp.eye(3, 4, k=-1, dtype=xp.float64)),
    "eye far": (("int8",), lambda xp, x: xp.eye(3, 2, k=9, dtype=xp.int8)),
    "linspace": (("float64",), lambda xp, x: xp.linspace(1, 2, 4, endpoint=False, dtype=xp.float64)),
    "linspace of complex": (("complex128",), lambda xp, x: xp.linspace(0j, 1 + 2j, 5, dtype=xp.complex128)),
    "linspace of one": (("float64",), lambda xp, x: xp.linspace(3, 4, 1, dtype=xp.float64)),
    "meshgrid": (REAL, lambda xp, x: xp.meshgrid(x[0, :], x[:, 1])),
    "meshgrid ij": (REAL, lambda xp, x: xp.meshgrid(x[0, :], x[:, 1], x[:2, 0], indexing="ij")),
    "meshgrid of three": (REAL, lambda xp, x: xp.meshgrid(x[0, :], x[:, 1], x[:2, 0])),
    "tril": (DTYPES, lambda xp, x: xp.tril(x, k=1)),
    "triu": (DTYPES, lambda xp, x: xp.triu(x, k=-1)),
    "triu far": (DTYPES, lambda xp, x: xp.triu(x, k=9)),
    "asarray copy": (DTYPES, lambda xp, x: xp.asarray(x, copy=True)),
    # ---- dtypes
    "astype": (REAL, lambda xp, x: xp.astype(x, xp.int16)),
    "astype bool": (DTYPES[:-1], lambda xp, x: xp.astype(x, xp.bool)),
    "broadcast_arrays": (DTYPES, lambda xp, x: xp.broadcast_arrays(x, x[:, :1], x[0, :])),
    "broadcast_to": (DTYPES, lambda xp, x: xp.broadcast_to(x, (2, 3, 4))),
    # ---- manipulation
    "concat": (DTYPES, lambda xp, x: xp.concat([x, x[:1, :]], axis=0)),
    "concat flat": (DTYPES, lambda xp, x: xp.concat([x, x[:1, :]], axis=None)),
    "expand_dims": (DTYPES, lambda xp, x: xp.expand_dims(x, axis=-1)),
    "expand_dims first": (DTYPES, lambda xp, x: xp.expand_dims(x, axis=0)),
    "flip": (DTYPES, lambda xp, x: xp.flip(x, axis=(0, 1))),
    "flip one": (DTYPES, lambda xp, x: xp.flip(x, axis=-1)),
    "moveaxis": (DTYPES, lambda xp, x: xp.moveaxis(xp.reshape(x, (3, 2, 2)), (0, 1), (-1, 0))),
    "permute_dims": (DTYPES, lambda xp, x: xp.permute_dims(x, (1, 0))),
    "repeat": (DTYPES, lambda xp, x: xp.repeat(x, 3, axis=1)),
    "repeat flat": (DTYPES, lambda xp, x: xp.repeat(x, 2)),
    "repeat none": (DTYPES, lambda xp, x: xp.repeat(x, 0, axis=0)),
    "repeat by counts": (DTYPES, lambda xp, x: xp.repeat(x, xp.asarray([2, 0, 3]), axis=0)),
    "repeat by one count": (DTYPES, lambda xp, x: xp.repeat(x, xp.asarray([2]), axis=0)),
    "reshape": (DTYPES, lambda xp, x: xp.reshape(x, (2, -1), copy=True)),
    "roll": (DTYPES, lambda xp, x: xp.roll(x, 5)),
    "roll axis": (DTYPES, lambda xp, x: xp.roll(x, -1, axis=1)),
    "roll axes": (DTYPES, lambda xp, x: xp.roll(x, (1, -6), axis=(0, 1))),
    "roll one way": (DTYPES, lambda xp, x: xp.roll(x, 2, axis=(0, 1))),
    "squeeze": (DTYPES, lambda xp, x: xp.squeeze(x[:1, :], axis=0)),
    "squeeze two": (DTYPES, lambda xp, x: xp.squeeze(x[:1, :1], axis=(0, 1))),
    "stack": (DTYPES, lambda xp, x: xp.stack([x, x], axis=1)),
    "tile": (DTYPES, lambda xp, x: xp.tile(x, (2, 3))),
    "tile shorter": (DTYPES, lambda xp, x: xp.tile(x, (3,))),
    "tile longer": (DTYPES, lambda xp, x: xp.tile(x, (2, 1, 2))),
    "tile none": (DTYPES, lambda xp, x: xp.tile(x, (2, 0))),
    "unstack": (DTYPES, lambda xp, x: xp.unstack(x, axis=1)),
    "matrix_transpose": (DTYPES, lambda xp, x: xp.matrix_transpose(xp.reshape(x, (3, 2, 2)))),
    # ---- products
    "matmul": (REAL, lambda xp, x: xp.matmul(x, xp.permute_dims(x, (1, 0)))),
    "matmul of stacks": (REAL, lambda xp, x: xp.matmul(xp.reshape(x, (3, 1, 2, 2)), xp.reshape(x[:2, :], (2, 2, 2)))),
    "matmul of a vector": (REAL, lambda xp, x: xp.matmul(x, x[0, :])),
    "tensordot": (REAL, lambda xp, x: xp.tensordot(x, x, axes=2)),
    "tensordot outer": (REAL, lambda xp, x: xp.tensordot(x, x[0, :], axes=0)),
    "tensordot of pairs": (REAL, lambda xp, x: xp.tensordot(x, x, axes=((1, 0), (1, 0)))),
    "vecdot": (REAL, lambda xp, x: xp.vecdot(x, x[0, :])),
    "vecdot axis": (REAL, lambda xp, x: xp.vecdot(x, x, axis=-2)),
    # ---- elementwise
    "clip": (REAL, lambda xp, x: xp.clip(x, 2, 5)),
    "clip min": (REAL, lambda xp, x: xp.clip(x, 2, None)),
    "clip max": (REAL, lambda xp, x: xp.clip(x, None, 5)),
    "clip neither": (REAL, lambda xp, x: xp.clip(x)),
    "clip by arrays": (REAL, lambda xp, x: xp.clip(x, x[:1, :], x[:, :1] + x[:1, :])),
    "maximum of a scalar": (REAL, lambda xp, x: xp.maximum(3, x)),
    "add a scalar": (REAL, lambda xp, x: xp.add(x, 1)),
    "subtract from a scalar": (REAL, lambda xp, x: xp.subtract(9, x)),
    "less than a scalar": (REAL, lambda xp, x: xp.less(3, x)),
    "hypot of a scalar": (("float32", "float64"), lambda xp, x: xp.hypot(3.0, x)),
    "logical_and of a scalar": (("bool",), lambda xp, x: xp.logical_and(True, x)),
    "where of scalars": (("bool",), lambda xp, x: xp.where(x, xp.asarray(1, dtype=xp.int8), 2)),
    "where": (REAL, lambda xp, x: xp.where(x > 3, x, 0)),
    "positive": (REAL, lambda xp, x: xp.positive(x)),
    "round": (REAL, lambda xp, x: xp.round(x)),
    "ceil": (REAL, lambda xp, x: xp.ceil(x)),
    "diff": (REAL, lambda xp, x: xp.diff(x)),
    "diff twice": (REAL, lambda xp, x: xp.diff(x, n=2, axis=0)),
    "diff of more": (REAL, lambda xp, x: xp.diff(x, axis=0, prepend=x[:1, :], append=x[:2, :])),
    "diff of none": (REAL, lambda xp, x: xp.diff(x, n=9)),
    # ---- reductions
    "all": (DTYPES, lambda xp, x: xp.all(x, axis=0)),
    "any": (DTYPES, lambda xp, x: xp.any(x, axis=(0, 1), keepdims=True)),
    "argmax": (REAL, lambda xp, x: xp.argmax(x, axis=1, keepdims=True)),
    "argmin": (REAL, lambda xp, x: xp.argmin(x)),
    "count_nonzero": (DTYPES, lambda xp, x: xp.count_nonzero(x)),
    "count_nonzero axis": (DTYPES, lambda xp, x: xp.count_nonzero(x, axis=1, keepdims=True)),
    "max": (REAL, lambda xp, x: xp.max(x, axis=-1)),
    "sum": (REAL, lambda xp, x: xp.sum(x, axis=0)),
    "sum in a dtype": (REAL, lambda xp, x: xp.sum(x, axis=(0, 1), dtype=xp.float64, keepdims=True)),
    "sum in a narrow dtype": (REAL, lambda xp, x: xp.sum(x * 9, dtype=xp.int16)),
    "prod": (REAL, lambda xp, x: xp.prod(x, axis=1, dtype=xp.int64)),
    "mean": (("float32", "float64"), lambda xp, x: xp.mean(x, axis=0)),
    "var": (("float32", "float64"), lambda xp, x: xp.var(x, axis=0, correction=1)),
    "std": (("float32", "float64"), lambda xp, x: xp.std(x, correction=0.5)),
    # ---- searching
    "nonzero": (DTYPES, lambda xp, x: xp.nonzero(x)),
    "take": (DTYPES, lambda xp, x: xp.take(x, xp.asarray([2, 0]), axis=0)),
    # ---- indexing
    "mask": (REAL, lambda xp, x: x[x > 3]),
    "mask of rows": (DTYPES, lambda xp, x: x[xp.asarray([True, False, True])]),
    "integers and arrays": (DTYPES, lambda xp, x: x[xp.asarray([2, 0]), 1]),
    "two arrays": (DTYPES, lambda xp, x: x[xp.asarray([[2], [0]]), xp.asarray([1, 3, -1])]),
}  # fmt: skip


def equal(got: Any, wanted: Any, *, any_dtype: bool = False) -> None:
    if isinstance(wanted, (tuple, list)):
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            equal(one, other, any_dtype=any_dtype)
        return
    truth = np.asarray(wanted)
    assert isinstance(got, fe.Array)
    assert got.shape == truth.shape
    assert any_dtype or got.dtype == truth.dtype
    if truth.dtype.kind in "fc":
        np.testing.assert_allclose(np.asarray(got), truth, rtol=1e-6 if truth.dtype.itemsize % 8 else 1e-14)
    else:
        np.testing.assert_array_equal(np.asarray(got), truth)


@each("library", LIBRARIES)
@each(("name", "dtype"), [(name, dtype) for name, (dtypes, _) in CALLS.items() for dtype in dtypes])
def test_a_call_gives_the_result_of_another_library(library: Any, name: str, dtype: str) -> None:
    _, call = CALLS[name]
    x = sample(dtype) if dtype != "complex128" else sample("complex64").astype(dtype)
    equal(call(fe, fe.asarray(x)), call(library, library.asarray(x)))


@each("traced", [name for name in CALLS if not name.startswith(("mask", "nonzero", "repeat by"))])
def test_a_call_in_a_traced_function_gives_the_same_result(traced: str) -> None:
    dtypes, call = CALLS[traced]
    x = fe.asarray(sample(dtypes[-1]))
    wanted = call(fe, x)
    got = fe.graph(lambda x: call(fe, x))(x)
    equal(got, [np.asarray(one) for one in wanted] if isinstance(wanted, (list, tuple)) else np.asarray(wanted))


ARRAYS = st_numpy.arrays(
    st.sampled_from(["int32", "float32", "bool"]), st_numpy.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
)


@settings(max_examples=150, deadline=None)
@given(ARRAYS.filter(lambda x: x.ndim > 0), st.data())
def test_any_roll_is_numpys(x: Any, data: st.DataObject) -> None:
    axes = data.draw(st.lists(st.integers(-x.ndim, x.ndim - 1), max_size=3))
    shifts = data.draw(st.lists(st.integers(-9, 9), min_size=len(axes), max_size=len(axes)))
    equal(fe.roll(fe.asarray(x), tuple(shifts), axis=tuple(axes)), np.roll(x, tuple(shifts), tuple(axes)))
    equal(fe.roll(fe.asarray(x), 7), np.roll(x, 7))


@settings(max_examples=150, deadline=None)
@given(ARRAYS, st.lists(st.integers(0, 3), max_size=5))
def test_any_tile_is_numpys(x: Any, counts: list[int]) -> None:
    equal(fe.tile(fe.asarray(x), tuple(counts)), np.tile(x, tuple(counts)))


@settings(max_examples=150, deadline=None)
@given(ARRAYS, st.data())
def test_any_repeat_is_numpys(x: Any, data: st.DataObject) -> None:
    axis = data.draw(st.one_of(st.none(), st.integers(-x.ndim, x.ndim - 1))) if x.ndim else None
    length = x.size if axis is None else x.shape[axis]
    counts = data.draw(st.lists(st.integers(0, 3), min_size=length, max_size=length))
    equal(fe.repeat(fe.asarray(x), 3, axis=axis), np.repeat(x, 3, axis))
    equal(
        fe.repeat(fe.asarray(x), fe.asarray(counts, dtype="int32"), axis=axis),
        np.repeat(x, np.array(counts, int), axis),
    )


@settings(max_examples=100, deadline=None)
@given(ARRAYS.filter(lambda x: x.ndim >= 2), st.integers(-6, 6))
@example(np.ones((4, 1), "int32"), -2)
@example(np.ones((1, 4), "int32"), 2)
def test_any_triangle_is_numpys(x: Any, k: int) -> None:
    equal(fe.tril(fe.asarray(x), k=k), np.tril(x, k))
    equal(fe.triu(fe.asarray(x), k=k), np.triu(x, k))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.randoms(use_true_random=False))
def test_any_tensordot_is_numpys(own: int, shared: int, other: int, random: Any) -> None:
    sizes = [random.randrange(4) for _ in range(own + shared + other)]
    ours, theirs = list(range(own + shared)), list(range(shared + other))
    random.shuffle(ours)
    random.shuffle(theirs)
    axes = [ours.index(own + k) for k in range(shared)], [theirs.index(k) for k in range(shared)]
    left = np.arange(np.prod([sizes[k] for k in ours]), dtype="int64").reshape([sizes[k] for k in ours])
    right = np.arange(np.prod([sizes[own + k] for k in theirs])).reshape([sizes[own + k] for k in theirs])
    equal(fe.tensordot(fe.asarray(left), fe.asarray(right), axes=axes), np.tensordot(left, right, axes))


def test_arange_is_numpys_for_all_numbers() -> None:
    for start, stop, step in itertools.product((-7, 0, 3), (-9, 0, 4, 100), (-3, 1, 5)):
        equal(fe.arange(start, stop, step), np.arange(start, stop, step))
        for dtype in ("int8", "float64"):
            equal(fe.arange(start, stop, step, dtype=dtype), np.arange(start, stop, step, dtype=dtype))
    for first, end, distance in itertools.product((-0.7, 0.1), (-9.5, 4.25), (-0.3, 0.1, 7.0)):
        equal(fe.arange(first, end, distance, dtype="float64"), np.arange(first, end, distance))


@each("dtype", ["int8", "uint16", "int64", "uint64", "float32", "float64"])
def test_a_long_arange_is_pending_and_equals_numpys(dtype: str) -> None:
    count = 100 if dtype == "int8" else 60_000
    for start, step in ((3, 1), (-5 if dtype[0] != "u" else 5, 0.5 if dtype[0] == "f" else 1)):
        small = fe.arange(start, start + count * step, step, dtype=dtype)
        equal(small, np.arange(start, start + count * step, step).astype(dtype))
    if dtype in ("int64", "uint64", "float32", "float64"):
        x = fe.arange(2, 200_000, 2, dtype=dtype)
        assert x.placement.startswith("lazy")
        equal(x, np.arange(2, 200_000, 2).astype(dtype))


def test_arange_of_a_thousand_million_numbers_takes_no_memory() -> None:
    before = fe.memory_stats("cpu")
    x = fe.arange(10**9)
    assert (x.shape, x.placement) == ((10**9,), "lazy: not computed yet")
    assert fe.memory_stats("cpu") == before


@each("dtype", ["bool", "int8", "float16", "float32", "float8_e5m2", "complex64"])
def test_many_elements_are_counted_as_few_are(dtype: str) -> None:
    a = np.random.default_rng(0).integers(0, 2, (300, 301)).astype("float32").astype(getattr(fe, dtype))
    x = fe.asarray(a)
    assert fe.count_nonzero(x).item() == np.count_nonzero(a.astype("bool"))
    assert fe.count_nonzero(x, keepdims=True).tolist() == [[np.count_nonzero(a.astype("bool"))]]
    assert fe.count_nonzero(fe.concat([x, x])).item() == 2 * np.count_nonzero(a.astype("bool"))
