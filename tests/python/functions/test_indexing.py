"""`x[key]` and `x[key] = value` behave as in NumPy."""

from __future__ import annotations

from typing import Any

import ferrule as fe
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.mark.parametrize(
    "key",
    [
        (0, slice(None), [0, 1]),
        (0, ..., [0, 1]),
        ([0, 1], slice(None), 0),
        (0, None, [0, 1]),
        (slice(None), 0, [0, 1]),
        (slice(None), [0, 1], 0),
        (0, slice(None), np.array([[0, 1], [2, 3]])),
        (np.int64(0), slice(None), np.array([1])),
        (0, slice(None), np.array(1)),
        (0, [0, 1], ...),
        (0, [0, 1], ..., 1),
    ],
    ids=str,
)
def test_integer_separated_from_an_index_array_counts_as_an_advanced_index(key: Any) -> None:
    a = np.arange(24).reshape(2, 3, 4)
    np.testing.assert_array_equal(np.asarray(fe.asarray(a)[key]), a[key])
    expected, x = a.copy(), fe.asarray(a)
    value = -np.arange(expected[key].size).reshape(expected[key].shape)
    expected[key] = value
    x[key] = value
    np.testing.assert_array_equal(np.asarray(x), expected)


@st.composite
def shapes_and_keys(draw: st.DrawFn) -> tuple[tuple[int, ...], Any]:
    shape = tuple(draw(st.lists(st.integers(0, 4), min_size=1, max_size=4)))
    axes = draw(st.integers(0, len(shape)))
    ellipsis = draw(st.integers(0, axes)) if draw(st.booleans()) else None
    array_at = draw(st.one_of(st.none(), st.integers(0, axes - 1))) if axes else None
    items: list[Any] = []
    for place in range(axes):
        if place == ellipsis:
            items.append(...)
        axis = place if ellipsis is None or place < ellipsis else len(shape) - axes + place
        items.append(draw(items_of(shape[axis], place == array_at)))
        if draw(st.integers(0, 5)) == 0:
            items.append(None)
    if ellipsis == axes:
        items.append(...)
    return shape, items[0] if len(items) == 1 and draw(st.booleans()) else tuple(items)


def items_of(size: int, is_array: bool) -> st.SearchStrategy[Any]:
    bounds = st.one_of(st.none(), st.integers(-6, 6), st.sampled_from([2**62, -(2**62), 2**70]))
    steps = st.one_of(st.none(), st.integers(-3, 3).filter(bool), st.sampled_from([2**62, -(2**63), 2**70]))
    places = st.integers(-size, size - 1) if size else st.nothing()
    if is_array:
        dtypes = st.sampled_from(["i8", "i4", "i2"])
        flat = st.lists(places, max_size=4) if size else st.just([])
        one = st.builds(lambda values, dtype: np.array(values, dtype), flat, dtypes)
        if not size:
            return one
        two = st.builds(lambda values, dtype: np.array([values, values[::-1]], dtype), flat, dtypes)
        none = st.builds(lambda value, dtype: np.array(value, dtype), places, dtypes)
        return st.one_of(one, two, none, st.lists(places, min_size=1, max_size=3))
    slices = st.builds(slice, bounds, bounds, steps)
    return st.one_of(slices, places, places.map(np.int32)) if size else slices


@settings(max_examples=200, deadline=None)
@given(shapes_and_keys())
def test_any_key_reads_as_in_numpy(shape_and_key: Any) -> None:
    shape, key = shape_and_key
    a = np.arange(int(np.prod(shape)), dtype="int64").reshape(shape)
    expected = a[key]
    for got in (fe.asarray(a)[key], fe.graph(lambda x: x[key])(fe.asarray(a))):
        assert got.shape == expected.shape
        np.testing.assert_array_equal(np.asarray(got), expected)


@settings(max_examples=200, deadline=None)
@given(shapes_and_keys(), st.integers(0, 2))
def test_any_key_writes_as_in_numpy(shape_and_key: Any, kind: int) -> None:
    shape, key = shape_and_key
    a = np.arange(int(np.prod(shape)), dtype="int64").reshape(shape)
    expected, x = a.copy(), fe.asarray(a)
    value: Any = 7
    if kind:  # the full value, or one that broadcasts
        value = -1 - np.arange(a[key].size, dtype="int64").reshape(a[key].shape)
        value = value[..., :1] if kind == 2 and value.ndim else value
    expected[key] = value
    x[key] = value
    np.testing.assert_array_equal(np.asarray(x), expected)
    np.testing.assert_array_equal(a, np.arange(a.size).reshape(shape))


def test_two_index_arrays_in_an_assignment_are_refused() -> None:
    x = fe.zeros((3, 3))
    with pytest.raises(fe.UnsupportedError, match="one integer array"):
        x[[0, 1], [1, 2]] = 1


@pytest.mark.parametrize("big", [2**64 - 1, 2**63, 2**63 + 1])
def test_an_unsigned_index_beyond_int64_is_out_of_bounds(big: int) -> None:
    x, places = fe.asarray([1, 2, 3]), np.array([big], "u8")
    with pytest.raises(fe.Error, match="out of"):
        fe.take(x, places).tolist()
    with pytest.raises(fe.Error, match="out of"):
        x[places].tolist()
    with pytest.raises(fe.Error, match="out of"):
        fe.graph(lambda x, places: fe.take(x, places))(x, places).tolist()
    with pytest.raises(IndexError, match="out of range"):
        x[places] = 1
    assert fe.take(x, np.array([2, 0], "u8")).tolist() == [3, 1]


def test_a_number_of_a_traced_function_is_an_index() -> None:
    f = fe.graph(lambda x, place: x[place] * 2)
    a = np.arange(12, dtype="f4").reshape(4, 3)
    for place in (0, 3, -1, -4):
        np.testing.assert_array_equal(np.asarray(f(a, place)), a[place] * 2)
    assert f.cache_info().misses == 1
    with pytest.raises(fe.Error, match="out of"):
        f(a, 4)
