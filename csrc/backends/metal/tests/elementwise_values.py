"""Kernels in MSL that call one elementwise function for each element, and the errors of their results.

The kit's cases say which functions there are: their operands, truths and tolerances.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module

import numpy as np
from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import FORMATS, Values, is_floating, numpy_dtype
from ferrule.testing.model.problem import Problem
from ferrule.testing.model.values import every_pattern, patterns

from csrc.backends.metal.tests.emulated_msl import EmulatedMsl, with_includes

FAMILIES = (
    "activation",
    "arithmetic",
    "bitwise",
    "comparison",
    "conversion",
    "error_function",
    "exponential",
    "logical",
    "rounding",
    "selection",
    "trigonometric",
)
INTEGERS = {
    "int8": "char",
    "int16": "short",
    "int32": "int",
    "int64": "long",
    "uint8": "uchar",
    "uint16": "ushort",
    "uint32": "uint",
    "uint64": "ulong",
}
# The type of an element in memory, and the suffix of the functions that load and store it.
STORED = {"bool": "uchar", **INTEGERS, "float16": "ushort", "bfloat16": "ushort", "float32": "float"}
SUFFIXES = {"bool": "bool", "float16": "f16", "bfloat16": "bf16"}
ELEMENTS_PER_THREAD = 256
THREADS = 32  # of a threadgroup
DTYPE = 4  # what `pow` reports
FAULT_OF_POWER = 2
FAULT, PARAMETERS = 29, 30  # buffers

PARAMETERS_AND_FLUSHING = """
struct Parameters {
  ulong count;
  uint is_flushing;
};
// Sets flush-to-zero and denormals-are-zero of the CPU's control register, as a GPU does. Returns what it was.
inline uint flush(uint is_flushing) {
  const uint found = __builtin_ia32_stmxcsr();
  if (is_flushing != 0) __builtin_ia32_ldmxcsr(found | 0x8040u);
  return found;
}
"""


@cache
def cases(family: str) -> tuple[Case, ...]:
    """The kit's cases of a family whose dtypes Metal has."""
    found: list[Case] = import_module(f"ferrule.testing.cases.{family}").CASES
    return tuple(case for case in found if {*case.dtypes, case.result} <= set(STORED))


def arity_of(case: Case) -> int:
    return len(case.family.plain[0].shapes)


def name_of(case: Case) -> str:
    return re.sub(r"\W", "_", case.name)


def function_of(case: Case) -> str:
    if case.op == "astype":
        return f"op_astype_{case.result}"
    if case.op == "nextafter" and case.result in SUFFIXES:
        return f"op_nextafter_{SUFFIXES[case.result]}"
    words = [case.op, case.output, "tanh" if case.op == "gelu" and case.variant == "tanh" else ""]
    return "op_" + "_".join(filter(None, words))


def kernel(case: Case) -> str:
    """A kernel that computes 256 elements in each thread."""
    dtypes = [case.dtype(number) for number in range(arity_of(case))]
    result = case.result
    arguments = [
        f"load_{SUFFIXES[dtype]}(x{number}, at)" if dtype in SUFFIXES else f"x{number}[at]"
        for number, dtype in enumerate(dtypes)
    ]
    if case.op == "pow" and result in INTEGERS:
        arguments += ["fault", f"{DTYPE}u"]
    y = f"{function_of(case)}({', '.join(arguments)})"
    if result in ("float16", "bfloat16"):
        y = f"rounded_{SUFFIXES[result]}({y})"
    store = f"store_{SUFFIXES[result]}(y, at, {y})" if result in SUFFIXES else f"y[at] = {y}"
    operands = [f"device const {STORED[dtype]}* x{number}" for number, dtype in enumerate(dtypes)]
    operands.append(f"device {STORED[result]}* y")
    parameters = ", ".join(f"{operand} [[buffer({number})]]" for number, operand in enumerate(operands))
    passed = ", ".join([*(f"x{number}" for number in range(len(dtypes))), "y", "fault", "at"])
    name = name_of(case)
    return f"""
__attribute__((noinline)) void element_{name}({", ".join(operands)}, device Fault* fault, long at) {{
  {store};
}}
kernel void {name}({parameters}, device Fault* fault [[buffer({FAULT})]],
                   constant Parameters& p [[buffer({PARAMETERS})]], uint thread_number [[thread_position_in_grid]]) {{
  const uint before = flush(p.is_flushing);
  const long first = long(thread_number) * {ELEMENTS_PER_THREAD};
  for (long at = first; at < long(p.count) && at < first + {ELEMENTS_PER_THREAD}; ++at) element_{name}({passed});
  __builtin_ia32_ldmxcsr(before);
}}
"""


