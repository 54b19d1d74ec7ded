"""`x[mask]` and `x[mask] = value`."""

from __future__ import annotations

from typing import Any

import ferrule as fe
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as st_numpy

from tests.python.each import each

DTYPES = ("bool", "int8", "float16", "float32", "int64", "float64", "complex64", "complex128")


def test_a_mask_reads_and_writes_the_elements_in_their_order() -> None:
    x = fe.asarray([[1, 2, 3], [4, 5, 6]])
    assert x[x > 2].tolist() == [3, 4, 5, 6]
    assert x[fe.asarray([True, False])].tolist() == [[1, 2, 3]]
    assert x[[False, True]].tolist() == [[4, 5, 6]]
    x[x > 4] = fe.asarray([50, 60])
    x[x < 3] = 0
    assert x.tolist() == [[0, 0, 3], [4, 50, 60]]
    x[fe.asarray([False, True])] = np.array([7, 8, 9])
    assert x.tolist() == [[0, 0, 3], [7, 8, 9]]


@settings(max_examples=100, deadline=None)
@given(st.data(), st.sampled_from(DTYPES))
def test_any_mask_reads_and_writes_as_in_numpy(data: st.DataObject, dtype: str) -> None:
    shape = data.draw(st_numpy.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=6))
    rank = data.draw(st.integers(0, len(shape)))
    mask = data.draw(st_numpy.arrays("bool", shape[:rank]))
    a = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    x = fe.asarray(a)
    np.testing.assert_array_equal(np.asarray(x[fe.asarray(mask)]), a[mask], strict=True)
    value = (100 + np.arange(a[mask].size)).reshape(a[mask].shape).astype(dtype)
    expected = a.copy()
    expected[mask] = value
    traced = fe.graph(lambda x, mask, value: _assigned(x, mask, value))(x, mask, value)
    x[fe.asarray(mask)] = value
    for got in (x, traced):
        np.testing.assert_array_equal(np.asarray(got), expected, strict=True)
    np.testing.assert_array_equal(a, np.arange(a.size).reshape(shape).astype(dtype))


def _assigned(x: Any, mask: Any, value: Any) -> Any:
    y = x * 1 if x.dtype.kind not in "bc" else fe.where(fe.asarray(True), x, x)
    y[mask] = value
    return y


@each("dtype", DTYPES)
@each("share", [0.0, 0.03, 0.5, 0.9, 0.99, 1.0])
def test_long_masks_of_every_density(dtype: str, share: float) -> None:
    rng = np.random.default_rng(1)
    for size in (63, 64, 65, 16_384, 50_001):
        a, mask = rng.integers(0, 100, size).astype(dtype), rng.random(size) < share
        value = rng.integers(0, 100, int(mask.sum())).astype(dtype)
        x = fe.asarray(a)
        np.testing.assert_array_equal(np.asarray(x[fe.asarray(mask)]), a[mask])
        expected = a.copy()
        expected[mask] = value
        x[mask] = value
        np.testing.assert_array_equal(np.asarray(x), expected)
        x[mask] = value  # in place: nothing else reads x
        np.testing.assert_array_equal(np.asarray(x), expected)


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex128"])
def test_results_above_the_caches(dtype: str) -> None:
    """These are written past the caches."""
    rng = np.random.default_rng(2)
    size = (33 << 20) // np.dtype(dtype).itemsize + 77
    mask = np.resize(rng.random(1_003_003) < np.repeat(rng.random(1_004), 1000)[:1_003_003] ** 4, size)
    mask[5_000:9_000] = False
    mask[12_000:15_000] = True
    a = np.resize(rng.integers(0, 2, 1_000_003).astype(dtype), size)
    value = np.resize(rng.integers(0, 2, 1_000_033).astype(dtype), int(mask.sum()))
    x = fe.asarray(a) if dtype == "int16" else fe.asarray(a, copy=True)
    x[fe.asarray(mask)] = value
    expected = a.copy()
    expected[mask] = value
    np.testing.assert_array_equal(np.asarray(x), expected)


