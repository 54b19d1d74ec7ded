"""Donated arrays may be overwritten: a call writes no more than a slice, and no other array changes."""

from __future__ import annotations

import copy
import gc
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

ROWS, COLUMNS = 1024, 1024  # 4 MB
rng = np.random.default_rng(0)


def computed(x: Any) -> fe.Array:
    """An array in memory that ferrule owns."""
    array = fe.asarray(x) * 1
    fe.eval(array)
    return array


def in_use() -> int:
    return fe.memory_stats("cpu").live


@fe.graph(donate=0)
def written(x: fe.Array, row: fe.Array, i: int) -> fe.Array:
    return fe.update_slice(x, row, (i, 0))


@pytest.fixture(autouse=True)
def _compiled() -> None:
    """Compiles first, so that no test counts the memory that compiling takes."""
    written(computed(np.zeros((ROWS, COLUMNS), "float32")), computed(np.ones((1, COLUMNS), "float32")), 0)


def test_result_uses_the_memory_of_the_donated_array() -> None:
    x, row = computed(np.zeros((ROWS, COLUMNS), "float32")), computed(np.ones((1, COLUMNS), "float32"))
    before = in_use()
    kept = [x]
    for i in range(50):
        kept.append(written(kept[-1], row, i))
    assert in_use() - before < 100_000, "the donated arrays have no memory"
    np.testing.assert_array_equal(np.asarray(kept[-1]).sum(axis=1), [COLUMNS] * 50 + [0] * (ROWS - 50))


def test_a_donated_array_says_where_it_was_donated() -> None:
    x, row = computed(np.zeros((3, 2), "float32")), computed(np.ones((1, 2), "float32"))
    written(x, row, 1)
    uses: list[Any] = [
        lambda: np.asarray(x),
        lambda: x + 1,
        lambda: x[0],
        lambda: fe.eval(x),
        lambda: x.tolist(),
        lambda: written(x, row, 0),
        lambda: fe.graph(lambda a: a + 1)(x),
        lambda: fe.Graph("cpu").constant(x),
        lambda: np.from_dlpack(x),
    ]
    for use in uses:
        with pytest.raises(fe.InvalidArgumentError, match=r"donated to written\(\) at .*test_donation.py:\d+"):
            use()
    assert x.shape == (3, 2)
    assert x.dtype == np.float32
    assert "donated to written() at" in repr(x)
    assert "donated to written() at" in x.placement


@pytest.mark.parametrize("shared", [False, True])
def test_the_error_of_a_donated_array_begins_with_what_was_called(shared: bool) -> None:
    x, row = computed(np.zeros((3, 2), "float32")), computed(np.ones((1, 2), "float32"))
    view = np.asarray(x) if shared else None  # the view keeps the memory alive
    written(x, row, 1)
    add = fe.graph(lambda a: a + 1)
    add_all = fe.graph(lambda a, i: a["x"] + i)
    uses: dict[str, Any] = {
        "numpy.asarray()": lambda: np.asarray(x),
        "eval": lambda: fe.eval(x),
        "tolist()": lambda: x.tolist(),
        "+x": lambda: +x,
        "x[key]": lambda: x[:],
        "astype": lambda: x.astype("float32"),
        "copy.copy()": lambda: copy.copy(x),
        "Graph.constant()": lambda: fe.Graph("cpu").constant(x),
        "__dlpack__()": lambda: np.from_dlpack(x),
        "add": lambda: x + 1,
        "written(): argument x": lambda: written(x, row, 0),
        "test_the_error_of_a_donated_array_begins_with_what_was_called.<locals>.<lambda>(): argument a": lambda: add(x),
        "test_the_error_of_a_donated_array_begins_with_what_was_called.<locals>.<lambda>(): argument a['x']": (
            lambda: add_all({"x": x}, 1)
        ),
    }
    for words, use in uses.items():
        with pytest.raises(fe.InvalidArgumentError) as caught:
            use()
        assert str(caught.value).startswith(f"{words}: float32(3, 2) was donated to written() at "), str(caught.value)
    assert view is None or not view.any()


@each("how", ["view", "numpy", "pending", "dlpack", "numpy view of a view"])
def test_shared_donated_array_is_copied(how: str) -> None:
    x, row = computed(np.zeros((4, 3), "float32")), computed(np.ones((1, 3), "float32"))
    have: Any = {
        "view": lambda: x[1:3],
        "numpy": lambda: np.asarray(x),
        "pending": lambda: x + 0,
        "dlpack": lambda: np.from_dlpack(x),
        "numpy view of a view": lambda: np.asarray(x[1:3]),
    }[how]()
    result = written(x, row, 1)
    assert not np.asarray(have).any()
    assert np.asarray(result).sum() == 3
    with pytest.raises(fe.InvalidArgumentError, match="donated"):
        np.asarray(x)


