"""The benchmark cases: inputs, amount of work, expected result, and the target to reach."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gguf
import numpy as np
from model_files import find_model_files
from numpy.typing import NDArray
from reference import Reference

from benchmarks.targets import Target

Inputs = tuple[NDArray[Any], ...]

MINILM_WIDTH, MINILM_INNER, MINILM_LAYERS = 384, 1536, 6
APPENDED = 100  # the number of the row
ROWS, COLUMNS = 16384, 1024  # 64 MB of float32, far above the caches
ELEMENTS = 10_000_000  # of the cases that sort or move single elements
SEARCHES = PAIRS = 1_000_000
WIDTH, FEW_ROWS = 4096, 16  # of products with weights in blocks
BLOCK_BYTES = {"q4_0": 18, "q8_0": 34, "q4_K": 144, "q6_K": 210}
BLOCK_ELEMENTS = {"q4_0": 32, "q8_0": 32, "q4_K": 256, "q6_K": 256}

# Bounds of errors where rows are rounded to 8 bits: of products of WIDTH, and of scores, which are up to about 20.
ROUNDED_PRODUCT, ROUNDED_SCORE = 10.0, 1.0

BEST_PEER = Target("share of best", at_least=0.8)
FUSED_PEER = Target("times onnxruntime", at_most=1.3)
EAGER_CALL = Target("microseconds", at_most=2.0)
CALL = Target("microseconds", at_most=1.2)
APPEND = Target("microseconds", at_most=10.0)


@dataclass(frozen=True)
class Case:
    """One op or model at one size. `bytes` must be read or written at least once, whatever the caches.

    `absolute` and `relative` bound |got - expected|, which is checked before anything is timed. `dtype` is that of the
    floating-point inputs, or of what is sorted. `weights` and `activation` are those of `fe.linear`.
    """

    name: str
    op: str
    shapes: tuple[tuple[int, ...], ...]
    flops: int
    bytes: int
    target: Target
    absolute: float
    relative: float = 0.0
    dtype: str = "float32"
    weights: str = ""
    activation: str = ""

    @property
    def is_bound_by_arithmetic(self) -> bool:
        """Whether rates are those of operations, not of bytes."""
        if self.op == "linear":
            return self.shapes[0][0] >= FEW_ROWS
        return self.op in ("matmul", "matmul_integer", "minilm") or (self.op == "smollm2" and self.shapes[1][0] > 1)


def matmul(size: int) -> Case:
    # Inputs are in [-1, 1): rounding errors grow like sqrt(size) * 2^-24, a missing term is 0.25 on average.
    bytes_moved = 3 * 4 * size**2
    return Case(f"matmul {size}", "matmul", ((size, size),) * 2, 2 * size**3, bytes_moved, BEST_PEER, size * 2.0**-24)


def matmul_of_bytes(size: int) -> Case:
    bytes_moved = (1 + 1 + 4) * size**2
    shapes, name = ((size, size),) * 2, f"matmul int8 {size} to int32"
    return Case(name, "matmul_integer", shapes, 2 * size**3, bytes_moved, BEST_PEER, 0.0, dtype="int8")


def memory_bound(op: str, arrays: int, flops: int, absolute: float, relative: float = 0.0) -> Case:
    """`arrays`: how many arrays of 64 MB are read or written; `flops`: operations per element, for comparison only."""
    shapes = ((ROWS, COLUMNS),) * (arrays - 1)
    count = ROWS * COLUMNS
    return Case(f"{op} 64 MB", op, shapes, flops * count, arrays * 4 * count, BEST_PEER, absolute, relative)


def of_elements(op: str, name: str, inputs: int, bytes_moved: int, absolute: float = 0.0) -> Case:
    """`inputs` vectors of 10 million elements; the result is exact unless `absolute` is given."""
    return Case(f"{name} 10 M", op, ((ELEMENTS,),) * inputs, 0, bytes_moved * ELEMENTS, BEST_PEER, absolute)


def sort(dtype: str, count: int, name: str) -> Case:
    moved = 2 * np.dtype(dtype).itemsize * count
    return Case(f"sort {dtype} {name}", "sort", ((count,),), 0, moved, BEST_PEER, 0.0, dtype=dtype)


def write_mask(percent: int) -> Case:
    """Writes some values to a copy of 64 MB, where a mask holds; `x` and the mask are read, the result is written."""
    count = ROWS * COLUMNS
    shapes = ((count,), (count,), (percent,))
    return Case(f"write {percent} % by a mask, 64 MB", "write_mask", shapes, 0, 9 * count, BEST_PEER, 0.0)


def dot_products(op: str, shapes: tuple[tuple[int, ...], ...]) -> Case:
    """Sums of 1024 products of at most 16, whose errors are far below 2^-24 of that for each."""
    count = sum(math.prod(shape) for shape in shapes)
    return Case(f"{op} {count >> 18} MB", op, shapes, 2 * ROWS * COLUMNS, 4 * count, BEST_PEER, 16 * COLUMNS * 2.0**-24)


def linalg(op: str, flops: float, inputs: int = 1) -> Case:
    """A decomposition in float64, judged by what its factors multiply to. `flops`: the nominal number, per n^3."""
    n = 512
    name = f"{op} float64 {n}"
    return Case(name, op, ((n, n),) * inputs, round(flops * n**3), 8 * 2 * n * n, BEST_PEER, 1e-9, dtype="float64")


def transform(op: str, shape: tuple[int, ...]) -> Case:
    """A Fourier transform in single precision; the nominal number of operations is 5 n log2(n), or half of it."""
    n, is_real = math.prod(shape), op == "rfft"
    flops = round((2.5 if is_real else 5) * n * math.log2(n))
    name = f"{op} {' x '.join(map(str, shape))}"
    error = 1e-7 * math.sqrt(n) * math.log2(n)  # elements are about sqrt(n)
    return Case(name, op, (shape,), flops, (8 if is_real else 16) * n, BEST_PEER, error)


def append(megabytes: int) -> Case:
    """Writes one row of 4 KB into a cache of the given size."""
    shapes = ((megabytes * 256, 1024), (1, 1024))
    return Case(f"append to {megabytes} MB", "append", shapes, 0, 2 * 4096, APPEND, 0.0)


def linear(weights: str, rows: int, activation: str) -> Case:
    """Rows in [-4, 4) times weights in blocks; rounding the rows to 8 bits costs up to 4 / 254 of each product."""
    bytes_of_row = WIDTH // BLOCK_ELEMENTS[weights] * BLOCK_BYTES[weights]
    shapes, flops = ((rows, WIDTH), (WIDTH, bytes_of_row)), 2 * rows * WIDTH**2
    moved = WIDTH * bytes_of_row + 2 * 4 * rows * WIDTH
    least = {1: 1.1, FEW_ROWS: 1.3}.get(rows, 2.0 if activation == "given" else 4.0)
    return Case(
        f"linear {weights} {rows} x {WIDTH}, {activation}",
        "linear",
        shapes,
        flops,
        moved,
        Target("share of best", at_least=least),
        absolute=1e-2 if activation == "given" else ROUNDED_PRODUCT,
        weights=weights,
        activation=activation,
    )


def minilm(batch: int, length: int) -> Case:
    tokens = batch * length
    dense = 2 * tokens * MINILM_WIDTH * (4 * MINILM_WIDTH + 2 * MINILM_INNER)
    attention = 2 * 2 * batch * length**2 * MINILM_WIDTH
    weights = 4 * MINILM_LAYERS * MINILM_WIDTH * (4 * MINILM_WIDTH + 2 * MINILM_INNER)
    flops = MINILM_LAYERS * (dense + attention)
    return Case(f"MiniLM {batch}x{length}", "minilm", ((batch, length),), flops, weights, FUSED_PEER, absolute=1e-5)


def smollm2(name: str, before: int, count: int, least: float, activation: str) -> Case:
    """Reads `count` tokens behind `before` others; the result is the scores of the next."""
    flops, weights = 2 * 134_515_008 * count, 98_600_000  # its matrices, and their bytes in blocks
    return Case(
        f"SmolLM2 {name}, {activation}",
        "smollm2",
        ((before,), (count,)),
        flops,
        weights,
        Target("share of best", at_least=least),
        absolute=1e-3 if activation == "given" else ROUNDED_SCORE,
        activation=activation,
    )


CASES = [
    matmul(512),
    matmul(1024),
    matmul(2048),
    matmul_of_bytes(1024),
    memory_bound("add", arrays=3, flops=1, absolute=0.0, relative=2.0**-24),
    memory_bound("exp", arrays=2, flops=1, absolute=0.0, relative=4 * 2.0**-24),
    memory_bound("softmax", arrays=2, flops=4, absolute=1e-9, relative=1e-5),
    memory_bound("layer_norm", arrays=2, flops=8, absolute=1e-5),
    *(sort(dtype, ELEMENTS, "10 M") for dtype in ("float32", "float64", "int32", "int64")),
    sort("float32", 100_000, "100 k"),
    of_elements("argsort", "argsort float32", 1, 4 + 8),
    of_elements("unique_counts", "unique_counts int64", 1, 8),
    of_elements("take", "take float32", 2, 4 + 8 + 4),
    # An error of half a unit of a sum that is about 10^4, in each of 2^12 blocks or 10^7 steps.
    of_elements("cumulative_sum", "cumulative_sum float32", 1, 4 + 4, absolute=8.0),
    Case("searchsorted 1 M in 1 M", "searchsorted", ((SEARCHES,),) * 2, 0, 16 * SEARCHES, BEST_PEER, 0.0),
    Case("pairs of indices 1 M", "pairs", ((4096, 4096), (PAIRS,), (PAIRS,)), 0, 24 * PAIRS, BEST_PEER, 0.0),
    write_mask(1),
    write_mask(99),
    dot_products("vecdot", ((ROWS, COLUMNS),) * 2),
    dot_products("matvec", ((ROWS, COLUMNS), (COLUMNS,))),
    linalg("solve", 8 / 3, inputs=2),
    linalg("qr", 8 / 3),
    linalg("svd", 22),
    linalg("eigh", 9),
    transform("fft", (1 << 20,)),
    transform("fft2", (1024, 1024)),
    transform("rfft", (1 << 20,)),
    *(linear(w, rows, how) for how in ("given", "q8") for w in BLOCK_BYTES for rows in (1, FEW_ROWS, 512)),
    minilm(1, 16),
    minilm(32, 128),
    *(smollm2("prompt of 512", 0, 512, 3.0, how) for how in ("given", "q8")),
    *(smollm2("one token", 36, 1, 2.0, how) for how in ("given", "q8")),
    Case("small eager call", "eager add", ((4, 4),) * 2, 16, 3 * 64, EAGER_CALL, 0.0, 2.0**-24),
    Case("small graph call", "add", ((4, 4),) * 2, 16, 3 * 64, CALL, 0.0, 2.0**-24),
    append(1),
    append(64),
]


def make_inputs(case: Case) -> Inputs:
    """The inputs of every contender.

    MiniLM gets token ids and a mask (int32, all tokens real), unique_counts int64, take and pairs indices, transforms
    complex64; the others the dtype of the case.
    """
    generator = np.random.default_rng(20240607)
    if case.op == "minilm":
        token_ids = generator.integers(1000, 30000, case.shapes[0]).astype(np.int32)
        return token_ids, np.ones(case.shapes[0], dtype=np.int32)
    if case.op == "smollm2":
        return tuple(generator.integers(1000, 40000, shape) for shape in case.shapes)
    if case.op == "unique_counts":
        return (generator.integers(0, 1_000_000, case.shapes[0]),)
    if case.op == "linear":
        return _rows(generator, case.shapes[0]), _blocks(generator, case)
    spread = 1.0 if case.op == "matmul" else 4.0
    if case.op == "take":
        return generator.random(case.shapes[0], dtype=np.float32), generator.integers(0, ELEMENTS, case.shapes[1])
    if case.op == "searchsorted":
        places, wanted = (generator.random(shape, dtype=np.float32) for shape in case.shapes)
        return np.sort(places), wanted
    if np.dtype(case.dtype).kind == "i":
        limits = np.iinfo(case.dtype)
        return tuple(generator.integers(limits.min, limits.max, s, case.dtype, endpoint=True) for s in case.shapes)
    if case.op == "pairs":
        indices = (generator.integers(0, case.shapes[0][0], shape) for shape in case.shapes[1:])
        return generator.random(case.shapes[0], dtype=np.float32), *indices
    if case.op == "write_mask":
        mask = generator.random(case.shapes[1]) < case.shapes[2][0] / 100
        values = generator.random(int(mask.sum()), dtype=np.float32)
        return generator.random(case.shapes[0], dtype=np.float32), mask, values
    if case.op in ("fft", "fft2"):
        x, y = (generator.standard_normal(case.shapes[0], dtype=np.float32) for _ in range(2))
        return ((x + 1j * y).astype(np.complex64),)
    if case.dtype != "float32":
        matrices = [generator.standard_normal(shape) for shape in case.shapes]
        if case.op == "solve":
            matrices[0] += 50 * np.eye(len(matrices[0]))  # far from singular
        if case.op == "eigh":
            matrices[0] += matrices[0].T
        return tuple(x.astype(case.dtype) for x in matrices)
    return tuple(spread * (2.0 * generator.random(shape, dtype=np.float32) - 1.0) for shape in case.shapes)


def _rows(generator: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float32]:
    return 8 * generator.random(shape, dtype=np.float32) - 4


def _blocks(generator: np.random.Generator, case: Case) -> NDArray[np.uint8]:
    """Rows of random blocks, whose weights are up to about 1."""
    size = BLOCK_BYTES[case.weights]
    blocks = generator.integers(0, 256, (case.shapes[1][0], case.shapes[1][1] // size, size), np.uint8)
    scales = {"q4_0": {0: 0.125}, "q8_0": {0: 0.008}, "q4_K": {0: 1e-3, 2: 8e-3}, "q6_K": {208: 2e-4}}[case.weights]
    for place, scale in scales.items():
        blocks[..., place : place + 2] = np.array([scale], np.float16).view(np.uint8)
    return blocks.reshape(case.shapes[1])


def decoded(case: Case, blocks: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The weights (columns of the result, WIDTH), by the package gguf."""
    return np.asarray(gguf.quants.dequantize(blocks, gguf.GGMLQuantizationType[case.weights.upper()]))


