"""The Vulkan module takes the kit's cases, except elementary functions of float64, and uses its own kernels. If a
kernel refuses an op, other ops compute it correctly but more slowly, which no other test would notice."""

from __future__ import annotations

from pathlib import Path

import pytest
from ferrule.testing.cases import all_cases
from ferrule.testing.kit import Subject, subjects_of
from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import BLOCKS, COMPLEX, REALS
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
# Ops that have no Vulkan kernels yet; host ops such as svd run on the CPU.
ABSENT = {
    "bincount",
    "cholesky",
    "det",
    "eigh",
    "eigvalsh",
    "inv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
}
# There is no exponential of float64, and the kernel of layer_norm and rms_norm refuses float64.
NOT_IN_DOUBLE = {"softmax", "log_softmax", "layer_norm", "rms_norm", "scaled_dot_product_attention"}


@pytest.fixture(scope="module")
def vulkan(module: Path) -> Subject:
    (subject,) = subjects_of([Target("backend", str(module), "quick")], limit=300.0)
    subject.child.close()
    return subject


def computes_with(case: Case) -> bool:
    """Whether ops compute with all dtypes of a case: float8 and complex numbers are only moved here."""
    return {*case.dtypes, case.result} <= set(REALS)


def is_for_vulkan(case: Case) -> bool:
    """Whether Vulkan computes in the dtype."""
    return case.dtypes[0] not in ("float64", *COMPLEX)


def test_only_elementary_functions_of_float64_are_refused(vulkan: Subject) -> None:
    assert vulkan.error is None
    refused = {name for name, answer in vulkan.support.items() if not answer.supported}
    computed = {name for name in refused if computes_with(all_cases()[name])}
    assert {all_cases()[name].op for name in computed if is_for_vulkan(all_cases()[name])} == ABSENT
    assert {
        name for name, answer in vulkan.support.items() if answer.supported and all_cases()[name].op in ABSENT
    } == set()
    assert {"exp-float64", "tanh-float64", "softmax-float64"} <= refused
    assert not refused & {"add-float64", "sqrt-float64", "matmul-float64", "layer_norm-float64"}
    exact = ("copysign", "nextafter", "signbit", "fmod", "positive", "cumulative_sum", "cumulative_prod")
    assert not refused & {f"{op}-float64" for op in exact}


def test_items_of_up_to_8_bytes_are_moved_for_any_dtype(vulkan: Subject) -> None:
    moves = {name: all_cases()[name] for name in vulkan.support if all_cases()[name].op in ("copy", "concat", "pad")}
    refused = {case.dtypes[0] for name, case in moves.items() if not vulkan.support[name].supported}
    assert refused == {"complex128", *BLOCKS}


def test_row_and_matrix_ops_have_their_own_kernels(vulkan: Subject) -> None:
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