def test_other_readers_see_the_value_before_the_update() -> None:
    x = computed(np.arange(6, dtype="float32").reshape(3, 2))

    @fe.graph(donate=0)
    def both(x: fe.Array, i: int) -> Any:
        return fe.update_slice(x, fe.full((1, 2), 9, dtype="float32"), (i, 0)), x.sum(), x[2] + 1

    result, total, last = both(x, 2)
    assert (float(total), last.tolist()) == (15, [5, 6])
    assert result.tolist() == [[0, 1], [2, 3], [9, 9]]

    @fe.graph(donate=0)
    def passes(x: fe.Array, i: int) -> Any:
        return fe.update_slice(x, fe.full((1, 2), 9, dtype="float32"), (i, 0)), x, x[1]

    y = computed(np.arange(6, dtype="float32").reshape(3, 2))
    result, same, row = passes(y, 1)
    assert result.tolist() == [[0, 1], [9, 9], [4, 5]]
    assert (same.tolist(), row.tolist()) == ([[0, 1], [2, 3], [4, 5]], [2, 3])


def test_array_passed_twice_keeps_its_value() -> None:
    @fe.graph(donate=0)
    def twice(x: fe.Array, other: fe.Array, i: int) -> Any:
        return fe.update_slice(x, fe.ones((1, 2)), (i, 0)), other * 1

    x = computed(np.zeros((3, 2), "float32"))
    result, other = twice(x, x, 0)
    assert not np.asarray(other).any()
    assert np.asarray(result).sum() == 2


def test_donated_constant_of_the_graph_is_kept() -> None:
    x = computed(np.zeros((3, 2), "float32"))

    @fe.graph(donate=0)
    def with_constant(y: fe.Array, i: int) -> Any:
        return fe.update_slice(y, fe.ones((1, 2)), (i, 0)) + x * 0, fe.update_slice(y, fe.ones((1, 2)), (i, 0)), x + 0

    first, second, kept = with_constant(x, 1)
    assert np.asarray(kept).sum() == 0
    assert first.tolist() == second.tolist() == [[0, 0], [1, 1], [0, 0]]


def test_a_call_that_fails_before_it_computes_has_donated_nothing() -> None:
    x, row = computed(np.zeros((3, 2), "float32")), computed(np.ones((1, 2), "float32"))
    step = fe.graph(lambda x, row, i: x.__class__ and _assigned(x, row, i), donate=0)
    step(computed(np.zeros((3, 2), "float32")), row, 0)
    for wrong in (3, -4, 10**30):
        with pytest.raises((IndexError, OverflowError)):
            step(x, row, wrong)
    assert not np.asarray(x).any()


def test_a_number_out_of_range_has_donated_nothing() -> None:
    x, row = computed(np.zeros((3, 2), "float32")), computed(np.ones((1, 2), "float32"))
    written(computed(np.zeros((3, 2), "float32")), row, 0)
    for wrong in (3, -1, 10**30):
        with pytest.raises(fe.OutOfRangeError, match=f"1 element from {wrong} on leave"):
            written(x, row, wrong)
    assert not np.asarray(x).any()

    @fe.graph(donate=0)
    def attends(keys: fe.Array, length: int) -> Any:
        keys = fe.update_slice(keys, fe.ones((1, 4)), (0, 0))
        return fe.scaled_dot_product_attention(keys, keys, keys, kv_length=length), keys

    keys = computed(np.zeros((8, 4), "float32"))
    attends(computed(np.zeros((8, 4), "float32")), 2)
    for wrong in (9, -1):
        with pytest.raises(fe.OutOfRangeError, match=f"kv_length {wrong} is not between 0 and 8"):
            attends(keys, wrong)
    assert not np.asarray(keys).any()


def test_partial_storage_is_not_donated() -> None:
    """Blocks that are not aligned to their size form a separate storage in the memory of the bytes."""
    step = fe.graph(lambda x, row, i: fe.update_slice(x, row, (i,)), donate=0)
    row = computed(np.full(2, 77, "uint8"))
    base = computed(np.arange(102, dtype="uint8"))
    gc.collect()
    before = fe.memory_stats("cpu").live
    bytes_ = fe.Array._of(base._handle.cut(2, "q8_0", (64,)).cut(0, "uint8", (68,)))
    result = step(bytes_, row, 0)
    assert np.asarray(result)[:4].tolist() == [77, 77, 4, 5]
    del result, bytes_
    assert fe.memory_stats("cpu").live == before
    assert np.asarray(base).tolist() == list(range(102))


