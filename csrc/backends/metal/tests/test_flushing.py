"""Apple's GPUs flush subnormal float32 numbers to zero. The kit, which tells them from zero, passes all the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from backend_processes import Processes

# Ops whose functions treat subnormal operands or results as integers: kernels/elementwise/, docs/functions.md.
OPS = {
    "arithmetic": ["add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "hypot"],
    "exponential": ["exp", "expm1", "log", "log1p", "log2", "logaddexp", "pow", "sqrt", "rsqrt"],
    "trigonometric": ["sin", "tan", "asin", "atan", "atan2", "sinh", "tanh", "asinh", "atanh"],
    "activation": ["erf", "erfc", "gelu", "sigmoid", "silu"],
    "bits": ["maximum", "less", "equal", "sign", "round", "nextafter", "copysign", "frexp", "where", "clip"],
}


@pytest.mark.parametrize("family", OPS)
def test_the_kit_passes_where_subnormal_numbers_are_flushed(family: str, module: Path, start: Processes) -> None:
    program = f"""
results = fe.testing.check({OPS[family]}, backend={str(module)!r}, dtypes=["float32"], checks=["values", "edges"])
print(len(results.failures), sum(record.state == "passed" for record in results.records), results)
"""
    output = start(program, FERRULE_EMULATION_METAL_FLUSH="1").output
    failures, passed = map(int, output.split()[:2])
    assert failures == 0, output
    assert passed >= 2 * len(OPS[family]), output
