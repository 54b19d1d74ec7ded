"""Products of float32 whose operands are rounded to tf32, which the option `tf32` asks for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from csrc.backends.cuda.tests.processes import Processes

Run = Callable[..., str]

TILES = ("large", "medium", "small", "rows", "columns")
LAYOUTS = ("kk", "kn", "mk", "mn")

PRELUDE = """
import hashlib
rng = np.random.default_rng(0)

def tf32(x):
    # 10 bits behind the point; ties away from zero.
    mantissa, exponent = np.frexp(np.asarray(x, np.float64))
    return np.ldexp(np.sign(mantissa) * np.floor(np.abs(mantissa) * 2048 + 0.5), exponent - 11)

def matrix(*shape):
    return fe.asarray(rng.standard_normal(shape).astype("float32"), device="cuda")

# The letters of a layout are the axes along which the operands are contiguous.
def operands(layout, m, n, k, batches=()):
    return (matrix(*batches, *((m, k) if layout[0] == "k" else (k, m))),
            matrix(*batches, *((n, k) if layout[1] == "k" else (k, n))))

def turned(layout, a, b):
    return a if layout[0] == "k" else a.mT, b.mT if layout[1] == "k" else b

def product(layout):
    def multiply(a, b):
        a, b = turned(layout, a, b)
        return a @ b
    return fe.graph(multiply)

def kernel(graph, *arrays):
    return graph.trace(*arrays).placement()["nodes"][-1]["kernel"]

# Rounding of each sum in float32, and none of the operands: they are rounded here.
def check(got, a, b):
    a, b = tf32(a), tf32(b)
    want, bound = a @ b, (a.shape[-1] + 1) * 2.0**-24 * (np.abs(a) @ np.abs(b)) + 1e-37
    assert got.shape == want.shape and got.dtype == fe.float32
    assert (np.abs(np.asarray(got, np.float64) - want) <= bound).all(), np.abs(np.asarray(got) - want).max()
"""


# How many tiles fill a device depends on its multiprocessors.
@pytest.fixture
def on_device(run: Run) -> Run:
    settings = {"FERRULE_EMULATION_MULTIPROCESSORS": "2", "FERRULE_CUDA_TF32": "1"}
    return lambda program, **variables: run(PRELUDE + program, **settings | variables)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_products_are_those_of_rounded_operands(on_device: Run, layout: str) -> None:
    # Each tile; tails of M, N and K; one segment, several, and several that blocks share.
    on_device(f"""
layout = "{layout}"
for m, n, k, tile in ((260, 264, 36, "large"), (200, 72, 40, "medium"), (136, 132, 1100, "large"),
                      (40, 50, 33, "small"), (33, 34, 1, "small"), (60, 66, 1100, "small"),
                      (16, 70, 130, "rows"), (1, 37, 600, "rows"),
                      (3, 5, 7, "rows"), (70, 16, 90, "columns"), (65, 1, 1300, "columns"), (17, 9, 9, "columns")):
    a, b = operands(layout, m, n, k)
    graph = product(layout)
    name, axes = kernel(graph, a, b).rsplit("_", 1)
    assert name == f"matmul_tf32.{{tile}}", (m, n, k, name)
    assert axes == layout or 1 in (m, n, k), (m, n, k, axes)
    got = graph(a, b)
    check(got, *turned(layout, np.asarray(a), np.asarray(b)))
    # The rounding can be seen.
    exact = np.matmul(*(np.asarray(x, np.float64) for x in turned(layout, np.asarray(a), np.asarray(b))))
    assert k < 8 or np.abs(np.asarray(got) - exact).max() > 1e-5
""")


def test_operands_may_have_any_strides_and_batches(on_device: Run) -> None:
    on_device("""
def same(function, *arrays):
    graph = fe.graph(function)
    assert kernel(graph, *arrays).startswith("matmul_tf32."), kernel(graph, *arrays)
    got = graph(*arrays)
    check(got, *parts(*(np.asarray(x) for x in arrays)))