def test_donating_a_result_keeps_other_results_valid() -> None:
    fresh = fe.graph(lambda x: fe.zeros((4, 2)))
    both = fe.graph(lambda x: (lambda y: (y, +y))(x + 1))
    x, row = computed(np.zeros((4, 2), "float32")), computed(np.ones((1, 2), "float32"))
    for place in range(3):
        assert written(fresh(x), row, place).tolist()[place] == [1, 1]
    one, other = both(x)
    written(one, row, 2)
    assert (np.asarray(other) == 1).all()


def test_donation_place_may_be_any_text() -> None:
    def step(x: fe.Array) -> fe.Array:
        return fe.update_slice(x, fe.ones((1, 2)), (0, 0))

    step.__qualname__ = "a\udcff\0b"
    x = computed(np.zeros((3, 2), "float32"))
    fe.graph(step, donate=0)(x)
    with pytest.raises(fe.InvalidArgumentError, match=r"donated to a\?b\(\) at"):
        np.asarray(x)


def _assigned(x: fe.Array, row: fe.Array, i: int) -> fe.Array:
    x[i] = row[0]
    return x


def test_arrays_in_containers_and_numpy_arrays() -> None:
    @fe.graph(donate=(1,))
    def step(i: int, caches: dict[str, fe.Array]) -> dict[str, fe.Array]:
        return {name: fe.update_slice(cache, fe.ones((1, 2)), (i, 0)) for name, cache in caches.items()}

    caches = {"keys": computed(np.zeros((3, 2), "float32")), "values": computed(np.zeros((3, 2), "float32"))}
    given = dict(caches)
    caches = step(2, caches)
    assert [np.asarray(caches[name]).sum() for name in ("keys", "values")] == [2, 2]
    for array in given.values():
        with pytest.raises(fe.InvalidArgumentError, match="donated to "):
            np.asarray(array)
    numpys = {"keys": np.zeros((3, 2), "float32"), "values": np.zeros((3, 2), "float32")}
    step(1, numpys)  # type: ignore[arg-type]
    assert not numpys["keys"].any()


@each("donate", [-1, (0, -1), 1.0, "x", (True,), {0}])
def test_invalid_donate_argument_is_refused(donate: Any) -> None:
    with pytest.raises(fe.InvalidArgumentError, match="donate is the places of positional arguments"):
        fe.graph(lambda x: x, donate=donate)


def test_donating_a_missing_argument_is_refused() -> None:
    with pytest.raises(fe.InvalidArgumentError, match="argument 1 is donated, and 1 are given"):
        fe.graph(lambda x: x + 1, donate=1)(fe.ones(3))


def test_thread_reading_a_donated_array_gets_its_elements_or_an_error() -> None:
    row = computed(np.ones((1, 512), "float32"))
    wrong: list[str] = []
    for _ in range(30):
        x = computed(np.zeros((512, 512), "float32"))
        ready, stop = threading.Barrier(3), threading.Event()

        def look(x: fe.Array = x, ready: threading.Barrier = ready, stop: threading.Event = stop) -> None:
            ready.wait()
            while not stop.is_set():
                try:
                    total = float((x * 1).sum())
                except fe.InvalidArgumentError:
                    return
                if total != 0:
                    wrong.append(f"saw {total}")

        threads = [threading.Thread(target=look) for _ in range(2)]
        for thread in threads:
            thread.start()
        ready.wait()
        result = written(x, row, 3)
        stop.set()
        for thread in threads:
            thread.join()
        assert float(result.sum()) == 512
    assert wrong == []


# ---- outside of graphs


def test_assignment_in_a_loop_copies_nothing(run_python: Any) -> None:
    """Peak memory is that of one array."""
    run_python(
        "import ferrule as fe, numpy as np\n"
        "x = fe.zeros((1024, 1024), device='cpu') * 1; row = fe.ones(1024, device='cpu') * 1\n"
        "fe.eval(x, row); before = fe.memory_stats('cpu').peak\n"
        "for i in range(40): x[i] = row; fe.eval(x)\n"
        "assert fe.memory_stats('cpu').peak - before < 1_000_000, (fe.memory_stats('cpu'), before)\n"
        "assert np.asarray(x).sum() == 40 * 1024\n"
    )


def test_the_first_call_copies_nothing_either(run_python: Any) -> None:
    run_python(
        "import ferrule as fe, numpy as np\n"
        "x, row = fe.zeros((1024, 1024), device='cpu') * 1, fe.ones((1, 1024), device='cpu') * 1\n"
        "fe.eval(x, row); before = fe.memory_stats('cpu').peak\n"
        "y = fe.graph(lambda x, row, i: fe.update_slice(x, row, (i, 0)), donate=0, device='cpu')(x, row, 3)\n"
        "assert fe.memory_stats('cpu').peak - before < 1_000_000, (fe.memory_stats('cpu'), before)\n"
        "assert np.asarray(y).sum() == 1024\n"
    )


