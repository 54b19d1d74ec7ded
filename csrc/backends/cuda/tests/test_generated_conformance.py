"""The kit's checks of elementwise ops whose kernels are generated and compiled by the emulated NVRTC."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from csrc.backends.cuda.tests.processes import Done


class Part(NamedTuple):
    """Cases of some ops with one of the dtypes, and the least number of kernels that their checks generate. Each kernel
    takes the compiler a quarter of a second: all parts take half a minute on two cores."""

    ops: Sequence[str]
    dtypes: Sequence[str]
    checks: Sequence[str]
    kernels: int


UNARY = ["erf", "exp", "gelu", "isnan", "log1p", "round", "rsqrt", "sign", "sin", "tanh"]
PARTS = {
    "layouts": Part(["subtract"], ["float32"], ["layouts", "shapes", "guards", "batch", "constants"], 15),
    "three operands": Part(["where", "clip"], ["float64"], ["values", "layouts", "guards"], 10),
    "chains of float32": Part(["add"], ["float32"], ["fused"], 20),
    "chains of bytes": Part(["maximum"], ["int8"], ["fused"], 10),
    "chains of halves": Part(["add"], ["bfloat16"], ["fused"], 10),
    "values of float32": Part(UNARY, ["float32"], ["values"], len(UNARY)),
    "values of integers": Part(
        ["floor_divide", "remainder", "pow", "bitwise_right_shift"],
        ["int16", "uint64"],
        ["values", "edges", "errors"],
        8,
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_generated_kernels_pass_the_kit(name: str, module: Path, generate: Callable[..., Done]) -> None:
    ops, dtypes, checks, kernels = PARTS[name]
    program = f"""
results = fe.testing.check({ops}, backend={str(module)!r}, dtypes={dtypes}, checks={checks})
print(results)
print(len(results.failures), sum(record.state == "passed" for record in results.records))
"""
    done = generate(program, FERRULE_CUDA_GENERATE_FROM="0")
    assert done.compilations() >= kernels
    failures, passed = map(int, done.output.splitlines()[-1].split())
    assert failures == 0, done.output
    assert passed >= len(ops)
