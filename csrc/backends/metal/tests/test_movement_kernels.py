"""The kernels in MSL that move elements, for items of each size: NumPy's results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from csrc.backends.metal.tests.emulated_msl import EmulatedMsl, emulator, with_includes

Array = NDArray[Any]

ITEMS = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}
INDICES = {"int32": "int", "int64": "long"}
THREADS = 64
FAULT, PARAMETERS = 29, 30  # buffers
RESULT = 7  # the value that messages name
FAULT_OF_INDEX = 1
LAYOUT = np.dtype({"names": ["rank", "shape", "strides"], "formats": ["u4", "8i8", "8i8"], "offsets": [0, 8, 72]})


@pytest.fixture(scope="module")
def msl() -> EmulatedMsl:
    return emulator()


@pytest.fixture(params=ITEMS)
def item_size(request: pytest.FixtureRequest) -> int:
    size: int = request.param
    return size


def items(rng: np.random.Generator, shape: tuple[int, ...], size: int) -> Array:
    return rng.integers(0, 2 ** (8 * size) - 1, shape, f"u{size}", endpoint=True)


def layout(shape: Sequence[int], strides: Sequence[int]) -> Array:
    """Sizes from the last axis backwards, strides in elements."""
    made = np.zeros((), LAYOUT)
    made["rank"] = len(shape)
    made["shape"][: len(shape)] = shape[::-1]
    made["strides"][: len(shape)] = strides[::-1]
    return made


def layout_of(x: Array, axes: slice = slice(None)) -> Array:
    return layout(x.shape[axes], [stride // x.itemsize for stride in x.strides][axes])


def parameters(**fields: Any) -> Array:
    """A struct of MSL: layouts, arrays of longs, and numbers. Numbers named in `UINTS` are uints, others are longs."""
    whole: list[tuple[str, Any]] = []
    for name, value in fields.items():
        if isinstance(value, np.ndarray) and value.dtype == LAYOUT:
            whole.append((name, LAYOUT))
        elif isinstance(value, np.ndarray):
            whole.append((name, ("i8", value.shape)))
        else:
            whole.append((name, "u4" if name in UINTS else "i8"))
    made = np.zeros(1, np.dtype(whole, align=True))
    for name, value in fields.items():
        made[name] = value
    return made


UINTS = ("rank", "tiles", "result", "start_count")


def text(file: str, size: int, index: str = "int64", **defined: int) -> str:
    lines = [f"typedef {ITEMS[size]} Item;", f"typedef {INDICES[index]} Index;"]
    lines += [f"#define {name} {value}" for name, value in defined.items()]
    return with_includes("\n".join(["#include <metal_stdlib>", *lines, f'#include "movement/{file}.metal"', ""]))


def base_of(x: Array) -> Array:
    """The memory from the first element of an array on, as it is bound. Strides must not be negative."""
    base = x if x.base is None else x.base
    assert isinstance(base, np.ndarray)
    flat = base.reshape(-1)
    offset = (x.ctypes.data - base.ctypes.data) // x.itemsize
    return flat[offset:]


def run(msl: EmulatedMsl, source: str, kernel: str, buffers: Sequence[Array], p: Array, count: int) -> list[int]:
    """Run a kernel on `count` threads or more, and return the fault record."""
    fault = np.zeros(4, np.int64)
    bound: Mapping[int, Array] = {**dict(enumerate(buffers)), FAULT: fault, PARAMETERS: p}
    msl.run(source, kernel, bound, -(-count // THREADS), THREADS)
    kind, what = fault[:1].view(np.uint32).tolist()
    return [kind, what, *fault[1:].tolist()]


NO_FAULT = [0, 0, 0, 0, 0]


def test_copies_read_and_write_any_strides(msl: EmulatedMsl, item_size: int) -> None:
    rng = np.random.default_rng(0)
    source = items(rng, (6, 9, 10), item_size)[1:, ::2, 3:].transpose(2, 0, 1)
    memory = np.zeros((5, 14, 14), f"u{item_size}")
    target = memory[:, ::2, ::2].transpose(1, 0, 2)[:, :, :5]
    assert source.shape == target.shape == (7, 5, 5)
    p = parameters(source=layout_of(source), to=layout_of(target), count=source.size)
    run(msl, text("copy", item_size), "copy_items", [base_of(source), base_of(target)], p, source.size)
    assert (target == source).all()
    assert np.count_nonzero(memory) <= source.size  # nothing beside the array is written


def test_threads_are_numbered_along_all_axes_of_a_grid(msl: EmulatedMsl) -> None:
    x = items(np.random.default_rng(7), (4, 3, 2, THREADS), 4)
    y = np.zeros_like(x)
    p = parameters(source=layout_of(x.reshape(-1)), to=layout_of(y.reshape(-1)), count=x.size)
    msl.run(text("copy", 4), "copy_items", {0: x, 1: y, PARAMETERS: p}, (2, 3, 4), THREADS)
    assert (y == x).all()


def test_tiles_transpose(msl: EmulatedMsl, item_size: int) -> None:
    rng = np.random.default_rng(1)
    for shape in ((3, 70, 33), (1, 1, 40), (2, 32, 64)):
        x = items(rng, shape, item_size)
        y = np.zeros((shape[0], shape[2], shape[1]), x.dtype)
        # The axis that is contiguous in the result, the one that is contiguous in the array, the others.
        axes = np.zeros((8, 3), np.int64)
        axes[0] = (shape[1], shape[2], 1)
        axes[1] = (shape[2], 1, shape[1])
        axes[2] = (shape[0], shape[1] * shape[2], shape[1] * shape[2])
        tiles = shape[0] * -(-shape[1] // 32) * -(-shape[2] // 32)
        p = parameters(axes=axes, rank=3, tiles=tiles)
        # One group too many: it has no tile.
        run(msl, text("transpose", item_size), "transpose_tiles", [x, y], p, (tiles + 1) * THREADS)
        assert (y == x.transpose(0, 2, 1)).all()


def test_arrays_are_joined(msl: EmulatedMsl, item_size: int) -> None:
    rng = np.random.default_rng(2)
    parts = [items(rng, shape, item_size) for shape in ((4, 2, 5), (4, 3, 5), (4, 1, 5))]
    parts[1] = items(rng, (5, 3, 4), item_size).T
    y = np.zeros((4, 6, 5), f"u{item_size}")
    start = 0
    for part in parts:
        row = part.shape[1] * 5
        p = parameters(source=layout_of(part), count=part.size, row=row, to_row=30, start=start)
        run(msl, text("concat", item_size), "concat", [base_of(part), y], p, part.size)
        start += row
    assert (y == np.concatenate(parts, axis=1)).all()


@pytest.mark.parametrize("has_value", [0, 1])
def test_elements_are_added_around_an_array(msl: EmulatedMsl, item_size: int, has_value: int) -> None:
    rng = np.random.default_rng(3)
    x, value = items(rng, (3, 4, 5), item_size), items(rng, (1,), item_size)
    widths = [(1, 2), (0, 3), (2, 0)]
    wanted = np.pad(x, widths, constant_values=value[0] if has_value else 0)
    axes = np.zeros((8, 4), np.int64)
    for k in range(3):
        axes[2 - k] = (wanted.shape[k], widths[k][0], x.shape[k], x.strides[k] // x.itemsize)
    y = np.ones(wanted.shape, x.dtype)
    p = parameters(axes=axes, count=y.size, rank=3)
    source = text("pad", item_size, HAS_VALUE=has_value)
    run(msl, source, "pad", [x, value, y] if has_value else [x, y], p, y.size)
    assert (y == wanted).all()


def taking(x: Array, indices: Array, axis: int, y: Array) -> Array:
    return parameters(
        outer=layout_of(x, slice(axis)),
        inner=layout_of(x, slice(axis + 1, None)),
        indices=layout_of(indices),
        count=y.size,
        inner_count=int(np.prod(x.shape[axis + 1 :])),
        index_count=indices.size,
        size=x.shape[axis],
        stride=x.strides[axis] // x.itemsize,
        axis=axis,
        result=RESULT,
    )


@pytest.mark.parametrize("index", INDICES)
def test_elements_are_taken_at_indices(msl: EmulatedMsl, item_size: int, index: str) -> None:
    rng = np.random.default_rng(4)
    x = items(rng, (5, 4, 6), item_size).transpose(1, 2, 0)
    indices = rng.integers(-6, 6, (11,)).astype(index)
    y = np.zeros((4, 11, 5), x.dtype)
    p = taking(x, indices, 1, y)
    source = text("take", item_size, index)
    assert run(msl, source, "take", [base_of(x), indices, y], p, y.size) == NO_FAULT
    assert (y == np.take(x, indices, axis=1)).all()


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("wrong", [6, -7, 2**31 - 1])
def test_an_index_out_of_bounds_is_a_fault(msl: EmulatedMsl, index: str, wrong: int) -> None:
    x = np.arange(4 * 6 * 5, dtype=np.uint32).reshape(4, 6, 5)
    indices = np.array([0, 5, wrong, -6]).astype(index)
    y = np.zeros((4, 4, 5), x.dtype)
    p = taking(x, indices, 1, y)
    assert run(msl, text("take", 4, index), "take", [x, indices, y], p, y.size) == [FAULT_OF_INDEX, RESULT, wrong, 6, 1]
    assert (y[:, [0, 1, 3]] == x[:, [0, 5, 0]]).all()
    assert (y[:, 2] == 0).all()


@pytest.mark.parametrize("index", INDICES)
def test_each_element_has_an_index(msl: EmulatedMsl, item_size: int, index: str) -> None:
    rng = np.random.default_rng(5)
    x = items(rng, (4, 6, 5), item_size)
    indices = rng.integers(-6, 6, (4, 9, 5)).astype(index)
    y = np.zeros(indices.shape, x.dtype)
    others = layout((4, 9, 5), (30, 0, 1))
    fields = {"others": others, "indices": layout_of(indices), "count": y.size, "size": 6, "stride": 5, "axis": 1}
    source = text("take_along_axis", item_size, index)
    p = parameters(**fields, result=RESULT)
    assert run(msl, source, "take_along_axis", [x, indices, y], p, y.size) == NO_FAULT
    assert (y == np.take_along_axis(x, indices % 6, axis=1)).all()
    indices[3, 8, 4] = -7
    found = run(msl, source, "take_along_axis", [x, indices, y], p, y.size)
    assert found == [FAULT_OF_INDEX, RESULT, -7, 6, 1]


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("joined", [1, 2])
@pytest.mark.parametrize("wrong", [None, 12])
def test_values_are_scattered_and_the_last_one_stays(
    msl: EmulatedMsl, item_size: int, index: str, joined: int, wrong: int | None
) -> None:
    rng = np.random.default_rng(6)
    y = items(rng, (4, 3, 2, 5), item_size)
    before = y.copy()
    size = 3 if joined == 1 else 6
    indices = rng.integers(-size, size, (40,)).astype(index)
    if wrong is not None:
        indices[17] = wrong
    values = items(rng, (4, 40, *y.shape[1 + joined :]), item_size)
    notes = np.full(size + 1, 99, np.uint32)
    fields = {
        "values": layout_of(values),
        "indices": layout_of(indices),
        "outer": layout_of(y, slice(1)),
        "axis": layout_of(y, slice(1, 1 + joined)),
        "inner": layout_of(y, slice(1 + joined, None)),
    }

    def scatter(kernel: str, count: int, *buffers: Array) -> list[int]:
        inner_count = int(np.prod(y.shape[1 + joined :]))
        p = parameters(
            **fields, count=count, inner_count=inner_count, index_count=40, size=size, number_of_axis=1, result=RESULT
        )
        return run(msl, text("scatter", item_size, index), kernel, buffers, p, count)

    scatter("clear_notes", size + 1, notes)
    fault = scatter("note_last", 40, indices, notes)
    scatter("write_values", values.size, values, indices, notes, y)
    if wrong is not None:
        assert fault == [FAULT_OF_INDEX, RESULT, wrong, size, 1]
        assert (y == before).all()
        return
    assert fault == NO_FAULT
    flat = before.reshape(4, size, *y.shape[1 + joined :])
    for number, place in enumerate(indices.tolist()):
        flat[:, place] = values[:, number]
    assert (y == before).all()


@pytest.mark.parametrize("index", INDICES)
@pytest.mark.parametrize("is_written", [0, 1])
def test_slices_start_where_operands_tell(msl: EmulatedMsl, item_size: int, index: str, is_written: int) -> None:
    rng = np.random.default_rng(7)
    whole, part = items(rng, (7, 6, 5), item_size), items(rng, (3, 2, 4), item_size)
    starts = [np.array([start]).astype(index) for start in (4, 1, 0)]
    # struct Start { uint axis; long most, stride; }
    rows = np.zeros((8, 3), np.int64)
    rows[:3] = [(axis, whole.shape[axis] - part.shape[axis], whole.strides[axis] // item_size) for axis in range(3)]
    moved = layout(part.shape, [stride // item_size for stride in whole.strides])
    source, target = (part, whole) if is_written else (whole, part)
    layouts = (layout_of(part), moved) if is_written else (moved, layout_of(part))
    code = text("slicing", item_size, index, MOVED_IS_WRITTEN=is_written)
    wanted = whole.copy()
    wanted[4:7, 1:3, 0:4] = part

    def move() -> list[int]:
        p = parameters(source=layouts[0], to=layouts[1], count=part.size, result=RESULT, start_count=3, starts=rows)
        bound = [*starts, *[starts[0]] * 5]
        return run(msl, code, "move_slice", [source, *bound, target], p, part.size)

    assert move() == NO_FAULT
    assert (whole == wanted).all() if is_written else (part == whole[4:7, 1:3, 0:4]).all()
    starts[1][0] = 5
    kept = target.copy()
    assert move() == [FAULT_OF_INDEX, RESULT, 5, 5, 1]
    assert (target == kept).all()


def test_elements_may_be_further_apart_than_32_bits_can_tell(run: Callable[..., str]) -> None:
    program = """
import mmap, tempfile
with tempfile.TemporaryFile() as file:  # without blocks on disk but those that are written
    file.truncate(1 << 32)
    x = np.frombuffer(mmap.mmap(file.fileno(), 1 << 32), np.uint8)
x[:: 1 << 30] = 1, 2, 3, 4
y = fe.buffer_from_host_ptr(x, device="metal:0", copy=False)
print(np.asarray(y[:: 1 << 30] + y[0]), np.asarray(fe.astype(y[3 << 30 :: -(1 << 30)], "int32")))
print(np.asarray(fe.sum(fe.reshape(y, (2, 2, 1 << 30))[:, :, 0], axis=0)))
"""
    assert run(program, FERRULE_EMULATION_METAL_MEMORY=str(1 << 34)) == "[2 3 4 5] [4 3 2 1]\n[4 6]\n"