def test_a_donated_array_of_any_layout_is_copied_once() -> None:
    values = np.arange(12, dtype="float32").reshape(3, 4)
    for x in (computed(values).T, computed(values)[:, ::-1], fe.broadcast_to(computed(values[0]), (3, 4))):
        wanted = np.array(x)
        wanted[1, :2] = 1
        result = written(x, fe.ones((1, 2)), 1)
        np.testing.assert_array_equal(np.asarray(result), wanted)
        with pytest.raises(fe.InvalidArgumentError, match="donated"):
            np.asarray(x)


def test_layout_of_a_donated_array_does_not_cause_recompilation() -> None:
    update = fe.graph(lambda x, row, i: fe.update_slice(x, row, (i, 0)), donate=0)
    x, row = fe.zeros((8, 4)), fe.ones((1, 4))
    fe.eval(x)
    for i in range(3):
        x = update(x, row, i)
    x = update(computed(np.zeros((4, 8), "float32")).T, row, 3)
    np.testing.assert_array_equal(np.asarray(x)[:, 0], np.eye(8)[3])
    assert update.cache_info().misses == 1
    assert update.cache_info().hits == 3
    with pytest.raises(fe.InvalidArgumentError):
        update(fe.zeros((8, 3)), row, 0)


ALIASES: dict[str, Any] = {
    "update_slice": lambda x: fe.update_slice(x, fe.zeros((0, 2)), (1, 0)),
    "+x": lambda x: +x,
    "copy": copy.copy,
}


@each("way", ALIASES)
def test_handles_of_one_array_are_donated_separately(way: str) -> None:
    x, row = computed(np.zeros((3, 2), "float32")), computed(np.ones((1, 2), "float32"))
    before = in_use()
    y = ALIASES[way](x)
    fe.eval(y)
    assert in_use() == before, "it has no memory of its own"
    result = written(x, row, 1)
    assert not np.asarray(y).any()
    assert np.asarray(result).sum() == 2
    with pytest.raises(fe.InvalidArgumentError, match="donated"):
        np.asarray(x)


@each("way", ALIASES)
def test_donated_array_gets_no_further_handle(way: str) -> None:
    x, row = computed(np.zeros((3, 2), "float32")), computed(np.ones((1, 2), "float32"))
    written(x, row, 1)
    with pytest.raises(fe.InvalidArgumentError, match=r"donated to written\(\) at"):
        ALIASES[way](x)


def test_aliases_of_an_array_are_one_constant() -> None:
    x = computed(np.ones((3, 2), "float32"))
    graph = fe.Graph("cpu")
    graph.output(graph.input((3, 2)) + graph.constant(x) + graph.constant(x.to_device("cpu")))
    assert str(graph).count("= constant") == 1, str(graph)


def test_earlier_referenced_array_keeps_its_elements() -> None:
    x = computed(np.zeros((8, 4), "float32"))
    y = x
    z = fe.update_slice(x, fe.ones((1, 4)), (3, 0))
    fe.eval(z)
    assert not np.asarray(x).any()
    assert not np.asarray(y).any()
    assert np.asarray(z).sum() == 4


def test_two_threads_may_evaluate_one_update() -> None:
    for _ in range(40):
        x = computed(np.zeros((256, 256), "float32"))
        y = fe.update_slice(x, fe.ones((1, 256)), (5, 0))
        del x
        ready = threading.Barrier(4)
        sums: list[float] = []

        def read(y: fe.Array = y, ready: threading.Barrier = ready, sums: list[float] = sums) -> None:
            ready.wait()
            sums.append(float(np.asarray(y).sum()))

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sums == [256] * 4


def test_failed_update_leaves_its_target_unchanged() -> None:
    x = computed(np.zeros((8, 4), "float32"))
    place = computed(np.asarray(9))
    y = fe.update_slice(x, fe.ones((1, 4)), (place, 0))
    del x
    for _ in range(2):
        with pytest.raises(fe.InvalidArgumentError, match="the start 9 of axis 0"):
            fe.eval(y)


# ---- the example

EXAMPLE = Path(__file__).resolve().parents[3] / "examples/decoder.py"


def test_the_decoder_writes_a_thousand_tokens_with_one_graph() -> None:
    command = [sys.executable, str(EXAMPLE), "--steps", "1000", "--check", "--device", "cpu"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "compiled 1 graph(s)" in done.stdout