def test_a_result_above_the_caches_in_memory_that_is_less_aligned() -> None:
    """Only whole vectors at multiples of their size can be written past the caches."""
    size = (33 << 20) // 8
    mask = np.random.default_rng(3).random(size) < 0.3
    a, value = np.arange(size, dtype="float64"), -np.arange(mask.sum(), dtype="float64")
    memory = np.zeros(size + 16)
    start = -memory.ctypes.data // 8 % 8 + 2  # 16 bytes behind a multiple of 64
    graph = fe.Graph("cpu")
    given = (graph.input((size,), "float64"), graph.input((size,), "bool"), graph.input(value.shape, "float64"))
    graph.output(graph.apply("masked_scatter", *given))
    graph.compute(a, mask, value, out=memory[start : start + size])
    a[mask] = value
    np.testing.assert_array_equal(memory[start : start + size], a)


def test_an_assignment_to_memory_of_numpy_copies_it_once() -> None:
    device = fe.device("cpu")
    a = np.zeros(1 << 20, "f4")
    x, mask = fe.asarray(a), fe.asarray(np.arange(1 << 20) % 3 == 0)
    value = fe.asarray(np.arange(len(a[::3]), dtype="f4"), copy=True)
    fe.trim()
    device.set_memory_limit(fe.memory_stats("cpu").live + a.nbytes + a.nbytes // 8)
    try:
        x[mask] = value
        assert float(x[3]) == 1
        assert a[3] == 0
    finally:
        device.set_memory_limit(None)


def test_another_number_of_values_is_an_error_at_the_assignment() -> None:
    x = fe.asarray([1, 2, 3])
    with pytest.raises(fe.InvalidArgumentError, match=r"the value has shape \(2,\), and the mask chooses 3 elements$"):
        x[x > 0] = fe.asarray([1, 2])
    with pytest.raises(fe.InvalidArgumentError, match=r"^x\[mask\] = value: .* does not broadcast to \(2,\)"):
        fe.zeros((2, 2))[fe.asarray([True, False])] = fe.ones(3)
    assert x.tolist() == [1, 2, 3]
    run = fe.graph(lambda x, mask, value: _assigned(x, mask, value))
    with pytest.raises(
        fe.InvalidArgumentError, match="masked_scatter: the mask chooses 1 slices, and there are 2 values"
    ):
        fe.eval(run(x, np.array([True, False, False]), np.array([7, 8])))
    assert run(x, np.array([True, False, True]), np.array([7, 8])).tolist() == [7, 2, 8]


def test_a_mask_of_another_shape_is_an_index_error() -> None:
    x = fe.zeros((2, 3))
    for mask in (np.ones(3, "bool"), np.ones((3, 2), "bool"), np.ones((2, 3, 1), "bool")):
        with pytest.raises(IndexError, match=r"^x\[mask\]: the mask has shape .*, and x has \(2, 3\)|2 dimensions"):
            x[mask]
        with pytest.raises(IndexError, match=r"^x\[mask\]( = value)?: the mask has shape"):
            x[mask] = 1


def test_a_mask_of_no_elements_may_have_sizes_of_zero_in_place_of_others() -> None:
    for shape, mask in (((3,), (0,)), ((3, 2), (0, 2)), ((3, 2), (3, 0)), ((0, 1), (0, 0)), ((2, 3, 4), (2, 0))):
        x, host = fe.ones(shape), np.ones(shape, "float32")
        assert x[np.zeros(mask, "bool")].shape == host[np.zeros(mask, "bool")].shape
        x[np.zeros(mask, "bool")] = 7
        assert (np.asarray(x) == 1).all()
    with pytest.raises(IndexError, match="the mask has shape"):
        fe.ones((0, 1))[np.zeros((0, 3), "bool")]


def test_reading_by_a_mask_is_refused_where_the_mask_is_traced() -> None:
    x = fe.asarray([1.0, -1.0, 2.0])
    for read in (lambda x: x[x > 0], lambda x: fe.reshape(x, (1, 3))[0, x > 0]):
        with pytest.raises(fe.TracingError, match=r"^x\[mask\], whose length depends on values"):
            fe.graph(read)(x)
    known = np.array([True, False, True])
    assert fe.graph(lambda x: x[known] * 2)(x).tolist() == [2, 4]
    assert fe.graph(lambda x: fe.stack([x, x])[:, known])(x).tolist() == [[1, 2], [1, 2]]


def test_traced_indices_write_and_the_last_of_equal_ones_stays() -> None:
    def put(x: Any, places: Any, value: Any) -> Any:
        y = x * 1
        y[places] = value
        return y

    run = fe.graph(put)
    x = fe.zeros(5)
    assert run(x, np.array([1, -1, 1]), np.array([1.0, 2.0, 3.0], "f4")).tolist() == [0, 3, 0, 0, 2]
    assert run(x, np.array([0, 0, 0]), np.array([1.0, 2.0, 3.0], "f4")).tolist() == [3, 0, 0, 0, 0]
    with pytest.raises(IndexError, match="scatter: index 5 is out of bounds for axis 0 with size 5"):
        fe.eval(run(x, np.array([1, 5, 1]), np.array([1.0, 2.0, 3.0], "f4")))

    def two(x: Any, rows: Any, columns: Any) -> Any:
        y = x * 1
        y[rows, columns] = 7
        return y, y[rows, columns], x[rows, columns]

    a = np.arange(12.0, dtype="f4").reshape(3, 4)
    rows, columns = np.array([[0], [-1]]), np.array([1, -4])
    changed, got, before = fe.graph(two)(a, rows, columns)
    expected = a.copy()
    expected[rows, columns] = 7
    np.testing.assert_array_equal(np.asarray(changed), expected)
    np.testing.assert_array_equal(np.asarray(got), np.full((2, 2), 7))
    np.testing.assert_array_equal(np.asarray(before), a[rows, columns])
    for wrong in (np.array([[3], [0]]), np.array([[0], [-4]])):
        with pytest.raises(IndexError, match="out of bounds"):
            fe.eval(fe.graph(lambda x, r, c: x[r, c])(a, wrong, columns))


COUNT = 1 << 20
PLACES = np.arange(0, COUNT, 1000)


@each(
    ("shape", "key"),
    [
        ((COUNT,), PLACES),
        ((COUNT,), np.arange(COUNT) % 1000 == 0),
        ((1, COUNT), (slice(None), PLACES)),
        ((1, COUNT), (np.zeros(len(PLACES), "int64"), PLACES)),
        ((1, COUNT), np.arange(COUNT).reshape(1, COUNT) % 1000 == 0),
    ],
)
def test_an_assignment_writes_in_place_if_nothing_else_reads_the_array(shape: tuple[int, ...], key: Any) -> None:
    device = fe.device("cpu")
    x = fe.asarray(np.zeros(shape, "f4")) + 0
    fe.eval(x)
    y = x.copy()
    value = fe.ones(len(PLACES))
    if isinstance(key, np.ndarray):
        key = fe.asarray(key, copy=True)  # NumPy's memory would be read at once, while x still refers to its own
    fe.trim()
    device.set_memory_limit(fe.memory_stats("cpu").live + 2 * COUNT)  # half of x
    try:
        y[key] = value
        with pytest.raises(fe.OutOfMemoryError):  # x still has its memory
            fe.eval(y)
        del y
        x[key] = value
        fe.eval(x)
    finally:
        device.set_memory_limit(None)
    assert float(fe.sum(x)) == len(PLACES)


@each(
    "assign",
    [
        lambda x, m, n: x.__setitem__((1, n), 9),
        lambda x, m, n: x.__setitem__((m, 0), 9),
        lambda x, m, n: x.__setitem__((slice(None), n), 9),
        lambda x, m, n: x.__setitem__((slice(1, None), n, slice(0, 2)), 9),
        lambda x, m, n: x.__setitem__((..., n, slice(None)), 9),
        lambda x, m, n: x.__setitem__((m, ...), 9),
        lambda x, m, n: x.__setitem__((m, slice(None), -1), 9.5),
    ],
)
def test_a_traced_mask_beside_integers_and_slices_writes_one_value(assign: Any) -> None:
    host = np.arange(24.0, dtype="f4").reshape(2, 3, 4)
    masks = np.array([True, False]), np.array([False, True, True])
    wanted = host.copy()
    assign(wanted, *masks)

    def changed(x: fe.Array, m: fe.Array, n: fe.Array) -> fe.Array:
        assign(x, m, n)
        return x

    found = fe.graph(changed)(fe.asarray(host), *map(fe.asarray, masks))
    np.testing.assert_array_equal(np.asarray(found), wanted)


def test_a_traced_mask_of_another_shape_is_an_index_error() -> None:
    def changed(x: fe.Array, m: fe.Array) -> fe.Array:
        x[0, m] = 1
        return x

    with pytest.raises(IndexError, match=r"the mask has shape \(2,\), and its axes of x have \(3,\)"):
        fe.graph(changed)(fe.ones((2, 3)), fe.asarray([True, False]))