a, b = matrix(70, 81), matrix(81, 75)
for parts in (lambda a, b: (a[:, 1:], b[1:]), lambda a, b: (a[::-1, :40], b[:40, ::2]),
              lambda a, b: (a[1:, ::3], b[:27]), lambda a, b: (a[:, :8], b[3:11, 1:])):
    same(lambda a, b: fe.matmul(*parts(a, b)), a, b)
a, b = matrix(3, 1, 20, 36), matrix(2, 36, 40)
parts = lambda a, b: (a, b)
same(lambda a, b: a @ b, a, b)
parts = lambda a, b: (a, b[0])
same(lambda a, b: a @ b[0], a, b)
parts = lambda a, b: (a[:, 0].transpose(1, 0, 2), b[1])
same(lambda a, b: fe.permute_dims(a[:, 0], (1, 0, 2)) @ b[1], a, b)
""")


def test_a_row_has_the_same_bits_for_each_number_of_rows_and_in_batches(on_device: Run) -> None:
    on_device("""
kernels = set()
for n, k in ((264, 40), (72, 1100), (1030, 1300), (9, 600)):
    a, b = operands("kk", 300, n, k)
    alone = None
    for m in (1, 7, 17, 65, 129, 300):
        rows = fe.asarray(a[:m])
        fe.eval(rows)
        graph = product("kk")
        kernels.add(kernel(graph, rows, b).split(".")[1])
        got = np.asarray(graph(rows, b))
        alone = got[0] if alone is None else alone
        assert got[0].tobytes() == alone.tobytes(), (m, n, k)
    batch = fe.graph(lambda a, b: fe.broadcast_to(a[:20], (3, 20, k)) @ b.mT)
    assert np.asarray(batch(a, b))[2, 0].tobytes() == alone.tobytes(), (n, k)
assert {name[:-3] for name in kernels} == {"large", "medium", "small", "rows", "columns"}, kernels
""")


def test_nan_and_infinities_reach_their_row_and_column_alone(on_device: Run) -> None:
    on_device("""
for shape in ((136, 140, 40), (40, 50, 40), (9, 50, 40), (40, 8, 40)):
    for layout in ("kk", "mn"):
        m, n, k = shape
        a, b = np.ones((m, k), "float32"), np.ones((k, n), "float32")
        a[5, 39] = np.array(0x7fffffff, np.uint32).view(np.float32)  # NaN of all bits
        b[0, 7] = np.inf
        a[6, 3] = np.float32(3.4028235e38)  # rounds to infinity
        x, y = turned(layout, a, b)
        got = np.asarray(product(layout)(put(np.ascontiguousarray(x)), put(np.ascontiguousarray(y))))
        want = np.full((m, n), np.float32(k))
        want[:, 7] = want[6] = np.inf
        want[5] = np.nan
        np.testing.assert_array_equal(got, want)
""")


def test_fused_ops_change_no_bit(on_device: Run) -> None:
    on_device("""
for layout in ("kk", "kn", "mk", "mn"):
    for m, n, k in ((200, 140, 40), (40, 50, 90), (3, 70, 130), (70, 3, 60), (40, 50, 1300)):
        a, b = operands(layout, m, n, k)
        bias = matrix(n)
        def layer(a, b, bias):
            a, b = turned(layout, a, b)
            return fe.relu(a @ b + bias) * 2
        graph, alone = fe.graph(layer), fe.graph(layer, fuse=False)
        assert "tf32" in str(graph.trace(a, b, bias).placement()["nodes"])
        assert np.asarray(graph(a, b, bias)).tobytes() == np.asarray(alone(a, b, bias)).tobytes()
