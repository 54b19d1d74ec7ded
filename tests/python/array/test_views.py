"""Views are tied to the array that they were made from, as NumPy's are: NumPy is the oracle of all programs here."""

import copy
import gc
import pickle
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

import ferrule as fe
import numpy as np
import pytest
from ferrule import _ferrule
from numpy.typing import NDArray


def is_view(x: Any, of: Any) -> bool:
    known = _ferrule.view_of(x)
    return known is not None and known[0] is of


def same(x: Any, like: NDArray[Any]) -> bool:
    return x.shape == like.shape and x.dtype == like.dtype and np.array_equal(np.asarray(x), like)


def both(shape: tuple[int, ...] = (3, 4, 5)) -> tuple[NDArray[Any], Any]:
    values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    return values.copy(), fe.asarray(values, copy=True)


VIEWS: dict[str, Callable[[Any, Any], Any]] = {
    "integer": lambda xp, x: x[1],
    "slice": lambda xp, x: x[1:, ::2],
    "backwards": lambda xp, x: x[::-1, 1:3][:, ::-1],
    "ellipsis": lambda xp, x: x[..., 2],
    "new axis": lambda xp, x: x[:, None, 1],
    "everything": lambda xp, x: x[...],
    "transposed": lambda xp, x: xp.permute_dims(x, (2, 0, 1)),
    "row of transposed": lambda xp, x: xp.permute_dims(x, (2, 0, 1))[1, :, None],
    "mT": lambda xp, x: x.mT[0],
    "reshaped": lambda xp, x: xp.reshape(x, (4, 15))[1:3],
    "part of reshaped": lambda xp, x: x[1].reshape(2, 10)[:, 3:7],
    "joined rows": lambda xp, x: x[1:].reshape(-1)[5:9],
    "ravel": lambda xp, x: x.ravel()[7:],
    "squeezed part of a broadcast axis": lambda xp, x: xp.expand_dims(x[:1], axis=0)[0, 0],
    "expand_dims": lambda xp, x: xp.expand_dims(x, axis=1)[:, 0, 2],
    "squeeze": lambda xp, x: xp.squeeze(x[1:2], axis=0),
    "flip": lambda xp, x: xp.flip(x, axis=1)[0],
    "moveaxis": lambda xp, x: xp.moveaxis(x, 0, -1)[2],
    "unstack": lambda xp, x: xp.unstack(x, axis=1)[3],
    "split": lambda xp, x: (xp.split(x, [1, 3], axis=1) if xp is fe else np.split(x, [1, 3], axis=1))[1],
    "iteration": lambda xp, x: [*x][2],
    "asarray": lambda xp, x: xp.asarray(x),
    "atleast_3d": lambda xp, x: xp.atleast_3d(x),
    "real": lambda xp, x: x.real,
    "view of a view of a view": lambda xp, x: x[1:][:, 1:][1].T,
}


@pytest.mark.parametrize("cut", VIEWS.values(), ids=VIEWS.keys())
def test_writes_go_both_ways(cut: Callable[[Any, Any], Any]) -> None:
    numpy, x = both()
    like, view = cut(np, numpy), cut(fe, x)
    assert np.shares_memory(like, numpy)
    assert same(view, like)
    for change in (
        lambda a: a.__setitem__(..., a * 2),
        lambda a: a.__setitem__(0, -1),
        lambda a: a.__setitem__(a > 50, 7),
        lambda a: a.__iadd__(1),
    ):
        change(like), change(view)
        assert same(x, numpy)
        assert same(view, like)
    numpy[1], x[1] = 3, 3
    numpy[:, 2] *= 5
    x[:, 2] *= 5
    assert same(view, like)