def layer_norm_parameters() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Scale and shift, constants for every contender."""
    generator = np.random.default_rng(7)
    return generator.random(COLUMNS, dtype=np.float32) + 0.5, generator.random(COLUMNS, dtype=np.float32) - 0.5


RESULTS = {
    "matmul_integer": "int32",
    **dict.fromkeys(("argsort", "searchsorted", "unique_counts"), "int64"),
    **dict.fromkeys(("fft", "fft2", "rfft"), "complex64"),
}
NOMINAL_FLOPS = ("solve", "qr", "svd", "eigh", "fft", "fft2", "rfft")  # shown as a rate, without a limit
EXACT: dict[str, Callable[..., NDArray[Any]]] = {
    "sort": np.sort,
    "argsort": lambda x: np.argsort(x, kind="stable"),
    "searchsorted": np.searchsorted,
    "take": lambda x, i: x[i],
    "pairs": lambda x, i, j: x[i, j],
}


def product_of_factors(op: str, factors: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return the product of the factors that qr, svd or eigh gives: the matrix that was decomposed."""
    if op == "qr":
        q, right = factors
    elif op == "svd":
        u, values, right = factors
        q = u * values
    else:
        values, vectors = factors
        q, right = vectors * values, vectors.T
    product: NDArray[Any] = q @ right
    return product