""")


DIGESTS = """
for m, n, k in ((136, 132, 1100), (40, 50, 33), (16, 70, 130), (70, 16, 90)):
    for layout in ("kk", "mn"):
        a, b = operands(layout, m, n, k)
        graph = product(layout)
        print(kernel(graph, a, b), hashlib.sha256(np.asarray(graph(a, b)).tobytes()).hexdigest())
"""


def test_it_is_off_by_default_and_on_older_gpus(on_device: Run, run: Run) -> None:
    two = {"FERRULE_EMULATION_MULTIPROCESSORS": "2"}
    default = run(PRELUDE + DIGESTS, **two)
    assert "tf32" not in default
    assert run(PRELUDE + DIGESTS, **two, FERRULE_CUDA_TF32="0") == default
    assert on_device(DIGESTS, FERRULE_EMULATION_CAPABILITY="7.5") == default
    rounded = on_device(DIGESTS)
    assert rounded.count("matmul_tf32.") == 8
    assert not set(rounded.split()) & set(default.split())
    assert on_device(DIGESTS, FERRULE_EMULATION_CAPABILITY="8.0") == rounded
    assert run(PRELUDE + 'fe.device("cuda").open(tf32=True)\n' + DIGESTS, **two) == rounded


def test_other_dtypes_are_as_without_it(on_device: Run) -> None:
    on_device("""
for dtype in ("float16", "bfloat16", "float64", "int32"):
    a, b = (x.astype(dtype) for x in operands("kn", 20, 30, 40))
    fe.eval(a, b)
    graph = fe.graph(lambda a, b: a @ b)
    assert "tf32" not in kernel(graph, a, b)
""")


def test_weights_in_blocks_are_multiplied_in_float32_for_each_number_of_rows(on_device: Run, run: Run) -> None:
    program = """
for k in (256, 1024):
    w = matrix(70, k).astype("q8_0")
    x = matrix(40, k)
    fe.eval(w, x)
    graph = fe.graph(lambda x, w: x @ w.astype("float32").mT)
    all_rows = np.asarray(graph(x, w))
    print(hashlib.sha256(all_rows.tobytes()).hexdigest())
    for m in (1, 5, 17):
        rows = fe.asarray(x[:m])
        fe.eval(rows)
        assert np.asarray(graph(rows, w)).tobytes() == all_rows[:m].tobytes(), (k, m)
"""
    assert on_device(program) == run(PRELUDE + program, FERRULE_EMULATION_MULTIPROCESSORS="2")


def test_doctor_does_not_take_rounded_products_for_wrong_ones(run: Run) -> None:
    # As a module, which is what a user runs; its exit is 1 if it finds a device that computes wrongly.
    program = """
import subprocess, sys
done = subprocess.run([sys.executable, "-m", "ferrule", "doctor", "cuda"], capture_output=True, text=True)
assert done.returncode == 0 and "softmax(x @ w + b)" in done.stdout, done.stdout + done.stderr
"""
    run(program, FERRULE_CUDA_TF32="1")


def test_cublaslt_uses_tf32_only_with_both_options(module: Path, start: Processes) -> None:
    library = module.parents[4] / "tests" / "emulation" / "cuda" / "libemulated-cublaslt.so"
    if not library.exists():
        pytest.skip("needs the target emulated-cublaslt")
    program = """
a, b = matrix(24, 32), matrix(32, 40)
print(hashlib.sha256(np.asarray(a @ b).tobytes()).hexdigest())
check(a @ b, a, b) if os.environ.get("FERRULE_CUDA_TF32") == "1" else None
"""
    outputs = {}
    for tf32 in ("0", "1"):
        done = start(PRELUDE + program, FERRULE_CUDA_CUBLASLT=str(library), FERRULE_CUDA_TF32=tf32)
        assert done.calls.count("cublasLtMatmul") > 0
        outputs[tf32] = done.output
    assert outputs["0"] != outputs["1"]
    done = start(PRELUDE + program, FERRULE_CUDA_CUBLASLT=str(library))
    assert done.output == outputs["0"]
