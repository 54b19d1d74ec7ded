"""The CPU module supports every case of the kit, each op with its own kernel. For other modules the kit only lists
unsupported cases."""

from __future__ import annotations

import ferrule as fe
import pytest
from ferrule.testing.cases import all_cases
from ferrule.testing.kit import Subject, subjects_of
from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import BLOCKS, COMPLEX, numpy_dtype
from ferrule.testing.running.target import Target

from tests.python.each import each

VIEWS = {"broadcast_to", "permute_dims", "reshape", "slice"}  # nothing is computed


@pytest.fixture(scope="module")
def cpu() -> Subject:
    (subject,) = subjects_of([Target("device", "cpu")], limit=60.0)
    subject.child.close()
    return subject


def expected_kernels(case: Case) -> list[str]:
    first = case.dtypes[0] if case.dtypes else ""
    integer = bool(first) and numpy_dtype(first).kind in "biu"
    if case.op in VIEWS:
        return []
    if first in BLOCKS or case.result in BLOCKS:
        if case.op in {"concat", "copy", "dynamic_slice", "take"}:
            return [f"{case.op}_blocks"]
        return ["quantize" if case.result in BLOCKS else "dequantize"]
    if case.op == "linear" and case.variant == "q8":
        return ["q8_linear"]
    if case.op == "linear" and case.dtypes[1] not in BLOCKS:  # it is decomposed
        return ["astype", "astype", "matmul"] if first in ("float16", "bfloat16") else ["matmul"]
    if case.op == "linear" and first == "float64":
        return ["dequantize", "astype", "matmul"]
    if case.op == "matmul" and integer:
        return ["byte_matmul" if first in ("int8", "uint8") else "integer_matmul"]
    if case.op == "matmul_integer":
        if first in ("int8", "uint8"):
            return ["byte_matmul_integer"]
        return ["integer_matmul"] if first == "int32" else ["astype", "astype", "integer_matmul"]
    if case.op == "matmul" and first in COMPLEX:
        return ["complex_matmul"]
    return [case.op]


def test_cpu_module_supports_every_case(cpu: Subject) -> None:
    assert cpu.error is None
    assert {name: answer.reason for name, answer in cpu.support.items() if not answer.supported} == {}


def test_the_order_of_cases_does_not_depend_on_the_op_that_is_asked_about_first() -> None:
    found = []
    for first in (0.0, 0.5, 0.9):
        (subject,) = subjects_of([Target("device", "cpu")], 60.0, first)
        subject.ops = ["exp", "neg", "add", "astype", "copy"]
        found.append(list(subject.support.items()))
        subject.child.close()
    assert found[0] == found[1] == found[2]
    assert [name.partition("-")[0] for name, _ in found[0]] == sorted(
        (name.partition("-")[0] for name, _ in found[0]), key=subject.ops.index
    )


def test_cpu_device_reports_support_for_every_case(cpu: Subject) -> None:
    """fe_supports finds a call of each op, whatever shapes its rule requires."""
    denied = {name for name, answer in cpu.support.items() if all_cases()[name].dtypes and not answer.promised}
    assert denied == set()


@each("op", sorted({case.op for case in all_cases().values()}))
def test_cpu_device_supports_the_dtypes_of_each_problem_that_it_computes(op: str) -> None:
    """The problems of one case may have different numbers of inputs, if the op takes any number."""
    device = fe.device("cpu")
    asked = set()
    for case in all_cases().values():
        if case.op == op and case.dtypes:
            for problem in case.family.plain:
                dtypes = tuple(case.dtype(number) for number in range(len(problem.shapes)))
                asked.add(dtypes + case.asked[len(case.dtypes) :])
    assert {dtypes for dtypes in asked if not device.supports(op, *dtypes)} == set()


def test_cpu_device_supports_no_dtypes_that_an_op_refuses() -> None:
    device = fe.device("cpu")
    for op, *dtypes in (
        ("dynamic_slice", "float32", "float32", "int64"),
        ("update_slice", "float32", "int64", "float32"),
        ("dynamic_slice", "float32", *["int64"] * 9),  # an array has at most 8 dimensions
        ("add", "int64", "uint64"),
        ("matmul", "float8_e5m2", "float8_e5m2"),
    ):
        assert not device.supports(op, *dtypes), (op, dtypes)


def name_without_form(kernel: str) -> str:
    return kernel.removesuffix(" (blocks)").removeprefix("amx_")


def test_cpu_module_has_a_kernel_for_each_op(cpu: Subject) -> None:
    """An op that its kernel refuses is decomposed: correct but slower, so no other test would notice."""
    composed = {
        name: answer.kernels
        for name, answer in cpu.support.items()
        if (case := all_cases()[name]).op != "var"
        and [name_without_form(kernel) for kernel in answer.kernels] != expected_kernels(case)
    }
    assert composed == {}
