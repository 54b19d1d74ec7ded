"""Elements that are more than 2^31 elements apart: their offsets need 64 bits in every kernel.

The memory is a sparse mapping of the host, which kernels access in place. Only the pages in use exist.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from csrc.backends.cuda.tests.processes import Processes

Run = Callable[..., str]

# `far(dtype, width)` makes an array of two rows on the device, and NumPy's array of the same values.
FAR = f"""
import sys
sys.path.insert(0, {str(Path(__file__).resolve().parents[4])!r})
from csrc.backends.cuda.tests.dlpack_objects import IS_COPIED, Producer
registered = []
distance = (1 << 31) + 64  # between the first elements of two rows
no_reserve = 0x4000
def far(dtype, width, least=-9, most=9):
    size = 2 * distance * np.dtype(dtype).itemsize
    mapped = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | no_reserve)
    rows = np.frombuffer(mapped, dtype).reshape(2, distance)[:, :width]
    rows[:] = np.random.default_rng(width).integers(least, most, (2, width))
    registered.append(fe.buffer_from_host_ptr(rows, "cuda", copy=False))
    assert registered[-1].placement == "borrowed"
    # As another library's array to which nobody writes: views of it are read in place, and not copied.
    producer = Producer(rows.ctypes.data, 2, width, dtype=dtype, strides=(distance, 1), flags=IS_COPIED)
    return fe.from_dlpack(producer, copy=False), rows.copy()

def of(function, *arrays):
    return np.asarray(function(*arrays))  # a graph would copy its arguments to contiguous memory
def same(got, want, tolerance=1e-5):
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
"""

PROGRAMS = {
    "elementwise": """
for dtype in ("float32", "int8", "int64"):
    x, rows = far(dtype, 300)
    same(of(lambda x: x + 1, x), rows + 1)
    same(of(lambda x: x * x, x), rows * rows)
    same(of(lambda x: x[::-1, ::-2] + x[:, :150], x), rows[::-1, ::-2] + rows[:, :150])
    same(of(lambda x: x.T + x.T, x), 2 * rows.T)
    same(of(lambda x: fe.where(x > 0, x, -x), x), abs(rows))
    same(of(lambda x: x.astype("float64") / 4, x), rows / 4)
""",
    "copy": """
for dtype in ("float32", "float16", "int8", "complex128"):
    x, rows = far(dtype, 300)
    for view in (lambda x: x, lambda x: x.T, lambda x: x[::-1], lambda x: x[:, ::-1], lambda x: x[:, 1:200:3]):
        same(np.asarray(view(x)), view(rows))
    got = of(lambda x: fe.concat([fe.permute_dims(x[:, None, :], (2, 1, 0))] * 20, axis=1), x)
    same(got, np.concatenate([rows[:, None].transpose(2, 1, 0)] * 20, axis=1))
""",
    "movement": """
for dtype in ("float32", "int8"):
    x, rows = far(dtype, 300)
    same(of(lambda x: fe.concat([x, x[::-1], x], axis=0), x), np.concatenate([rows, rows[::-1], rows]))
    same(of(lambda x: fe.concat([x, x], axis=1), x), np.concatenate([rows, rows], axis=1))
    for axis, indices in ((0, [1, 0, -1, 1]), (1, [299, 0, 7])):
        there = put(indices, np.int64)
        same(of(lambda x, i: fe.take(x, i, axis=axis), x, there), np.take(rows, indices, axis=axis))
    same(of(lambda x: fe.pad(x, [(1, 2), (3, 0)]), x), np.pad(rows, [(1, 2), (3, 0)]))
""",
    "slices": """
for dtype in ("float32", "int8"):
    x, rows = far(dtype, 300)
    for i, j in ((1, 7), (0, 200), (1, 0)):
        starts = put(i, np.int64), put(j, np.int64)
        same(of(lambda x: fe.dynamic_slice(x, starts, (1, 90)), x), rows[i : i + 1, j : j + 90])
""",
    "reduction": """
