"""Each op belongs to one family, and the family's files have one name wherever the op lives.

The row of an op in csrc/ops/F.cpp says that its family is F. Its kernels lie in F.* or in the files of F/ below the
kernels of a backend, its case in ferrule/testing/cases/F.py.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
CPU = Path("csrc/backends/cpu/kernels")
VULKAN = Path("csrc/backends/vulkan/kernels")
FUNCTIONS = VULKAN / "elementwise"
CASES = Path("python/ferrule/testing/cases")

ROW = re.compile(r"^OP\((\w+)\)", re.MULTILINE)
KERNEL = re.compile(r'^(?:KERNEL|ELEMENTWISE)\((\w+),(?:.*?\.op = "(\w+)")?', re.MULTILINE)
ELEMENTWISE = re.compile(r"^KERNEL\((\w+), plan_elementwise\)", re.MULTILINE)
# A function of one dtype, exp_f32, or of a template for several: OF(exp).
FUNCTION = re.compile(r"^\w+ (?:OF\((\w+)\)|(\w+)_(?:bool|[iu](?:32|64)|f(?:32|64)))\(", re.MULTILINE)
# Ops of the compiler alone have no case; what is at each of these is written in one place for all families.
INTERNAL = {"fused"}


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def files(root: Path, folder: Path, suffix: str) -> Iterator[tuple[str, str]]:
    """The family that each file is named after, and its text."""
    for path in sorted((root / folder).rglob(f"*{suffix}")):
        yield path.relative_to(root / folder).parts[0].partition(".")[0], text_of(path)


def families_of_ops(root: Path) -> dict[str, str]:
    return {op: path.stem for path in (root / "csrc/ops").glob("*.cpp") for op in ROW.findall(text_of(path))}


def cpu_kernels(root: Path) -> Iterator[tuple[str, str]]:
    for family, text in files(root, CPU, ".cpp"):
        yield from ((found[2] or found[1], family) for found in KERNEL.finditer(text))


def vulkan_kernels(root: Path) -> Iterator[tuple[str, str]]:
    """Planners. Of elementwise ops one planner serves all: the GLSL functions are what is theirs."""
    for family, text in files(root, VULKAN, ".cpp"):
        planned = set(ELEMENTWISE.findall(text))
        yield from ((found[1], family) for found in KERNEL.finditer(text) if found[1] not in planned)


def vulkan_functions(root: Path, ops: set[str]) -> Iterator[tuple[str, str]]:
    """Functions are named after ops, some with a word behind it: gelu_tanh, frexp_mantissa."""
    for family, text in files(root, FUNCTIONS, ".glsl"):
        for found in FUNCTION.finditer(text):
            name: str = found[1] or found[2]
            if name in ops:
                yield name, family
            elif (first := name.partition("_")[0]) in ops:
                yield first, family


def misplaced(places: Iterator[tuple[str, str]], family_of: dict[str, str]) -> list[str]:
    return sorted({f"{op} is in {family}, not in {family_of[op]}" for op, family in places if family_of[op] != family})


def misplaced_sources(root: Path) -> dict[str, list[str]]:
    family_of = families_of_ops(root)
    found = {
        CPU.as_posix(): misplaced(cpu_kernels(root), family_of),
        VULKAN.as_posix(): misplaced(vulkan_kernels(root), family_of),
        FUNCTIONS.as_posix(): misplaced(vulkan_functions(root, set(family_of)), family_of),
    }
    return {folder: ops for folder, ops in found.items() if ops}


def test_kernels_lie_in_the_files_of_their_ops_families() -> None:
    assert misplaced_sources(ROOT) == {}


def test_cases_lie_in_the_files_of_their_ops_families() -> None:
    import importlib

    from ferrule.testing.dtypes import op_rows

    family_of = families_of_ops(ROOT)
    assert set(family_of) - INTERNAL == set(op_rows())
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path in sorted((ROOT / CASES).glob("[!_]*.py")):
        for case in importlib.import_module(f"ferrule.testing.cases.{path.stem}").CASES:
            found[case.op].add(path.stem)
    assert found == {op: {family} for op, family in family_of.items() if op not in INTERNAL}


def test_every_op_of_an_elementwise_planner_has_a_function_of_its_own_family() -> None:
    """So that the test above sees them all; astype has functions for pairs of dtypes."""
    family_of = families_of_ops(ROOT)
    planned = {op for path in (ROOT / VULKAN).glob("*.cpp") for op in ELEMENTWISE.findall(text_of(path))}
    seen = {op for op, _ in vulkan_functions(ROOT, set(family_of))}
    assert len(planned) > 50
    assert planned - seen == {"astype", *INTERNAL}
    casts = {family for family, text in files(ROOT, FUNCTIONS, ".glsl") if "\nfloat cast_i32_f32(" in text}
    assert casts == {family_of["astype"]}


def test_the_families_are_few_and_each_has_ops() -> None:
    families = set(families_of_ops(ROOT).values())
    assert {path.stem for path in (ROOT / CASES).glob("[!_]*.py")} == families - INTERNAL
    assert 10 < len(families) < 30


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        (CPU / "sorting.cpp", "ELEMENTWISE(exp, (unary<Exp, float>()))\n", "exp is in sorting, not in exponential"),
        (CPU / "movement/exp.cpp", "KERNEL(exp, .dtypes = f32) {\n", "exp is in movement, not in exponential"),
        (
            CPU / "rounding.cpp",
            'KERNEL(fast_exp, .op = "exp", .dtypes = f32) {\n',
            "exp is in rounding, not in exponential",
        ),
        (VULKAN / "sorting/exp.cpp", "KERNEL(exp, plan_exp)\n", "exp is in sorting, not in exponential"),
        (
            FUNCTIONS / "rounding/float32.glsl",
            "float exp_f32(float x) { return x; }\n",
            "exp is in rounding, not in exponential",
        ),
        (
            FUNCTIONS / "rounding.glsl",
            "INTEGER OF(exp)(INTEGER x) { return x; }\n",
            "exp is in rounding, not in exponential",
        ),
    ],
)
def test_a_misplaced_op_is_found(tmp_path: Path, file: Path, text: str, expected: str) -> None:
    rows = tmp_path / "csrc/ops/exponential.cpp"
    rows.parent.mkdir(parents=True)
    rows.write_text("OP(exp).doc();\n")
    right = tmp_path / CPU / "exponential/exp.cpp"
    right.parent.mkdir(parents=True)
    right.write_text("KERNEL(exp, .dtypes = f32) {\n")
    assert misplaced_sources(tmp_path) == {}
    wrong = tmp_path / file
    wrong.parent.mkdir(parents=True, exist_ok=True)
    wrong.write_text(text)
    folder = next(folder for folder in (FUNCTIONS, VULKAN, CPU) if wrong.is_relative_to(tmp_path / folder))
    assert misplaced_sources(tmp_path) == {folder.as_posix(): [expected]}
