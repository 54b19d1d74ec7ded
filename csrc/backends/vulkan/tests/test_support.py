"""The Vulkan module uses its own kernels. If a kernel refuses an op, other ops compute it correctly but more slowly,
which no other test would notice."""

from __future__ import annotations

from pathlib import Path

import pytest
from ferrule.testing.cases import all_cases
from ferrule.testing.kit import Subject, subjects_of
from ferrule.testing.model.dtypes import COMPLEX
from ferrule.testing.running.target import Target

# The beginning of the shader's name, for reductions and for ops that other ops could compute.
SHADERS = {
    "softmax": "softmax",
    "log_softmax": "softmax",
    "layer_norm": "layer_norm",
    "rms_norm": "layer_norm",
    "scaled_dot_product_attention": "attention",
    "matmul": "matmul",
    **dict.fromkeys(("sum", "prod", "mean", "max", "min", "all", "any", "argmax", "argmin"), "reduce"),
}
# There is no exponential of float64, and the kernel of layer_norm and rms_norm refuses float64.
NOT_IN_DOUBLE = {"softmax", "log_softmax", "layer_norm", "rms_norm", "scaled_dot_product_attention"}


@pytest.fixture(scope="module")
def vulkan(module: Path) -> Subject:
    (subject,) = subjects_of([Target("backend", str(module), "quick")], limit=300.0)
    subject.child.close()
    return subject


def test_row_and_matrix_ops_have_their_own_kernels(vulkan: Subject) -> None:
    assert vulkan.error is None
    composed = {}
    for name, answer in vulkan.support.items():
        case = all_cases()[name]
        if (
            case.op not in SHADERS
            or case.dtypes[0] in COMPLEX
            or (case.op in NOT_IN_DOUBLE and case.dtypes[0] == "float64")
        ):
            continue
        own = [kernel for kernel in answer.kernels if kernel]  # elementwise kernels have no name here
        if len(own) != 1 or not own[0].startswith(SHADERS[case.op]):
            composed[name] = answer.kernels
    assert composed == {}
