"""Kernels that exchange values within subgroups give the same bits as those that do not."""

from __future__ import annotations

import pytest

from csrc.backends.vulkan.tests.processes import Processes

# Rows and widths just below and above the size of a subgroup, a team, a workgroup, a step along K and a segment.
PROGRAM = """
import hashlib
random = np.random.default_rng(5)
digest = hashlib.sha256()
def array(*shape):
    x = random.standard_normal(shape, dtype=np.float32) * 10.0 ** random.integers(-3, 3)
    return fe.astype(fe.asarray(x, device="vulkan"), fe.{dtype})
def keep(x):
    digest.update(np.asarray(fe.astype(x, fe.float32)).tobytes())
for width in (1, 7, 8, 9, 40, 64, 65, 130, 257, 1000, 5000):
    x = array(5, width)
    keep(fe.softmax(x, axis=-1))
    keep(fe.log_softmax(x, axis=-1))
    keep(fe.layer_norm(x, array(width), array(width)))
for m, k, n in ((1, 5, 3), (1, 512, 130), (2, 513, 129), (3, 16, 40), (5, 1500, 300), (8, 2047, 20), (9, 40, 40)):
    keep(fe.matmul(array(m, k), array(k, n)))
    keep(fe.matmul(array(3, m, k), array(n, k).T) + 1)
    keep(fe.matmul(array(n, k), fe.permute_dims(array(m, k), (1, 0))))
print(digest.hexdigest())
"""


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_subgroups_change_no_bit(start: Processes, dtype: str) -> None:
    program = PROGRAM.format(dtype=dtype)
    with_subgroups, without = (start.quiet(program, FERRULE_VULKAN_SUBGROUPS=value) for value in ("1", "0"))
    assert with_subgroups == without


@pytest.mark.parametrize(
    ("setting", "kernels"), [("1", "softmax.subgroup_f32 matmul_few.subgroup_f32"), ("0", "softmax.f32 matmul.f32")]
)
def test_plan_names_the_kernel_that_uses_subgroups(start: Processes, setting: str, kernels: str) -> None:
    program = """
graph = fe.Graph(device="vulkan")
x, y = graph.input((4, 100), "float32"), graph.input((100, 70), "float32")
graph.output(fe.matmul(fe.softmax(x, axis=-1), y))
print(*(row["kernel"] for row in graph.compile().placement()["nodes"]))
"""
    assert start.quiet(program, FERRULE_VULKAN_SUBGROUPS=setting) == kernels + "\n"
