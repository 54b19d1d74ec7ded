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
BACKENDS = sorted(
    folder.relative_to(ROOT) for folder in ROOT.glob("csrc/backends/*/kernels") if any(folder.rglob("*.cpp"))
)
# The functions of elementwise ops, in GLSL or in MSL, where one kernel serves them all.
FUNCTIONS = "elementwise"
CASES = Path("python/ferrule/testing/cases")

ROW = re.compile(r"^OP\((\w+)\)", re.MULTILINE)
ROW_TEXT = re.compile(r"^OP\((\w+)\)(.*?)(?=^OP\(|\Z)", re.MULTILINE | re.DOTALL)
KERNEL = re.compile(r'^(?:KERNEL|ELEMENTWISE)\((\w+),(?:.*?\.op = "(\w+)")?', re.MULTILINE)
# By the suffix of the files. A function of one dtype, exp_f32, or of a template for several: OF(exp); op_exp.
FUNCTION = {
    ".glsl": re.compile(r"^\w+ (?:OF\((\w+)\)|(\w+)_(?:bool|[iu](?:32|64)|f(?:32|64)))\(", re.MULTILINE),
    ".metal": re.compile(r"^(?:inline )?\w+ op_(\w+)\(", re.MULTILINE),
}
# Ops of the compiler alone have no case; what is at each of these is written in one place for all families.
INTERNAL = {"fused"}


def suffixes_of_functions(folder: Path) -> list[str]:
    return [suffix for suffix in FUNCTION if any((ROOT / folder / FUNCTIONS).rglob(f"*{suffix}"))]


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


SPLICED = [(folder, suffix) for folder in BACKENDS for suffix in suffixes_of_functions(folder)]


def files(root: Path, folder: Path, suffix: str) -> Iterator[tuple[str, str]]:
    """The family that each file is named after, and its text."""
    for path in sorted((root / folder).rglob(f"*{suffix}")):
        yield path.relative_to(root / folder).parts[0].partition(".")[0], text_of(path)


def families_of_ops(root: Path) -> dict[str, str]:
    return {op: path.stem for path in (root / "csrc/ops").glob("*.cpp") for op in ROW.findall(text_of(path))}