for dtype in ("float32", "float16", "int32"):
    x, rows = far(dtype, 300)
    rows = rows.astype("float64")
    for axis in (0, 1, None):
        same(of(lambda x: fe.sum(x, axis=axis), x), rows.sum(axis=axis))
        same(of(lambda x: fe.max(x, axis=axis), x), rows.max(axis=axis))
        same(of(lambda x: fe.argmin(x, axis=axis), x), rows.argmin(axis=axis))
    same(of(lambda x: fe.sum(x.T[::-1], axis=0), x), rows.sum(axis=1))
""",
    "normalization": """
for dtype, tolerance in (("float32", 1e-5), ("float16", 8e-3)):
    x, rows = far(dtype, 300)
    for view in (lambda x: x, lambda x: x.T):
        want = view(rows.astype("float64"))
        for axis in (0, 1):
            same(of(lambda x: fe.softmax(view(x), axis=axis), x), softmax(want, axis), tolerance)
        want = (want - want.mean(axis=1, keepdims=True)) / np.sqrt(want.var(axis=1, keepdims=True) + 1e-5)
        same(of(lambda x: fe.layer_norm(view(x)), x), want, tolerance)
""",
    "matmul": """
for dtype in ("float32", "float16", "int8", "float64"):
    x, rows = far(dtype, 96, -3, 3)
    other = np.random.default_rng(1).integers(-3, 3, (96, 40)).astype(dtype)
    near = put(other, dtype)
    same(of(lambda x, y: x @ y, x, near), rows @ other)
    same(of(lambda x, y: y.T @ x.T, x, near), other.T @ rows.T)
    same(of(lambda x: x @ x.T, x), rows @ rows.T)
    same(of(lambda x: x.T @ x, x), rows.T @ rows)
""",
    "attention": """
for dtype in ("float32", "float16"):
    x, rows = far(dtype, 64, -2, 2)
    attend = fe.scaled_dot_product_attention
    got = of(lambda x: attend(x[None, None, :1], x[None, None], x[None, None]), x)[0, 0]
    keys = rows.astype("float64")
    same(got, softmax(keys[:1] @ keys.T / 8, 1) @ keys, 2e-3)
    same(of(lambda x: attend(x[:, None, None], x[:, None, None], x[:, None, None]), x)[:, 0, 0], rows)
""",
    "topk": """
x, rows = far("float32", 300, -1000, 1000)
for k in (3, 200):
    values, _ = fe.topk(x, k, axis=1)
    same(np.asarray(values), -np.sort(-rows, axis=1)[:, :k])
values, indices = map(np.asarray, fe.topk(x, 2, axis=0))
same(values, -np.sort(-rows, axis=0))
same(np.take_along_axis(rows, indices, axis=0), values)
""",
    "blocks": """
x, rows = far("float32", 320)
for name in ("q8_0", "q4_0"):
    packed = fe.to_packed(x.astype(name))
    assert packed.tobytes() == fe.to_packed(put(rows).astype(name)).tobytes()
""",
}


def test_far_elements_of_generated_kernels_are_those_of_the_module(module: Path, start: Processes) -> None:
    library = module.parents[4] / "tests" / "emulation" / "cuda" / "libemulated-nvrtc.so"
    if not library.exists():
        pytest.skip("needs the target emulated-nvrtc")
    program = """
x, rows = far("float32", 300)
same(of(lambda x: x * x, x), rows * rows)
same(of(lambda x: x[::-1, ::-2] - x[:, :150], x), rows[::-1, ::-2] - rows[:, :150])
"""
    settings = {"FERRULE_CUDA_NVRTC": str(library), "FERRULE_CUDA_GENERATE_FROM": "0"}
    assert start(FAR + program, **settings).calls.count("nvrtcCompileProgram") >= 2


@pytest.mark.parametrize("program", PROGRAMS)
def test_far_elements_are_those_of_numpy(program: str, run: Run) -> None:
    run(FAR + PROGRAMS[program])
