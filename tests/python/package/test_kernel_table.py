"""ferrule_kernel_table, the CMake function that generates the table of a backend's kernels."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import ferrule as fe
import pytest

FUNCTIONS = Path(fe.__file__).parent / "lib" / "cmake" / "ferrule"
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(table NONE)
include("{functions}/FerruleKernelTable.cmake")
ferrule_kernel_table(table ops NAMESPACE mine HEADER plan.h SOURCES kernels.cpp)
message(STATUS "the ops: ${{ops}}")
"""


def configure(folder: Path, kernels: str) -> subprocess.CompletedProcess[str]:
    if shutil.which("cmake") is None:
        pytest.skip("needs CMake")
    (folder / "kernels.cpp").write_text(kernels)
    (folder / "CMakeLists.txt").write_text(PROJECT.format(functions=FUNCTIONS.as_posix()))
    return subprocess.run(["cmake", "-S", folder, "-B", folder / "build"], capture_output=True, text=True)


def test_table_lists_each_kernel_once_in_order(tmp_path: Path) -> None:
    done = configure(tmp_path, "KERNEL(tan, plan_tan)\n// KERNEL(no, kernel)\nKERNEL(exp, plan_exp)\n")
    assert done.returncode == 0, done.stderr
    assert "the ops: exp;tan" in done.stdout
    table = (tmp_path / "build" / "kernel_table.cpp").read_text()
    assert '#include "plan.h"' in table
    assert "namespace mine {" in table
    rows = [line.strip() for line in table.splitlines() if "kernel_exp" in line or "kernel_tan" in line]
    assert rows == [
        "extern const Kernel kernel_exp;",
        "extern const Kernel kernel_tan;",
        "&kernel_exp,",
        "&kernel_tan,",
    ]


@pytest.mark.parametrize(
    ("kernels", "words"),
    [
        ("KERNEL(exp, plan)\n  KERNEL(log, plan)\n", "must begin with KERNEL(<op>,"),
        ("KERNEL(\n    exp, plan)\n", "must begin with KERNEL(<op>,"),
        ("KERNEL(Exp, plan)\n", "must begin with KERNEL(<op>,"),
        ("KERNEL(exp, plan)\nKERNEL(exp, other)\n", "an op has two kernels"),
        ("// none yet\n", "no line KERNEL(<op>, ...)"),
    ],
)
def test_lines_that_would_be_lost_are_errors(kernels: str, words: str, tmp_path: Path) -> None:
    done = configure(tmp_path, kernels)
    assert done.returncode != 0
    assert words in " ".join(done.stderr.split())


def test_function_names_are_those_at_the_beginning_of_lines(tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("needs CMake")
    (tmp_path / "a.glsl").write_text("float exp_f32(float x) { return a[0]; }\n  float inner_f32(float y);\n")
    (tmp_path / "b.glsl").write_text("float log_f32(float x) {\n  return x;\n}\nfloat exp_f32(float x);\n")
    files = " ".join((tmp_path / name).as_posix() for name in ("a.glsl", "b.glsl"))
    (tmp_path / "CMakeLists.txt").write_text(
        PROJECT.partition("ferrule_kernel_table(")[0].format(functions=FUNCTIONS.as_posix())
        + f'ferrule_function_names(names "[a-z]+ ([a-z]+)_f32\\\\(" {files})\n'
        + 'message(STATUS "the names: ${names}")\n'
    )
    done = subprocess.run(["cmake", "-S", tmp_path, "-B", tmp_path / "build"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "the names: exp;log" in done.stdout