def kernels(root: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """Kernels or planners, except that of fused ops."""
    for family, text in files(root, folder, ".cpp"):
        yield from ((found[2] or found[1], family) for found in KERNEL.finditer(text) if found[1] not in INTERNAL)


def functions(root: Path, folder: Path, suffix: str, ops: set[str]) -> Iterator[tuple[str, str]]:
    """Functions are named after ops, some with a word behind it: gelu_tanh, frexp_mantissa."""
    for family, text in files(root, folder / FUNCTIONS, suffix):
        for found in FUNCTION[suffix].finditer(text):
            name = next(filter(None, found.groups()))
            if name in ops:
                yield name, family
            elif (first := name.partition("_")[0]) in ops:
                yield first, family


def misplaced(places: Iterator[tuple[str, str]], family_of: dict[str, str]) -> list[str]:
    return sorted({f"{op} is in {family}, not in {family_of[op]}" for op, family in places if family_of[op] != family})


def misplaced_sources(root: Path) -> dict[str, list[str]]:
    family_of = families_of_ops(root)
    found = {folder: misplaced(kernels(root, folder), family_of) for folder in BACKENDS}
    found |= {f / FUNCTIONS: misplaced(functions(root, f, suffix, set(family_of)), family_of) for f, suffix in SPLICED}
    return {folder.as_posix(): ops for folder, ops in found.items() if ops}


def test_backends_with_kernels_and_with_functions_are_found() -> None:
    assert len(BACKENDS) >= 2
    assert SPLICED
    for folder in BACKENDS:
        assert len({op for op, _ in kernels(ROOT, folder)}) > 10, folder


def test_kernels_lie_in_the_files_of_their_ops_families() -> None:
    assert misplaced_sources(ROOT) == {}


def test_cases_lie_in_the_files_of_their_ops_families() -> None:
    import importlib

    from ferrule.op_rows import OP_ROWS

    family_of = families_of_ops(ROOT)
    assert set(family_of) - INTERNAL == set(OP_ROWS)
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path in sorted((ROOT / CASES).glob("[!_]*.py")):
        for case in importlib.import_module(f"ferrule.testing.cases.{path.stem}").CASES:
            found[case.op].add(path.stem)
    assert found == {op: {family} for op, family in family_of.items() if op not in INTERNAL}


@pytest.mark.parametrize(("folder", "suffix"), SPLICED)
def test_every_elementwise_op_has_a_function_or_a_decomposition(folder: Path, suffix: str) -> None:
    """So that the test above sees them all; astype has functions for dtypes, and positive is its operand."""
    family_of = families_of_ops(ROOT)
    seen = {op for op, _ in functions(ROOT, folder, suffix, set(family_of))}
    rows = {op: row for path in (ROOT / "csrc/ops").glob("*.cpp") for op, row in ROW_TEXT.findall(text_of(path))}
    elementwise = {op for op, row in rows.items() if ".elementwise()" in row and '("x", complex)' not in row}
    composite = {op for op, row in rows.items() if ".decompose(" in row}
    assert len(elementwise - composite) > 50
    assert elementwise - composite - seen - {"positive", "astype"} == set()
    cast = {".glsl": "\nfloat cast_i32_f32(", ".metal": "\nfloat op_astype_float32("}[suffix]
    casts = {family for family, text in files(ROOT, folder / FUNCTIONS, suffix) if cast in text}
    assert casts == {family_of["astype"]}


def test_the_families_are_few_and_each_has_ops() -> None:
    families = set(families_of_ops(ROOT).values())
    assert {path.stem for path in (ROOT / CASES).glob("[!_]*.py")} == families - INTERNAL
    assert 10 < len(families) < 30


# A file below the kernels of a backend, its text, and the family that it is wrong for.
MISPLACED = [
    ("sorting.cpp", "ELEMENTWISE(exp, (unary<Exp, float>()))\n", "sorting"),
    ("movement/exp.cpp", "KERNEL(exp, .dtypes = f32) {\n", "movement"),
    ("rounding.cpp", 'KERNEL(fast_exp, .op = "exp", .dtypes = f32) {\n', "rounding"),
    ("sorting/exp.cpp", "KERNEL(exp, plan_exp)\n", "sorting"),
]
MISPLACED_FUNCTIONS = [
    ("rounding/float32.glsl", "float exp_f32(float x) { return x; }\n", "rounding"),
    ("rounding.glsl", "INTEGER OF(exp)(INTEGER x) { return x; }\n", "rounding"),
    ("rounding.metal", "inline float op_exp(float x) { return x; }\n", "rounding"),
    ("rounding.metal", "template <typename T>\nT op_exp(T x) {\n", "rounding"),
]


@pytest.mark.parametrize(
    ("folder", "file", "text", "family"),
    [
        *((folder, *case) for folder in BACKENDS for case in MISPLACED),
        *(
            (folder / FUNCTIONS, *case)
            for folder, suffix in SPLICED
            for case in MISPLACED_FUNCTIONS
            if case[0].endswith(suffix)
        ),
    ],
)
def test_a_misplaced_op_is_found(tmp_path: Path, folder: Path, file: str, text: str, family: str) -> None:
    rows = tmp_path / "csrc/ops/exponential.cpp"
    rows.parent.mkdir(parents=True)
    rows.write_text("OP(exp).doc();\n")
    right = tmp_path / BACKENDS[0] / "exponential/exp.cpp"
    right.parent.mkdir(parents=True)
    right.write_text("KERNEL(exp, .dtypes = f32) {\n")
    assert misplaced_sources(tmp_path) == {}
    wrong = tmp_path / folder / file
    wrong.parent.mkdir(parents=True, exist_ok=True)
    wrong.write_text(text)
    assert misplaced_sources(tmp_path) == {folder.as_posix(): [f"exp is in {family}, not in exponential"]}
