"""Products by cuBLASLt, over a library that computes on the emulated streams: it is off by default, its results are
right, and without it, or when it fails, the module's own kernels run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from csrc.backends.cuda.tests.processes import Done, Processes

Compute = Callable[..., Done]

PRODUCTS = """
rng = np.random.default_rng(0)

def numbers(*shape, dtype="float32"):  # small whole numbers: their sums are exact in any order
    return fe.asarray(rng.integers(-3, 4, shape).astype("float32"), device="cuda").astype(dtype)

def check(a, b):
    fe.eval(a, b)
    got, (x, y) = fe.graph(fe.matmul)(a, b), (np.asarray(z.astype("float32")) for z in (a, b))
    assert got.dtype == a.dtype
    assert (np.asarray(got.astype("float32")) == x @ y).all(), (a.shape, b.shape, a.dtype)
"""

INFO = """
import logging
logging.basicConfig(level=logging.INFO)
fe.set_log_level("info")
"""
FEW = PRODUCTS + 'check(numbers(24, 32), numbers(32, 40))\nprint("right")\n'


@pytest.fixture
def library(module: Path) -> str:
    path = module.parents[4] / "tests" / "emulation" / "cuda" / "libemulated-cublaslt.so"
    if not path.exists():
        pytest.skip("needs the target emulated-cublaslt")
    return str(path)


@pytest.fixture
def compute(library: str, start: Processes) -> Compute:
    """Runs a program in which cuBLASLt computes products, unless a variable says otherwise."""
    return lambda program, **variables: start(program, **{"FERRULE_CUDA_CUBLASLT": library, **variables})


def products(done: Done) -> int:
    return done.calls.count("cublasLtMatmul")


def test_it_is_off_unless_the_option_says_so(start: Processes, compute: Compute) -> None:
    for done in (start(FEW), compute(FEW, FERRULE_CUDA_CUBLASLT="0")):
        assert (done.output, done.log) == ("right\n", "")
        assert not [call for call in done.calls if call.startswith("cublasLt")]
    done = compute(FEW)
    assert (done.output, done.log) == ("right\n", "")
    assert products(done) == 1
    assert done.calls.count("cublasLtCreate") == 1


def test_the_option_of_open_does_the_same(library: str, start: Processes) -> None:
    done = start(f"fe.device('cuda').open(cublaslt={library!r})\n" + FEW)
    assert products(done) == 1


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_results_are_right_in_all_layouts(dtype: str, compute: Compute) -> None:
    program = f"""
def of(*shape):
    return numbers(*shape, dtype="{dtype}")
def turned(*shape):
    return of(*shape[:-2], shape[-1], shape[-2]).mT
for m, n, k in ((24, 40, 32), (1, 8, 16), (8, 1, 16), (16, 8, 1), (1, 1, 8), (129, 8, 24)):
    for left in (of, turned):
        for right in (of, turned):
            check(left(m, k), right(k, n))
            check(left(3, m, k), right(3, k, n))
    check(of(2, 3, m, k), of(2, 3, k, n))
    check(of(2, 3, m, k), of(k, n))
    check(of(m, k), of(2, 3, k, n))
    check(of(2, 1, m, k), of(2, 3, k, n))
# Parts of others: rows at a larger distance, at an odd place, and backwards.
wide = of(40, 100)
check(wide[:24, 16:48], of(32, 40))
check(wide[:24, 17:49], of(32, 40))
check(wide[23::-1, :32], of(32, 40))
check(wide[:24, :64:2], of(32, 40))
check(of(0, 8), of(8, 8)), check(of(8, 0), of(0, 8))
print("right")
"""
    done = compute(PRODUCTS + program)
    assert (done.output, done.log) == ("right\n", "")
    assert products(done) > 40


def test_other_dtypes_and_fused_ops_are_computed_by_own_kernels(compute: Compute) -> None:
    program = """
for dtype in ("int32", "float64", "int8"):
    check(numbers(8, 16, dtype=dtype).astype(dtype), numbers(16, 8, dtype=dtype))
print("right")
"""
    done = compute(PRODUCTS + program)
    assert (done.output, done.log, products(done)) == ("right\n", "", 0)


def test_a_graph_with_products_is_right_each_time(compute: Compute) -> None:
    program = """
a, b = numbers(16, 16), numbers(16, 16)
f = fe.graph(lambda a, b: fe.sum(fe.softmax(a @ b, axis=-1) @ b, axis=0))
want = np.asarray(f(a, b)).tobytes()
print({np.asarray(f(a, b)).tobytes() == want for _ in range(5)}, np.asarray(f(b, a)).tobytes() == want)
with fe.profile() as profile:
    fe.eval(f(a, b))
