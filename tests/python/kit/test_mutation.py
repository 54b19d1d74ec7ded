"""The faults that `python -m tests.mutation --generate` makes: positions, exclusions, names."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from tests.mutation.backends import BACKENDS
from tests.mutation.campaign import JUDGED, judged_equivalent
from tests.mutation.core_faults import CORE_FAULTS
from tests.mutation.edits import KINDS, edits_of, numbers_near
from tests.mutation.faults import FAULTS
from tests.mutation.generated import AREAS, LEFT_OUT, GeneratedFault, all_faults, draw, faults_in, files_of
from tests.mutation.ops_of_files import near, ops_in, ops_of_family, ops_of_shaders, ops_with_rows, units_of
from tests.mutation.planted_faults import PlantedFault
from tests.mutation.planted_faults import faults_of as planted_faults_of
from tests.mutation.source_text import SourceText

ROOT = Path(__file__).resolve().parents[3]
KERNELS = ROOT / "csrc/backends/cpu/kernels"
SHADERS = ROOT / "csrc/backends/vulkan/kernels"

SAMPLE = """\
// a + b and 1 < 2 in a comment
#include <math.h>
#define DOUBLED(x) ((x) + \\
                    (x) - 1)
/* 3 * 4
   if (a && b) */
static_assert(sizeof(int) == 4, "four bytes");
static const char* text = "a + b, if (c) { d = 5; }";

template <int n = 3>
struct Number {
  static constexpr int value = n;
};