COPIES: dict[str, Callable[[Any, Any], Any]] = {
    "copy": lambda xp, x: x.copy(),
    "plus": lambda xp, x: +x,
    "copy.copy": lambda xp, x: copy.copy(x),
    "copy.deepcopy": lambda xp, x: copy.deepcopy(x),
    "astype": lambda xp, x: x.astype("float32"),
    "flatten": lambda xp, x: x.flatten(),
    "indices": lambda xp, x: x[xp.asarray([0, 1])],
    "mask": lambda xp, x: x[x > 3],
    "transposed and reshaped": lambda xp, x: x.mT.reshape(-1),
    "ravel of a part": lambda xp, x: x[:, ::2].ravel(),
    "ravel of a column": lambda xp, x: xp.ravel(x[:, :1, 0]),
    "NumPy's ravel of a reversed row": lambda xp, x: np.ravel(x[0, 0, ::-1]),
    "NumPy's ravel of a part of a row": lambda xp, x: np.ravel(x[0, 0, ::2]),
    "NumPy's ravel of a column": lambda xp, x: np.ravel(x[:, :1, 0]),
    "part reshaped": lambda xp, x: x[:, 1:3].reshape(-1),
    "element": lambda xp, x: x[0, 0, 0],
    "concat": lambda xp, x: xp.concat([x]),
    "stack": lambda xp, x: xp.stack([x])[0],
    "take": lambda xp, x: xp.take(x, xp.asarray([0]), axis=0),
    "clip": lambda xp, x: xp.clip(x),
    "roll": lambda xp, x: xp.roll(x, 0),
    "repeat": lambda xp, x: xp.repeat(x, 1, axis=0),
    "tile": lambda xp, x: xp.tile(x, (1,)),
    "where": lambda xp, x: xp.where(x == x, x, x),
    "sum": lambda xp, x: xp.sum(x, axis=()),
    "meshgrid": lambda xp, x: xp.meshgrid(x[0, 0], x[0, 1])[0],
    "pad": lambda xp, x: xp.pad(x, 0),
    "sort": lambda xp, x: xp.sort(x[:1], axis=0),
    "tril": lambda xp, x: xp.tril(x, k=9),
    "conj": lambda xp, x: xp.conj(x) if xp is fe else np.array(np.conj(x)),
    "pickle": lambda xp, x: pickle.loads(pickle.dumps(x[1])),
}


@pytest.mark.parametrize("make", COPIES.values(), ids=COPIES.keys())
def test_results_are_arrays_of_their_own(make: Callable[[Any, Any], Any]) -> None:
    numpy, x = both()
    like, result = make(np, numpy), make(fe, x)
    assert not np.shares_memory(like, numpy)
    before = np.array(like)
    if result.ndim:
        result[...] = -1
    assert same(x, numpy)
    result = make(fe, x)
    x[...] = -1
    assert np.array_equal(np.asarray(result), before)


def random_key(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Any, ...]:
    items: list[Any] = []
    for size in shape:
        kind = rng.integers(6)
        if rng.random() < 0.1 and len(shape) < 5:
            items.append(None)
        if kind == 0 and size:
            items.append(int(rng.integers(-size, size)))
        elif kind <= 2:
            low, high = (int(end) for end in sorted(rng.integers(0, size + 1, 2)))
            step = int(rng.choice([1, 1, 2, -1, -2]))
            items.append(slice(low, high, step) if step > 0 else slice(high, low or None, step))
        else:
            items.append(slice(None))
    return (*items[: rng.integers(len(items) + 1)],) if rng.random() < 0.2 else (*items,)


