"""`x[key]` and `x[key] = value` behave as in NumPy."""

from __future__ import annotations

from typing import Any

import ferrule as fe
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.python.each import each


@each(
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
    # The shape that the index arrays broadcast to, and the axes that have one.
    indices = draw(st.sampled_from([(), (1,), (2,), (3,), (0,), (2, 3), (1, 3)]))
    with_array = {place for place in range(axes) if draw(st.integers(0, 2)) == 0}
    items: list[Any] = []
    place = 0
    while place < axes:
        if place == ellipsis:
            items.append(...)
        axis = place if ellipsis is None or place <= ellipsis - 1 else len(shape) - axes + place
        is_free = ellipsis is None or place >= ellipsis or place + 2 <= ellipsis
        if is_free and len(with_array) == 1 and place in with_array and draw(st.booleans()):  # a mask is alone
            rank = min(draw(st.integers(1, 2)), axes - place)
            mask = np.array(draw(st.lists(st.booleans(), min_size=16, max_size=16))).reshape(4, 4)
            items.append(mask[: shape[axis], : shape[axis + 1]] if rank == 2 else mask[0, : shape[axis]])
            place += rank
        else:
            items.append(draw(items_of(shape[axis], place in with_array, indices)))
            place += 1
        if draw(st.integers(0, 5)) == 0:
            items.append(None)
    if ellipsis == axes:
        items.append(...)
    return shape, items[0] if len(items) == 1 and draw(st.booleans()) else tuple(items)


def items_of(size: int, is_array: bool, indices: tuple[int, ...]) -> st.SearchStrategy[Any]:
    bounds = st.one_of(st.none(), st.integers(-6, 6), st.sampled_from([2**62, -(2**62), 2**70]))
    steps = st.one_of(st.none(), st.integers(-3, 3).filter(bool), st.sampled_from([2**62, -(2**63), 2**70]))
    places = st.integers(-size, size - 1) if size else st.nothing()
    if is_array:
        dtypes = st.sampled_from(["i8", "i4", "i2", "u4"])
        if not size:
            return st.builds(lambda dtype: np.zeros((0,), dtype), dtypes)
        count = int(np.prod(indices))
        flat = st.lists(places, min_size=count, max_size=count)

        def shaped(values: list[int], dtype: str, is_list: bool) -> Any:
            array = (np.array(values) % size if dtype == "u4" else np.array(values)).astype(dtype).reshape(indices)
            return array.tolist() if is_list and array.ndim and array.size else array

        return st.builds(shaped, flat, dtypes, st.booleans())
    slices = st.builds(slice, bounds, bounds, steps)
    return st.one_of(slices, places, places.map(np.int32)) if size else slices


@settings(max_examples=150, deadline=None)
@given(shapes_and_keys())
def test_any_key_reads_as_in_numpy(shape_and_key: Any) -> None:
    shape, key = shape_and_key
    a = np.arange(int(np.prod(shape)), dtype="int64").reshape(shape)
    try:
        expected = a[key]
    except IndexError:  # index arrays of no and of three elements do not broadcast
        with pytest.raises(fe.InvalidArgumentError, match=r"^x\[key\]: "):
            fe.asarray(a)[key]
        return
    if expected.ndim > 8:
        with pytest.raises(fe.InvalidArgumentError, match="at most 8 dimensions"):
            fe.asarray(a)[key]
        return
    for got in (fe.asarray(a)[key], fe.graph(lambda x: x[key])(fe.asarray(a))):
        assert got.shape == expected.shape
        np.testing.assert_array_equal(np.asarray(got), expected)


@settings(max_examples=150, deadline=None)
@given(shapes_and_keys(), st.integers(0, 2))
def test_any_key_writes_as_in_numpy(shape_and_key: Any, kind: int) -> None:
    shape, key = shape_and_key
    a = np.arange(int(np.prod(shape)), dtype="int64").reshape(shape)
    expected, x = a.copy(), fe.asarray(a)
    try:
        if a[key].ndim > 8:
            return
    except IndexError:
        return
    value: Any = 7
    if kind:  # the full value, or one that broadcasts
        value = -1 - np.arange(a[key].size, dtype="int64").reshape(a[key].shape)
        value = value[..., :1] if kind == 2 and value.ndim else value
    expected[key] = value
    x[key] = value
    np.testing.assert_array_equal(np.asarray(x), expected)
    np.testing.assert_array_equal(a, np.arange(a.size).reshape(shape))


@pytest.mark.parametrize("big", [2**64 - 1, 2**63, 2**63 + 1])
def test_an_unsigned_index_beyond_int64_is_out_of_bounds(big: int) -> None:
    x, places = fe.asarray([1, 2, 3]), np.array([big], "u8")
    with pytest.raises(fe.Error, match="out of"):
        fe.take(x, places).tolist()
    with pytest.raises(fe.Error, match="out of"):
        x[places].tolist()
    with pytest.raises(fe.Error, match="out of"):
        fe.graph(lambda x, places: fe.take(x, places))(x, places).tolist()
    with pytest.raises(IndexError, match="out of bounds"):
        x[places] = 1
    assert fe.take(x, np.array([2, 0], "u8")).tolist() == [3, 1]


@each("outside", [[1, 77], np.array([0, -9]), np.array([[8]], "u1"), (slice(2, 6), [0, 7]), ([0], None, [9])])
def test_indices_out_of_bounds_are_index_errors_at_once_and_change_nothing(outside: Any) -> None:
    x = fe.zeros((8, 7))
    with pytest.raises(IndexError, match=r"^x\[key\]: index \S+ is out of bounds for axis [01] with size [78]$"):
        x[outside]
    with pytest.raises(IndexError, match=r"^x\[key\] = value: index \S+ is out of bounds for axis"):
        x[outside] = 1
    with pytest.raises(IndexError, match=r"^x\[key\]: index \S+ is out of bounds for axis"):
        fe.graph(lambda x: x[outside])(x)
    assert not np.asarray(x).any()


def test_indices_that_are_computed_are_checked_when_the_result_is_read_or_before_a_write() -> None:
    x, places = fe.arange(8), fe.asarray([-6, 70]) + 7
    for bad in (x[places], fe.take_along_axis(x, places), fe.dynamic_slice(x, (places[1],), (2,))):
        with pytest.raises(IndexError, match=r"index 77 is out of bounds for axis 0 with size 8|the start 77 of"):
            bad.tolist()
    places = places + 0
    with pytest.raises(IndexError, match="index 77 is out of bounds for axis 0 with size 8"):
        x[places] = 0
    assert x.tolist() == list(range(8))


def test_a_number_of_a_traced_function_is_an_index() -> None:
    f = fe.graph(lambda x, place: x[place] * 2)
    a = np.arange(12, dtype="f4").reshape(4, 3)
    for place in (0, 3, -1, -4):
        np.testing.assert_array_equal(np.asarray(f(a, place)), a[place] * 2)
    assert f.cache_info().misses == 1
    with pytest.raises(fe.Error, match="out of"):
        f(a, 4)


@each(
    ("key", "value"),
    [
        (slice(0, 2), [7, 8]),
        (slice(0, 2), (7.9, -8.9)),
        ([5, 0], [1, 2]),
        (np.array([True, False] * 3), [1, 2, 3]),
        (slice(None), [1, 2, 3, 4, 5, 6]),
        (slice(0, 0), []),
    ],
)
def test_lists_are_written_as_in_numpy(key: Any, value: Any) -> None:
    x, expected = fe.arange(6), np.arange(6)
    x[key] = value
    expected[key] = value
    assert x.tolist() == expected.tolist()

    def assign(y: fe.Array) -> fe.Array:
        y[key] = value
        return y

    assert fe.graph(assign)(fe.arange(6)).tolist() == expected.tolist()


def test_lists_that_are_no_numbers_are_not_written() -> None:
    x = fe.arange(3)
    for value in (["a", "b", "c"], [1, 2], [None] * 3, [[1, 2, 3], [4, 5, 6]]):
        with pytest.raises(fe.Error):
            x[:] = value
    assert x.tolist() == [0, 1, 2]