def greatest_error(case: Case, inputs: Inputs, got: NDArray[Any]) -> tuple[float, bool]:
    """The greatest |got - expected| against float64, and whether all errors are within the bounds of the case."""
    rows, expected = _expected(case, inputs)
    wanted = np.dtype(RESULTS.get(case.op, case.dtype))
    if got.dtype != wanted or got[rows].shape != expected.shape:
        raise ValueError(f"{case.name}: {got.dtype} {got.shape} is not what was asked for")
    error = np.abs(got[rows] - expected)
    within = bool(np.all(error <= case.absolute + case.relative * np.abs(expected)))  # NaN fails this comparison
    return float(np.max(error)), within


def _expected(case: Case, inputs: Inputs) -> tuple[Sequence[int] | slice, NDArray[Any]]:
    if case.op == "minilm":
        return _expected_embeddings(inputs)
    if case.op == "smollm2":
        return slice(None), _expected_scores(np.concatenate(inputs))
    if case.op in EXACT:
        return slice(None), EXACT[case.op](*inputs)
    if case.op == "unique_counts":
        counts = np.bincount(inputs[0])
        return slice(None), counts[counts > 0]
    if case.op in ("fft", "fft2", "rfft"):  # those of NumPy are computed in the dtype of their inputs
        wide = inputs[0].astype(np.result_type(inputs[0], np.float64))
        return slice(None), np.fft.rfft(wide) if case.op == "rfft" else np.fft.fftn(wide)
    x: NDArray[Any] = inputs[0].astype(np.float64)
    if case.op == "linear":
        rows = slice(0, None, max(1, len(x) // FEW_ROWS))
        return rows, x[rows] @ decoded(case, inputs[1]).astype(np.float64).T
    if case.op in ("matmul", "matmul_integer"):
        x = x @ inputs[1].astype(np.float64)
    elif case.op in ("add", "eager add"):
        x += inputs[1]
    elif case.op == "exp":
        np.exp(x, out=x)
    elif case.op == "cumulative_sum":
        np.cumsum(x, out=x)
    elif case.op == "append":
        x[APPENDED] = inputs[1]
    elif case.op == "write_mask":
        x[inputs[1]] = inputs[2]
    elif case.op == "vecdot":
        x = np.einsum("ij,ij->i", x, inputs[1].astype(np.float64))
    elif case.op == "matvec":
        x = x @ inputs[1].astype(np.float64)
    elif case.op == "solve":
        x = np.linalg.inv(x) @ inputs[1]
    elif case.op in ("qr", "svd", "eigh"):
        pass  # its factors multiply to x
    elif case.op == "softmax":
        np.exp(x, out=x)  # inputs are small enough for float64 without subtracting the maximum
        x /= x.sum(axis=1, keepdims=True)
    elif case.op == "layer_norm":
        scale, shift = layer_norm_parameters()
        x -= x.mean(axis=1, keepdims=True)
        x *= scale / np.sqrt(np.mean(x * x, axis=1, keepdims=True) + 1e-12)
        x += shift
    else:
        raise ValueError(f"no oracle for {case.op}")
    return slice(None), x


def _expected_embeddings(inputs: Inputs) -> tuple[list[int], NDArray[np.float64]]:
    """Four sentences of the batch, including the first and the last, because float64 takes long for each."""
    batch = len(inputs[0])
    rows = sorted({math.floor(share * (batch - 1)) for share in (0.0, 0.3, 0.7, 1.0)})
    return rows, Reference(find_model_files().weights).embed(inputs[0][rows].tolist())


def _expected_scores(ids: NDArray[np.int64]) -> NDArray[np.float64]:
    # Imported here, because these modules import ferrule, which most processes of peers do without.
    from chat import find_model
    from llama import Sizes
    from llama_reference import Reference, decoded_by_gguf

    fields = gguf.GGUFReader(find_model()).fields
    names = [name for name in fields if name.startswith(("general.architecture", "llama."))]
    sizes = Sizes.of({name: fields[name].contents() for name in names})
    return Reference(decoded_by_gguf(find_model()), sizes).read(ids.tolist())[-1:]