def random_view(rng: np.random.Generator, numpy: Any, x: Any) -> tuple[Any, Any]:
    kind = rng.integers(5)
    if kind == 0:
        axes = tuple(int(axis) for axis in rng.permutation(numpy.ndim))
        return np.transpose(numpy, axes), fe.permute_dims(x, axes)
    if kind == 1 and numpy.size:
        shape = (-1,) if rng.random() < 0.5 else (numpy.size // 2, 2) if numpy.size % 2 == 0 else (1, numpy.size)
        return numpy.reshape(shape), x.reshape(shape)
    if kind == 2:
        return np.flip(numpy), fe.flip(x)
    key = random_key(rng, numpy.shape)
    return numpy[key], x[key]


@pytest.mark.parametrize("seeds", [range(300), range(300, 600)])
def test_random_programs_of_views_and_writes(seeds: range) -> None:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        pairs = [both(tuple(int(size) for size in rng.integers(1, 6, rng.integers(1, 4))))]
        for _ in range(25):
            numpy, x = pairs[rng.integers(len(pairs))]
            kind = rng.integers(8)
            if kind < 4:
                pair = random_view(rng, numpy, x)
                if isinstance(pair[0], np.ndarray):  # not an element
                    pairs.append(pair)
            elif kind == 4:
                key = random_key(rng, numpy.shape)
                numpy[key] = x[key] = rng.integers(0, 100, np.shape(numpy[key])).astype(np.float32)
            elif kind == 5:
                key = random_key(rng, numpy.shape)
                numpy[key] *= 2
                x[key] *= 2
            elif kind == 6:
                numpy[numpy % 3 == 0] = 7
                x[x % 3 == 0] = 7
            elif len(pairs) > 2:
                pairs.pop(rng.integers(len(pairs)))
        assert all(same(x, numpy) for numpy, x in pairs), seed


def test_read_only_views_show_later_values_and_refuse_writes() -> None:
    x = fe.asarray([1 + 2j, 3])
    views = [fe.broadcast_to(x, (3, 2)), fe.broadcast_arrays(x, fe.ones((2, 1)))[0], x.real, fe.imag(x)]
    views += [fe.expand_dims(views[0], axis=0)[0], x.real.reshape(1, -1)[0], fe.squeeze(fe.imag(x)[None])]
    x[0] = 5 + 6j
    assert [view.tolist()[0] for view in views] == [[5 + 6j, 3], [5 + 6j, 3], 5, 6, [5 + 6j, 3], 5, 6]
    for view in views:
        with pytest.raises(fe.InvalidArgumentError, match="read-only view"):
            view[...] = 0
        with pytest.raises(fe.InvalidArgumentError, match="read-only view"):
            view += 1
    assert x.tolist() == [5 + 6j, 3]


def test_a_view_of_many_steps_can_be_written_to() -> None:
    x = fe.zeros((2, 2))
    view = x
    for _ in range(1000):
        view = view.T
    view[0] = 1
    assert x.tolist() == [[1, 1], [0, 0]]
    with pytest.raises(ValueError, match="broadcast"):
        x[1, 0] = x.T


def test_a_failed_write_changes_nothing() -> None:
    x = fe.ones((2, 3))
    row = x[0]
    for key, value in ((7, 1), (slice(2), [1, 2, 3]), ((0, 0), 1)):
        with pytest.raises((IndexError, ValueError)):
            row[key] = value
    assert x.tolist() == [[1, 1, 1], [1, 1, 1]]
    assert is_view(row, x)


def test_writing_in_place_is_not_hindered_by_views() -> None:
    x = fe.ones((1000, 1000), device="cpu") + 1
    parts = [x[0], x.T, x.reshape(-1), x[3, 3]]
    fe.eval(x, *parts)
    x.device.set_memory_limit(fe.memory_stats(x.device).live + x.nbytes // 2)
    try:
        for place in range(5):
            x[place] = place
            fe.eval(x)
    finally:
        x.device.set_memory_limit(None)
    assert parts[1][0, 3].item() == 3


def test_copies_of_parts_let_go_of_the_whole() -> None:
    device = fe.device("cpu")
    for part in (
        lambda x: x[:1].copy(),
        lambda x: copy.deepcopy(x[:1]),
        lambda x: x[:1].astype("float32", copy=True),
        lambda x: fe.asarray(x[:1], copy=True),
        lambda x: +x.T[:, 3],
        lambda x: x[5, 5],
        lambda x: fe.clip(x[0]),
        lambda x: x[0].flatten(),
    ):
        for is_computed in (True, False):
            gc.collect()
            before = fe.memory_stats(device).live
            x = fe.ones((1000, 1000), device=device) + 1
            if is_computed:
                fe.eval(x)
            y = part(x)
            del x
            fe.eval(y)
            gc.collect()
            assert fe.memory_stats(device).live - before < 100_000
            del y


def test_a_view_whose_base_nobody_else_has_is_an_array_of_its_own() -> None:
    x = fe.ones((3, 2))
    reference = weakref.ref(x)
    row = x[1]
    del x
    row[0] = 5
    assert row.tolist() == [5, 1]
    assert reference() is None


def test_a_view_of_a_donated_array_keeps_its_value() -> None:
    x = fe.asarray(np.ones((3, 2), np.float32), copy=True)
    row = x[1]
    with pytest.raises(IndexError):
        fe.graph(lambda a: a[7], donate=0)(x)
    assert is_view(row, x)
    changed = fe.graph(lambda a: fe.update_slice(a, fe.zeros((1, 2)), (1, 0)), donate=0)(x)
    row[0] = 7
    assert row.tolist() == [7, 1]
    assert changed.tolist() == [[1, 1], [0, 0], [1, 1]]


def test_traced_code_is_as_eager_code() -> None:
    def program(x: Any, place: int) -> Any:
        y = x * 1
        row = y[1]
        row[0] = 7
        y.T[1] = 3
        y.reshape(-1)[5:7] += 1
        moving = y[place]
        moving[1:] *= 2
        moving.reshape(2, 2)[0] -= 1
        y[place : place + 1].reshape(-1)[3:] += 4
        y[0] = y[place]
        y[0][:2] += 1
        for each in y:
            each[2] = row[3]
        return y, row, moving

    _, x = both((3, 4))
    for place in range(3):
        for traced, eager in zip(fe.graph(program)(x, place), program(x, place), strict=True):
            assert traced.tolist() == eager.tolist()


def test_assigning_to_a_view_of_an_argument_or_of_an_outer_array_is_a_warning_and_stays_inside() -> None:
    outer = fe.ones((2, 2))
    outer_row = outer[0]

    def program(x: Any) -> Any:
        x[0][1] = 5
        outer_row[0] = x[0, 1]
        return x + outer

    x = fe.zeros((2, 2))
    with pytest.warns(UserWarning, match="caller's array does not change"):
        result = fe.graph(program)(x)
    assert result.tolist() == [[5, 6], [1, 1]]
    assert x.tolist() == [[0, 0], [0, 0]]
    assert outer.tolist() == [[1, 1], [1, 1]]
    assert outer_row.tolist() == [1, 1]


def test_a_graph_that_closes_over_a_view_is_traced_again_when_the_base_changes() -> None:
    x = fe.ones((2, 2))
    row = x[0]
    scaled = fe.graph(lambda y: y * row)
    assert scaled(fe.ones(2)).tolist() == [1, 1]
    x[0, 1] = 4
    assert scaled(fe.ones(2)).tolist() == [1, 4]


def test_writes_of_many_threads_through_views_all_take_effect() -> None:
    x = fe.zeros((8, 50))

    def write(number: int) -> None:
        row = x[number]
        for place in range(50):
            row[place] = number + 1
            x.T[place, number] += 1

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.tolist() == [[number + 2.0] * 50 for number in range(8)]


def test_a_view_that_is_made_while_another_thread_writes_shows_the_new_values() -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for number in range(50):
            x = fe.zeros((2, 2))
            made: list[Any] = []
            begun = threading.Event()

            def read(x: Any = x, made: list[Any] = made, begun: threading.Event = begun) -> None:
                for _ in range(30):
                    made.extend((x[0], x.T, x.reshape(4)))
                    begun.set()

            reader = threading.Thread(target=read)
            reader.start()
            begun.wait()
            x[:] = number
            reader.join()
            assert all((part == number).all() for part in made)
    finally:
        sys.setswitchinterval(interval)


def test_many_reshapes_are_one_step() -> None:
    x = part = fe.zeros((3, 4))
    for _ in range(500):
        part = part.reshape(4, 3).reshape(2, 6)
    known = _ferrule.view_of(part)
    assert known
    assert len(known[1]) == 1
    part[1, 5] = 1
    assert x.tolist() == [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]]


def test_views_and_bases_that_refer_to_each_other_are_collected() -> None:
    class Node(list[Any]):
        pass

    x = fe.ones((2, 2))
    node = Node([x, x[0]])
    node.append(node)
    reference = weakref.ref(node)
    base = weakref.ref(x)
    del node, x
    gc.collect()
    assert reference() is None
    assert base() is None


def test_diagonals_can_be_written_to() -> None:
    x = fe.zeros((3, 3))
    fe.einsum("ii->i", x)[:] = 2
    fe.linalg.diagonal(x, offset=1)[0] = 5
    assert x.tolist() == [[2, 5, 0], [0, 2, 0], [0, 0, 2]]
    for matrix in (x[:2, :2], x.T, x[::-1]):
        fe.linalg.diagonal(matrix).reshape(-1, 1)[...] = 7
        assert fe.linalg.diagonal(matrix).tolist() == [7] * len(matrix)
    assert x.tolist() == [[7, 5, 7], [0, 7, 0], [7, 0, 7]]


def test_read_only_views_stay_read_only_when_nothing_else_has_their_base() -> None:
    views = [fe.broadcast_to(fe.asarray([1.0, 2.0]), (2, 2)), fe.asarray([1 + 2j, 3j]).real]
    for view in views:
        with pytest.raises(fe.InvalidArgumentError, match="read-only view"):
            view[0] = 5