int largest(const int* from, int count, bool wanted) {
  int found[8] = {};
  int best = 0;
  for (int i = 0; i < count; ++i) {
    found[i & 7] = from[i];
    if (wanted && from[i] > best) best = from[i];
  }
  return -best + Number<2>::value * found[0];
}
"""


@functools.cache
def faults_of(area: str) -> list[GeneratedFault]:
    return all_faults(area, ROOT)


def edits(text: str) -> set[tuple[str, str, str]]:
    return {(edit.kind, edit.before, edit.after) for edit in edits_of(SourceText(text))}


def test_faults_change_only_code() -> None:
    first = SAMPLE[: SAMPLE.index("int largest")].count("\n") + 1
    source = SourceText(SAMPLE)
    touched = {source.line_of(edit.start) for edit in edits_of(source)}
    assert touched
    assert min(touched) >= first


def test_sample_has_a_fault_of_each_kind() -> None:
    found = edits(SAMPLE)
    assert ("bounds", "<", "<=") in found
    assert ("comparison", ">", "<=") in found
    assert ("logic", "&&", "||") in found
    assert ("conjunct", "wanted && ", "") in found
    assert ("conjunct", " && from[i] > best", "") in found
    assert ("condition", "wanted && from[i] > best", "!(wanted && from[i] > best)") in found
    assert ("mask", "&", "|") in found
    assert ("constant", "7", "8") in found
    assert ("negation", "-", "") in found
    assert ("arithmetic", "*", "+") in found
    assert ("statement", "found[i & 7] = from[i];", "{}") in found
    assert ("constant", "2", "3") in found, "the argument of a template is code"
    assert not any(before == "8" for _, before, _ in found), "nobody sees that an array is larger than needed"


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("v = hn::IfThenElse(mask, a, f(b, c));", ("mask", " a, f(b, c)", " f(b, c), a")),
        ("x = std::floor(y);", ("rounding", "floor", "ceil")),
        ("void main() { barrier(); }", ("barrier", "barrier();", "{}")),
        ("return p.keys + p.queries;", ("field", "keys", "queries")),
        ("float x = 0.5f;", ("constant", "0.5f", "0.500500000000f")),
    ],
)
def test_each_kind_of_fault_makes_the_expected_edits(code: str, wanted: tuple[str, str, str]) -> None:
    assert wanted in edits(code)


def test_pointers_references_and_templates_are_no_operators() -> None:
    code = "void f(const T* a, T& b, std::vector<int> c) { const Operand &x = a[i], &y = *b; auto&& z = g<T>(x); }"
    assert not [edit for edit in edits_of(SourceText(code)) if edit.before in ("*", "&", "<", ">", "&&")]


def test_number_faults_are_near_values() -> None:
    assert numbers_near("64") == ["63", "65"]
    assert numbers_near("0") == ["1"]
    assert numbers_near("1u") == ["0u", "2u"]
    assert numbers_near("0x7f00u") == ["0x7e00u"]
    assert numbers_near("0x1p112f") == []
    assert [float(near) for near in numbers_near("1.5")] == [1.5015]


def test_most_faults_of_a_sample_compile(tmp_path: Path) -> None:
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    faults = faults_in("kernels", "sample.cpp", SAMPLE)
    functions = []
    for number, fault in enumerate(faults):
        body = fault.edit.apply(SAMPLE)
        functions.append(f"namespace n{number} {{\n{body[body.index('template') :]}}}")
    path = tmp_path / "all.cpp"
    path.write_text("\n".join(functions))
    done = subprocess.run(
        [compiler, "-std=c++20", "-fsyntax-only", str(path)], capture_output=True, text=True, check=False
    )
    broken = set(re.findall(r"all\.cpp:(\d+):\d+: error", done.stderr))
    assert len(faults) >= 20
    assert len(broken) < len(faults) / 10, done.stderr


def test_each_edit_is_applied_where_it_says_and_nowhere_else() -> None:
    text = (KERNELS / "reduce.h").read_text()
    for fault in faults_in("kernels", "reduce.h", text):
        changed = fault.edit.apply(text)
        end = fault.edit.start + len(fault.edit.before)
        assert changed != text
        assert changed == text[: fault.edit.start] + fault.edit.after + text[end:]


def test_fingerprints_do_not_depend_on_the_numbers_of_lines() -> None:
    text = (KERNELS / "movement/take.cpp").read_text()
    moved = "// a line more\n\n" + text.replace("namespace {\n", "namespace {\n\nint unrelated();\n\n", 1)
    before, after = faults_in("kernels", "movement/take.cpp", text), faults_in("kernels", "movement/take.cpp", moved)
    assert {fault.fingerprint for fault in before} <= {fault.fingerprint for fault in after}
    assert before[0].line != after[0].line


def test_fingerprints_are_unique_and_change_with_the_line() -> None:
    text = "void f() {\n  a = b + c;\n  a = b + c;\n}\n"
    found = [fault.fingerprint for fault in faults_in("kernels", "x.cpp", text)]
    assert len(set(found)) == len(found)
    changed = {fault.fingerprint for fault in faults_in("kernels", "x.cpp", text.replace("b + c", "b + d"))}
    assert not changed & set(found)


@pytest.mark.parametrize("area", list(AREAS))
def test_drawing_is_reproducible_and_fair(area: str) -> None:
    faults = faults_of(area)
    drawn = list(draw(faults, seed=3))
    assert drawn == list(draw(faults, seed=3))
    assert drawn != list(draw(faults, seed=4))
    assert sorted(fault.fingerprint for fault in drawn) == sorted(fault.fingerprint for fault in faults)
    kinds = Counter(fault.kind for fault in drawn[: 3 * len(KINDS)])
    assert len(kinds) >= 8
    assert max(kinds.values()) <= 8
    assert len({fault.file for fault in drawn[:60]}) >= 10


def test_files_of_every_area_exist() -> None:
    assert {path.name for path in files_of("cpu", ROOT)} >= {"reduce.h", "matmul.cpp", "arithmetic.cpp"}
    assert {path.name for path in files_of("vulkan", ROOT)} >= {"softmax.comp", "hyperbolic.glsl", "reduce.cpp"}
    assert {path.name for path in files_of("passes", ROOT)} >= {"fuse.cpp", "remove_duplicates.cpp"}
    assert all((ROOT / name).is_file() for name in LEFT_OUT)


def test_kernel_file_maps_to_its_rows_and_a_header_to_its_includers() -> None:
    assert ops_in((KERNELS / "linear_algebra/integer_matmul.cpp").read_text()) == {"matmul"}
    assert [unit.ops for unit in units_of(KERNELS / "normalization/softmax.cpp")] == [{"softmax", "log_softmax"}]
    rows = {op for unit in units_of(KERNELS / "row_operations.h") for op in unit.ops}
    assert rows >= {"softmax", "log_softmax", "layer_norm", "rms_norm", "scaled_dot_product_attention"}
    assert all(unit.ops for path in files_of("cpu", ROOT) for unit in units_of(path))
    [products] = units_of(KERNELS / "decompositions/products.cpp")  # has no row: its header's includers call it
    assert products.ops > {"inv", "qr", "svd"}
    assert "add" not in products.ops
    [interpreter] = units_of(KERNELS / "gather.cpp")
    assert "add" in interpreter.ops
    assert ops_of_shaders(SHADERS / "movement/take.comp", SHADERS) == {"take"}
    assert ops_of_shaders(SHADERS / "row_teams.glsl", SHADERS) >= {"softmax", "layer_norm", "rms_norm"}
    assert all(ops_of_shaders(path, SHADERS) for path in files_of("vulkan", ROOT))


def test_file_maps_to_the_ops_of_the_family_in_its_name() -> None:
    functions = SHADERS / "elementwise"
    assert ops_of_family(functions / "error_function/erf.glsl", functions, ROOT) == {"erf", "erfc"}
    assert ops_of_family(functions / "rounding/float64.glsl", functions, ROOT) == {"floor", "ceil", "trunc", "round"}
    assert ops_of_family(functions / "float_bits.glsl", functions, ROOT) == frozenset()


def test_ops_named_in_the_definition_come_first() -> None:
    text = (KERNELS / "arithmetic.cpp").read_text()
    line = text[: text.index("struct FloorDivide")].count("\n") + 3
    assert near(text, line, ops_in(text)) == ["floor_divide"]


def test_kernels_without_an_op_row_get_no_faults() -> None:
    text = (KERNELS / "exponential.cpp").read_text()
    waiting = ops_in(text) - ops_with_rows(ROOT)
    assert "exp" not in waiting
    touched = {fault.line for fault in faults_of("cpu") if fault.file.endswith("/exponential.cpp")}
    assert not any(near(text, line, waiting) for line in touched)
    assert touched


def test_every_equivalent_fault_has_a_reason() -> None:
    groups = tomllib.loads(JUDGED.read_text())["equivalent"]
    names = [name for group in groups for name in group["faults"]]
    assert len(judged_equivalent()) == len(names), "one is listed twice"
    assert all(re.fullmatch(r"[\w.]+:\d+-[a-z]+-[0-9a-f]{10}([.]\d+)?", name) for name in names)
    assert all(len(group["reason"]) > 20 for group in groups)


def test_handwritten_faults_of_kernels_match_the_files() -> None:
    for fault in FAULTS:
        assert (KERNELS / fault.file).read_text().count(fault.before) == 1, fault
        assert fault.kernel in ops_with_rows(ROOT), fault


def test_handwritten_core_faults_match_the_files_and_their_tests_exist() -> None:
    for fault in CORE_FAULTS:
        assert (ROOT / "csrc/core" / fault.file).read_text().count(fault.before) == 1, fault
        file, _, name = fault.test.partition("::")
        if name:
            assert f"def {name}(" in (ROOT / "tests/python" / file).read_text(), fault
        else:
            sources = (path.read_text() for path in (ROOT / "tests/cpp/executor").glob("*_test.cpp"))
            assert any(fault.test.strip("*") in source for source in sources), fault


PLANTED = [(backend.folder, fault) for backend in BACKENDS.values() for fault in planted_faults_of(backend)]


@pytest.mark.parametrize(("folder", "fault"), PLANTED, ids=[fault.what for _, fault in PLANTED])
def test_planted_fault_can_be_made_and_names_its_check(folder: str, fault: PlantedFault) -> None:
    assert (ROOT / folder / fault.file).read_text().count(fault.before) == 1
    assert fault.after != fault.before
    assert (fault.kit == "") != (fault.test == "")
    assert (ROOT / folder / "tests" / fault.test.partition("::")[0]).exists()
    assert fault.unit == "" or (ROOT / folder / "kernels" / fault.unit).is_file()