print(sum(event.kind == "kernel" and event.name == "matmul" for event in profile.events))
"""
    done = compute(PRODUCTS + program)
    assert done.output == "{True} False\n2\n"
    assert products(done) == 2 * 8
    assert done.calls.count("cublasLtMatmulAlgoGetHeuristic") == 2
    assert "cudaGraphLaunch" not in done.calls


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"FERRULE_CUDA_CUBLASLT": "1"}, "there is no cuBLASLt: no file was searched for"),
        ({"FERRULE_CUDA_CUBLASLT": "/nowhere/libcublasLt.so"}, "there is no cuBLASLt: /nowhere/libcublasLt.so"),
        (
            {"FERRULE_EMULATION_CUBLASLT": "version:110803"},
            "it is of version 110803, and products need 120000 or later",
        ),
        ({"FERRULE_EMULATION_CUBLASLT": "create_fails"}, "cublasLtCreate returned CUBLAS_STATUS_NOT_INITIALIZED"),
    ],
)
def test_a_missing_library_is_one_line_of_the_log(variables: dict[str, str], reason: str, compute: Compute) -> None:
    quiet = compute(FEW, **variables)
    assert (quiet.output, quiet.log, products(quiet)) == ("right\n", "", 0)
    told = compute(INFO + FEW + FEW, **variables)
    [line] = [line for line in told.log.splitlines() if "cuBLASLt" in line]
    assert reason in line


def test_another_library_is_told_by_its_missing_function(library: str, compute: Compute) -> None:
    other = str(Path(library).with_name("libemulated-nvrtc.so"))
    done = compute(INFO + FEW, FERRULE_CUDA_CUBLASLT=other)
    assert done.output == "right\n"
    assert "it has no function cublasLtGetVersion" in done.log


@pytest.mark.parametrize(
    ("failure", "function", "calls"),
    [("product_fails", "cublasLtMatmul", 2), ("heuristic_fails", "cublasLtMatmulAlgoGetHeuristic", 0)],
)
def test_a_failure_is_one_warning_and_own_kernels_compute(
    failure: str, function: str, calls: int, compute: Compute
) -> None:
    program = (
        PRODUCTS
        + """
a, b, c = numbers(24, 32), numbers(32, 40), numbers(32, 8)
for _ in range(3):
    check(a, b)
f = fe.graph(fe.matmul)
for _ in range(3):
    fe.eval(f(a, c))
print("right")
"""
    )
    done = compute(program, FERRULE_EMULATION_CUBLASLT=failure)
    assert done.output == "right\n"
    assert done.log.count("cuBLASLt failed, and the module's own kernels run in its place") == 1
    assert f"{function} returned CUBLAS_STATUS_INTERNAL_ERROR" in done.log
    # A call that has failed is not tried again.
    assert products(done) <= calls + 2


def test_a_shape_without_an_algorithm_is_computed_by_own_kernels(compute: Compute) -> None:
    done = compute(FEW, FERRULE_EMULATION_CUBLASLT="unsupported")
    assert (done.output, done.log, products(done)) == ("right\n", "", 0)


@pytest.mark.parametrize("value", ["yes", "2", "libcublasLt.so.13"])
def test_other_values_are_refused(value: str, start: Processes) -> None:
    program = 'print(attempt(lambda: fe.ones(2, device="cuda") + 1))\n'
    done = start(program, FERRULE_CUDA_CUBLASLT=value)
    sentence = f"option cublaslt is '{value}', and must be 0, 1 or the path of the library"
    sentence += f"; the environment has FERRULE_CUDA_CUBLASLT={value}"
    assert done.output == f"InvalidArgumentError: emulated cannot be opened: {sentence}\n"


def test_threads_use_one_library_and_get_their_own_results(compute: Compute) -> None:
    program = """
pairs = [(numbers(8 + i, 16), numbers(16, 24)) for i in range(6)]
fe.eval(*[x for pair in pairs for x in pair])
wanted = [np.asarray(a) @ np.asarray(b) for a, b in pairs]
shared = fe.graph(fe.matmul)
def work(number):
    a, b = pairs[number]
    for _ in range(10):
        assert (np.asarray(shared(a, b)) == wanted[number]).all()
        assert (np.asarray(fe.graph(fe.matmul)(a, b)) == wanted[number]).all()
in_threads(6, work)
print("right")
"""
    done = compute(PRODUCTS + program)
    assert (done.output, done.log) == ("right\n", "")
    assert products(done) == 6 * 20
    assert done.calls.count("cublasLtCreate") == 1
