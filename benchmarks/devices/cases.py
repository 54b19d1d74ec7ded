"""The cases: shapes, work by formula, the limit, and the target."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from benchmarks.devices.gpu_targets import GpuTarget
from benchmarks.devices.sizes import HEAD, Sizes

ITEM_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}
BLOCKS = {"q8_0": (32, 34), "q4_0": (32, 18), "q4_K": (256, 144), "q6_K": (256, 210)}  # elements, bytes

# "events": each call by events of the device. "queue": several ops in one graph, many calls queued, and the host's
# clock around them all. "clock": the host's clock around a call and the wait for it.
Method = Literal["events", "queue", "clock"]


@dataclass(frozen=True)
class DeviceCase:
    """One op at one size. `bytes` must be read or written at least once, `flops` are 2 for each multiply and add."""

    name: str
    op: str
    dtype: str
    shapes: tuple[tuple[int, ...], ...]  # of the operands
    limit: Literal["bytes", "flops", "none"]
    flops: int
    bytes: int
    tolerance: float  # |got - expected| <= tolerance * (1 + |expected|)
    method: Method = "events"
    blocks: str = ""  # the dtype of the last operand, if it is in blocks
    operands: int = 1  # sets of operands, of which each call takes the next; "queue" computes all in one call
    chained: int = 1  # ops that a call runs one after the other
    is_limit: bool = False  # always measured: the others are compared with it
    target: GpuTarget | None = None

    @property
    def ops(self) -> int:
        """Ops that one timed call runs; results are given for one."""
        return self.chained * (self.operands if self.method == "queue" else 1)


TOLERANCES = {"float32": 2e-5, "float16": 2e-3, "bfloat16": 2e-2}


def size_text(count: int) -> str:
    """1 GB for 2^30 bytes, as the names of the cases have it."""
    scale, unit = next(((s, u) for s, u in ((2**30, "GB"), (2**20, "MB")) if count >= s), (2**10, "KB"))
    return f"{count / scale:.4g} {unit}"


def elementwise(
    op: str, count: int, inputs: int, target: GpuTarget | None = None, is_limit: bool = False
) -> DeviceCase:
    moved = (inputs + 1) * 4 * count
    return DeviceCase(
        f"{op} {size_text(4 * count)} f32",
        op,
        "float32",
        ((count,),) * inputs,
        "bytes",
        count,
        moved,
        TOLERANCES["float32"],
        target=target,
        is_limit=is_limit,
    )


def of_rows(op: str, rows: tuple[int, int], dtype: str, target: GpuTarget) -> DeviceCase:
    count = rows[0] * rows[1]
    moved = 2 * count * ITEM_BYTES[dtype]
    name = f"{op} rows of {rows[1]} {SHORT[dtype]}"
    return DeviceCase(name, op, dtype, (rows,), "bytes", 5 * count, moved, TOLERANCES[dtype], target=target)


def transpose(size: int, dtype: str, target: GpuTarget) -> DeviceCase:
    moved = 2 * size**2 * ITEM_BYTES[dtype]
    name = f"transpose {size} {SHORT[dtype]}"
    return DeviceCase(name, "transpose", dtype, ((size, size),), "bytes", 0, moved, 0.0, target=target)


def summed(axis: int, rows: tuple[int, int]) -> DeviceCase:
    moved = 4 * (rows[0] * rows[1] + rows[1 - axis])
    name = f"sum axis {axis} of {rows[0]}x{rows[1]} f32"
    # The sum of n numbers of [-4, 4) has about 2 sqrt(n): its error in float32 is compared with sums of that size.
    bound = TOLERANCES["float32"] * 8
    return DeviceCase(name, f"sum {axis}", "float32", (rows,), "bytes", rows[0] * rows[1], moved, bound)


def product(size: int, dtype: str, target: GpuTarget | None = None, is_limit: bool = False) -> DeviceCase:
    moved = 3 * size**2 * ITEM_BYTES[dtype]
    name = f"matmul {SHORT[dtype]} {size}"
    shapes = ((size, size),) * 2
    bound = 10 * TOLERANCES[dtype]
    return DeviceCase(
        name, "matmul", dtype, shapes, "flops", 2 * size**3, moved, bound, target=target, is_limit=is_limit
    )


def weighted(
    rows: int, weights: tuple[int, int], dtype: str, blocks: str, cached: int, target: GpuTarget | None
) -> DeviceCase:
    """x @ w.T: with one row the weights have to be read, with many the flops are the limit."""
    outputs, inputs = weights
    count = outputs * inputs
    elements, size = BLOCKS.get(blocks, (1, ITEM_BYTES[dtype]))
    weight_bytes = count // elements * size
    is_few = rows == 1
    shape = f"{outputs}x{inputs}"
    kind = f"product {blocks} {shape} n={rows} {SHORT[dtype]}" if blocks else f"gemv {SHORT[dtype]} {shape}"
    return DeviceCase(
        kind,
        "product of weights",
        dtype,
        ((rows, inputs), (outputs, inputs)),
        "bytes" if is_few else "flops",
        2 * rows * count,
        weight_bytes + rows * (inputs + outputs) * ITEM_BYTES[dtype],
        10 * TOLERANCES[dtype],
        method="queue" if is_few else "events",
        blocks=blocks,
        operands=max(2, -(-cached // weight_bytes)) if is_few else 1,
        target=target,
    )


def attention(queries: int, heads: int, cached: int, target: GpuTarget) -> DeviceCase:
    """Causal: half of the scores, two products of each."""
    shape = (1, heads, queries, HEAD)
    moved = 4 * heads * queries * HEAD * 2
    flops = 4 * heads * HEAD * queries * (queries + 1) // 2
    is_short = flops < 10**10
    return DeviceCase(
        f"attention causal f16 S={queries}",
        "attention",
        "float16",
        (shape,) * 3,
        "flops",
        flops,
        moved,
        TOLERANCES["float16"],
        method="queue" if is_short else "events",
        operands=max(2, min(16, -(-cached // moved))) if is_short else 1,
        target=target,
    )


def decode(keys: int, heads: int, cached: int, target: GpuTarget) -> DeviceCase:
    shapes = ((1, heads, 1, HEAD), (1, heads, keys, HEAD), (1, heads, keys, HEAD))
    moved = 2 * heads * HEAD * (2 * keys + 2)
    name = f"decode over {keys} keys f16"
    flops = 4 * heads * HEAD * keys
    operands = max(2, -(-cached // moved))
    tolerance = TOLERANCES["float16"]
    return DeviceCase(
        name, "decode", "float16", shapes, "bytes", flops, moved, tolerance, "queue", "", operands, target=target
    )


def small_ops(count: int, target: GpuTarget) -> DeviceCase:
    """Ops that each depend on the one before, of one block of threads: launches are the limit."""
    name, moved = f"{count} small ops in a graph", 2 * 4 * 4 * 64
    bound = TOLERANCES["float32"]
    return DeviceCase(
        name, "small ops", "float32", ((4, 64),), "none", 0, moved, bound, "queue", chained=count, target=target
    )


def transfer(op: str, count: int) -> DeviceCase:
    return DeviceCase(f"{op} {size_text(count)}", op, "float32", ((count // 4,),), "none", 0, count, 0.0, "clock")


SHORT = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}


def cases_of(s: Sizes) -> list[DeviceCase]:
    """Aims are those of the full sizes; other sizes have none."""

    def gb(best: float, factor: float) -> GpuTarget:
        return GpuTarget("bytes per second", best * 1e9, factor)

    def tflops(best: float, factor: float) -> GpuTarget:
        return GpuTarget("flops", best * 1e12, factor)

    usual, peak = s.matrices
    cases = [
        elementwise("copy", s.elements, 1, is_limit=True),
        product(peak, "bfloat16", tflops(767, 0.9), is_limit=True),
        product(peak, "float32", tflops(50.9, 0.9), is_limit=True),
        elementwise("add", s.elements, 2, gb(4186, 1.0)),
        elementwise("gelu", s.elements, 1, gb(3996, 1.0)),
    ]
    for op, best, best_half, factor in (
        ("softmax", 2421, 1223, 1.3),
        ("rms_norm", 2898, 3047, 1.2),
        ("layer_norm", 2850, 2380, 1.2),
    ):
        cases += [
            of_rows(op, s.rows, "float32", gb(best, factor)),
            of_rows(op, s.rows, "float16", gb(best_half, factor)),
        ]
    few, cached = s.weights, s.operands
    cases += [
        transpose(s.square, "float32", gb(1125, 2.5)),
        transpose(s.square, "float16", gb(607, 2.5)),
        summed(0, s.rows),
        summed(1, s.rows),
        product(usual, "bfloat16", tflops(715, 0.9)),
        product(usual, "float16"),
        weighted(1, few, "bfloat16", "", cached, gb(2620, 1.3)),
    ]
    seconds = {"q4_0": 14.4e-6, "q4_K": 16.3e-6}
    flops = {"q4_0": 187, "q4_K": 168}
    for name in BLOCKS:
        # The best time measured elsewhere, and the target of 10 us as a factor of it.
        target = GpuTarget("seconds", seconds[name], 10e-6 / seconds[name]) if name in seconds else None
        cases.append(weighted(1, few, "float32", name, cached, target))
        many = tflops(flops[name], 1.5) if name in flops else None
        cases.append(weighted(s.many, few, "float16", name, cached, many))
    cases += [
        attention(s.queries[0], s.heads, cached, tflops(74, 1.5)),
        attention(s.queries[1], s.heads, cached, tflops(485, 0.8)),
        decode(s.keys, s.heads, cached, gb(3278, 1.0)),
        small_ops(s.chained, GpuTarget("seconds", 1.13e-6, 1.0 / 1.13)),
        transfer("upload", s.copied),
        transfer("upload pinned", s.copied),
        transfer("download", s.copied),
        transfer("download pinned", s.copied),
    ]
    return cases if s.name == "full" else [replace(case, target=None) for case in cases]
