"""Single elements: `x[i]`, `x[i] = value` and iteration, which the core does without recording ops."""

from __future__ import annotations

import gc
import math
import pickle
import random
import threading
from typing import Any

import ferrule as fe
import numpy as np
import pytest
from numpy.typing import NDArray

DTYPES = ["bool", "int8", "uint8", "int32", "uint64", "float16", "bfloat16", "float32", "float64", "complex64"]


def numbers(dtype: str, count: int) -> NDArray[Any]:
    values = np.random.default_rng(1).integers(0, 60, count)
    return values.astype(fe.asarray(0).astype(dtype).numpy().dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_are_read_and_written_in_each_dtype(dtype: str) -> None:
    expected = numbers(dtype, 6).reshape(2, 3)
    x = fe.asarray(expected, copy=True)
    for key in ((0, 0), (1, 2), (-1, -3), (0, -1)):
        element = x[key]
        assert (element.shape, element.dtype, element.item()) == ((), x.dtype, expected[key].item())
        assert np.asarray(element + element) == expected[key] + expected[key]
    x[1, 1] = True
    expected[1, 1] = True
    x[0, -1] = x[1, 0]
    expected[0, -1] = expected[1, 0]
    x[0, 0] = x[0, 0] + x[1, 1]
    expected[0, 0] = expected[0, 0] + expected[1, 1]
    assert x.tolist() == expected.tolist()
    assert [row.tolist() for row in x] == expected.tolist()
    assert [element.item() for element in x[1]] == expected[1].tolist()


def test_numbers_are_rounded_or_refused_as_by_other_assignments() -> None:
    values = [0.1, 1e300, -1e300, 1e-50, float("inf"), float("nan"), 2**53 + 1, 10**400, 3 + 1j, True, -1, 255, 256]
    for dtype in ("float32", "float64", "float16", "int8", "uint8", "int64", "uint64", "bool"):
        for value in values:
            one, other = fe.zeros(3, dtype=dtype), fe.zeros(3, dtype=dtype)
            fe.eval(one)
            results = []
            for write in (
                lambda x, value=value: x.__setitem__(1, value),
                lambda x, value=value: x.__setitem__([1], value),
            ):
                x = one if not results else other
                try:
                    write(x)
                    results.append(repr(x.tolist()))
                except (fe.Error, TypeError, ValueError, OverflowError) as error:
                    results.append(type(error).__name__)
            assert results[0] == results[1], (dtype, value)


def test_keys_out_of_range_and_of_other_kinds_are_errors() -> None:
    x = fe.ones((2, 3))
    fe.eval(x)
    for key in ((2, 0), (0, -4), (0, 2**70), (0, 0, 0)):
        with pytest.raises(fe.InvalidArgumentError, match=r"x\[key\]"):
            x[key]
        with pytest.raises(fe.InvalidArgumentError, match=r"x\[key\]"):
            x[key] = 1
    with pytest.raises(TypeError, match="an array never loses elements"):
        del x[0, 0]
    with pytest.raises(TypeError, match="iteration over an array of 0 dimensions"):
        iter(fe.asarray(1))
    assert x.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_an_element_keeps_no_other_memory() -> None:
    fe.clear_caches() if hasattr(fe, "clear_caches") else None
    before = fe.memory_stats("cpu").live
    x = fe.ones(1_000_000) + 0
    fe.eval(x)
    element = x[5]
    del x
    gc.collect()
    assert fe.memory_stats("cpu").live < before + 1_000_000
    assert element.item() == 1


def test_assignments_do_not_change_what_others_have_of_the_array() -> None:
    def fresh() -> fe.Array:
        x = fe.arange(6, dtype="float32") + 0
        fe.eval(x)
        return x

    twice = fe.graph(lambda y: y * 2)
    holders: dict[str, Any] = {
        "a copy": lambda x: x.copy(),
        "NumPy's view": np.asarray,
        "a memoryview": memoryview,
        "DLPack": np.from_dlpack,
        "a pending result": lambda x: x + 0,
        "a pending slice": lambda x: fe.asarray(x[1:]) * 1,
        "a graph that closes over it": lambda x: fe.graph(lambda y: y + x),
        "a recorded graph": lambda x: _constant_graph(x),
        "a tuple of itself in another array": lambda x: fe.stack([x, x]),
        "asarray": lambda x: fe.asarray(x, copy=True),
        "a pickle": pickle.dumps,
        "an element": lambda x: x[1],
        "an iterator": lambda x: [*x],
    }
    reads = {
        "a memoryview": lambda held: np.asarray(held).tolist(),
        "a graph that closes over it": lambda held: None,  # it sees the change, as documented
        "a recorded graph": lambda held: held.compute(fe.zeros(6))[0].tolist(),
        "a pickle": lambda held: pickle.loads(held).tolist(),
        "an iterator": lambda held: [element.item() for element in held],
    }
    for name, hold in holders.items():
        x = fresh()
        held = hold(x)
        read = reads.get(name, lambda held: held.tolist())
        before = None if name in ("a pending result", "a pending slice") else read(hold(fresh()))
        x[1] = 50
        x[0] = x[1] + 1
        assert x.tolist() == [51, 50, 2, 3, 4, 5], name
        expected = {"a pending result": [0, 1, 2, 3, 4, 5], "a pending slice": [1, 2, 3, 4, 5]}.get(name, before)
        assert read(held) == expected, name
    x = fresh()
    twice(x)
    x[0] = 1
    assert twice(x).tolist() == [2, 2, 4, 6, 8, 10]


def _constant_graph(x: fe.Array) -> Any:
    graph = fe.Graph("cpu")
    y = graph.input((6,))
    graph.output(graph.apply("add", y, graph.constant(x)))
    return graph.compile()


@pytest.mark.parametrize("seed", range(12))
def test_random_writes_through_views_agree_with_numpy(seed: int) -> None:
    """NumPy's views and ferrule's are made and written in the same way; snapshots keep what they had."""
    chance = random.Random(seed)
    expected = np.arange(24.0).reshape(4, 6)
    x = fe.asarray(expected, copy=True)
    pairs: list[tuple[fe.Array, NDArray[Any]]] = [(x, expected)]
    snapshots: list[tuple[Any, list[Any]]] = []
    for step in range(150):
        array, model = chance.choice(pairs)
        what = chance.randrange(8)
        if what <= 3 and model.size:
            key = tuple(chance.randrange(-size, size) for size in model.shape)
            key = key[0] if len(key) == 1 else key
            if what == 3 and model.ndim:
                other = tuple(chance.randrange(size) for size in model.shape)
                array[key] = array[other] * 2 + 1
                model[key] = model[other] * 2 + 1
            elif model.ndim:
                array[key] = float(step)
                model[key] = float(step)
        elif what == 4 and len(pairs) < 8:
            cut = chance.choice([np.s_[1:], np.s_[..., 0], np.s_[::-1], np.s_[:, None] if model.ndim else np.s_[...]])
            if model.ndim and all(model.shape):
                pairs.append((array[cut], model[cut]))
        elif what == 5 and len(pairs) < 8:
            pairs.append((fe.permute_dims(array, range(model.ndim)[::-1]), model.T))
        elif what == 6 and len(snapshots) < 20:
            take = chance.choice(
                [lambda y: y.copy(), np.asarray, lambda y: y + 0, lambda y: [*y] if y.ndim == 1 else y * 1]
            )
            snapshots.append((take(array), model.tolist()))
        elif what == 7 and len(pairs) > 3:
            del pairs[chance.randrange(1, len(pairs))]
        del array, model
        if chance.random() < 0.3:
            for array, model in pairs:
                assert array.tolist() == model.tolist(), step
    for array, model in pairs:
        assert array.tolist() == model.tolist()
    for taken, before in snapshots:
        now = [part.tolist() for part in taken] if isinstance(taken, list) else taken.tolist()
        assert now == before


def test_threads_that_write_different_elements_all_take_effect() -> None:
    x = fe.zeros(8)
    begin = threading.Barrier(8)

    def write(place: int) -> None:
        begin.wait()
        for number in range(200):
            x[place] = x[place] + 1 if number % 2 else float(number + 1)

    threads = [threading.Thread(target=write, args=(place,)) for place in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.tolist() == [200] * 8


def _slice(chance: random.Random) -> slice:
    ends = [None, 0, 1, 2, 3, 7, -1, -2, -9, 2**70]
    return slice(chance.choice(ends), chance.choice(ends), chance.choice([None, 1, 2, -1, -3, 100, -(2**70)]))


@pytest.mark.parametrize("seed", range(4))
def test_random_basic_keys_agree_with_numpy(seed: int) -> None:
    """Integers, slices, None and Ellipsis, of arrays, of views, and writes through what they give."""
    chance = random.Random(seed)
    for number in range(800):
        shape = tuple(chance.choice([0, 1, 2, 3, 5]) for _ in range(chance.randrange(5)))
        whole = np.arange(math.prod(shape), dtype="float32").reshape(shape)
        x = fe.asarray(whole, copy=True)
        model, array = whole, x
        for _ in range(chance.randrange(1, 4)):
            items = [_slice(chance), _slice(chance), None, Ellipsis, chance.randrange(-5, 5)]
            key: Any = tuple(chance.choice(items) for _ in range(chance.randrange(model.ndim + 2)))
            key = key[0] if len(key) == 1 and chance.random() < 0.5 else key
            try:
                model = model[key]
            except IndexError:
                with pytest.raises(IndexError):
                    array[key]
                break
            if np.ndim(model) > 8:
                break
            array = array[key]
            assert array.shape == model.shape
            assert array.tolist() == model.tolist()
            if not isinstance(model, np.ndarray):
                break
            model[...] = array[...] = number
            assert x.tolist() == whole.tolist(), (shape, key)


def test_iteration_reads_the_present_elements() -> None:
    x = fe.arange(4)
    seen = []
    for element in x:
        seen.append(element.item())
        x[3] = 10 * len(seen)
    assert seen == [0, 1, 2, 30]
    elements = iter(fe.ones(3))
    assert elements.__length_hint__() == 3
    next(elements)
    assert len([*elements]) == 2
    with pytest.raises(StopIteration):
        next(elements)
