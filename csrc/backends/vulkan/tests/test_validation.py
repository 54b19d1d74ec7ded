"""The validation layer with GPU-assisted checks, which it adds to the shaders for every address.

Debian 12's layer is then ten times slower, and crashes on shader functions that return references.
"""

from __future__ import annotations

import pytest

from csrc.backends.vulkan.tests.processes import Processes

PROGRAM = """
x = fe.asarray(np.linspace(-2, 2, 6 * 40, dtype=np.float32).reshape(6, 40), device="vulkan")
y = fe.asarray(np.ones((40, 70), np.{dtype}), device="vulkan")
x = fe.astype(x, fe.{dtype})
print(np.asarray({expression}).shape)
"""

# Expressions of x, (6, 40), and y, (40, 70), that are computed.
COMPUTED = {
    "fe.exp(x) * x + 1": "(6, 40)",
    "fe.matmul(x, y)": "(6, 70)",
    "fe.softmax(x, axis=1)": "(6, 40)",
    "fe.sum(x, axis=1)": "(6,)",
    "fe.max(x, axis=0)": "(40,)",
    "fe.permute_dims(x, (1, 0)) + 1": "(40, 6)",
    "fe.asarray(fe.permute_dims(y, (1, 0)), copy=True)": "(70, 40)",
    "fe.concat([x, x], axis=1)": "(6, 80)",
    "fe.pad(x, ((1, 2), (0, 3)))": "(9, 43)",
    "fe.take(x, fe.asarray(np.array([5, 0, 5]), device='vulkan'), axis=0)": "(3, 40)",
    "fe.scaled_dot_product_attention(x, x, x)": "(6, 40)",
}


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("expression", COMPUTED)
def test_no_kernel_accesses_memory_out_of_bounds(start: Processes, expression: str, dtype: str) -> None:
    program = PROGRAM.format(expression=expression, dtype=dtype)
    layer = "VK_VALIDATION_FEATURE_ENABLE_GPU_ASSISTED_EXT"
    assert start.quiet(program, VK_LAYER_ENABLES=layer) == COMPUTED[expression] + "\n"