@cache
def library(family: str) -> str:
    """The text of a library that has a kernel for each case of a family."""
    functions = with_includes('#include "elementwise/functions.metal"\n')
    return "\n".join([functions, PARAMETERS_AND_FLUSHING, *map(kernel, cases(family))])


@dataclass(frozen=True)
class Computed:
    """The results of a kernel and its fault record."""

    values: Values
    fault: Values


def compute(emulated: EmulatedMsl, family: str, case: Case, inputs: Sequence[Values], flushes: bool) -> Computed:
    """Compute a case for inputs of one axis and one size."""
    count = inputs[0].size
    y = np.zeros(count, numpy_dtype(case.result))
    fault = np.zeros(8, np.uint32)
    parameters = np.array([count, flushes], np.uint64)  # little-endian: the uint is followed by padding
    buffers = dict(enumerate([*map(np.ascontiguousarray, inputs), y]))
    groups = -(-count // (ELEMENTS_PER_THREAD * THREADS))
    emulated.run(
        library(family), name_of(case), {**buffers, FAULT: fault, PARAMETERS: parameters}, max(groups, 1), THREADS
    )
    return Computed(y, fault)


def inputs_of(case: Case) -> list[list[Values]]:
    """Every combination of edge values, ordinary values, and random or all bit patterns."""
    arity = arity_of(case)
    rng = np.random.default_rng(1)
    grids = np.meshgrid(*(case.domain(i).edge_values(case.dtype(i)) for i in range(arity)), indexing="ij")
    found = [[grid.ravel().astype(grid.dtype) for grid in grids], case.inputs(Problem(((5_000,),) * arity), rng)]
    dtypes = [case.dtype(number) for number in range(arity)]
    if arity == 1 and numpy_dtype(dtypes[0]).itemsize <= 2 and dtypes[0] != "bool":
        found.append([every_pattern(dtypes[0])])
    elif any(map(is_floating, dtypes)):
        found.append(
            [
                patterns(rng, 10_000, dtype) if is_floating(dtype) else case.domain(i).ordinary(rng, (10_000,), dtype)
                for i, dtype in enumerate(dtypes)
            ]
        )
    return found


def errors(got: Values, truth: Values) -> Values:
    """Distances of float32 results from the truth in units in the last place (those of 2^-126 below it); infinite where
    only one of them is NaN or infinite, or the signs differ."""
    with np.errstate(all="ignore"):
        rounded = truth.astype(np.float32)
        exponent = np.frexp(np.maximum(np.abs(truth), FORMATS["float32"].least_normal))[1] - 1
        error = np.abs(got.astype(truth.dtype) - truth) / np.ldexp(np.ones((), truth.dtype), exponent - 23)
        error = np.where(np.isfinite(got) & np.isfinite(rounded), error, np.inf)
        same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
        signs = np.isnan(got) | (np.signbit(got) == np.signbit(rounded))
        return np.asarray(np.where(signs, np.where(same, np.minimum(error, 0.5), error), np.inf), np.float64)


def sweep(arity: int) -> list[list[Values]]:
    """float32 operands: for one, every 4001st bit pattern, and a million from 2^-14 to 2^8, where most functions are
    neither linear nor constant; for two, pairs of unrelated sizes, of similar sizes, of moderate ones, and of subnormal
    numbers."""
    if arity == 1:
        moderate = np.random.default_rng(4).integers(113 << 23, 135 << 23, 1_000_000).astype(np.uint32)
        moderate[::2] |= 1 << 31
        everything = np.arange(0, 2**32, 4001, dtype=np.uint64).astype(np.uint32)
        return [[everything.view(np.float32)], [moderate.view(np.float32)]]
    rng = np.random.default_rng(5)
    x, y = (patterns(rng, 300_000, "float32") for _ in range(2))
    with np.errstate(all="ignore"):
        near = (x * rng.uniform(-3, 3, x.shape)).astype(np.float32)
    a, b = rng.uniform(-30, 30, (2, 300_000)).astype(np.float32)
    tiny, other = (rng.integers(-40, 40, (2, 100_000)) * 2.0**-149).astype(np.float32)
    return [[x, y], [x, near], [near, x], [a, b], [np.abs(a), b], [tiny, other]]
