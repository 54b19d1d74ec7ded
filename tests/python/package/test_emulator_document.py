"""docs/emulator.md: its lists of what the emulator has and lacks, and its project, are those of tests/emulation."""

from __future__ import annotations

import re
from functools import cache

import pytest
from installed import ROOT

PAGE = ROOT / "docs" / "emulator.md"
EMULATION = ROOT / "tests" / "emulation"
NAME = re.compile(r"`([A-Za-z_]\w+)`")


def section(heading: str) -> str:
    """The text from this heading to the next one."""
    [found] = re.findall(rf"^#+ {heading}\n(.*?)(?=^#)", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return str(found)


@cache
def headers() -> str:
    """What kernels and their hosts include, without comments."""
    files = [*EMULATION.glob("*.h"), *EMULATION.glob("emulation/*.h")]
    return re.sub(r"//[^\n]*", "", "".join(file.read_text(encoding="utf-8") for file in files))


def test_the_functions_of_the_runtime_are_those_of_its_header() -> None:
    header = (EMULATION / "cuda_runtime_api.h").read_text(encoding="utf-8")
    declared = set(re.findall(r"\b(cuda[A-Z]\w+)\(", header))
    assert len(declared) > 50
    assert set(NAME.findall(section("Functions of the runtime"))) == declared


def names_that_are_missing() -> list[str]:
    """Functions of the first column: with CUDA's prefixes, so that plain words are none."""
    first_column = re.findall(r"^\| (.*?) \|", section("Not there"), re.MULTILINE)
    names = NAME.findall(" ".join(first_column))
    return sorted({name for name in names if name.startswith(("cuda", "cu", "__", "atomic", "clock"))})


def test_missing_functions_are_found_in_the_page() -> None:
    assert {"cudaMemcpy", "__expf", "atomicInc", "__match_any_sync", "cuLaunchKernel"} <= set(names_that_are_missing())


@pytest.mark.parametrize("name", names_that_are_missing())
def test_what_the_page_calls_missing_is_in_no_header(name: str) -> None:
    declared = re.search(rf"(?<![\w]){name}\s*\(", headers()) or re.search(rf"#define {name}\b", headers())
    assert declared is None


def test_the_page_has_the_build_of_the_project_that_is_in_the_wheel() -> None:
    lines = (EMULATION / "example" / "CMakeLists.txt").read_text(encoding="utf-8").splitlines()
    build = "\n".join(line for line in lines if not line.startswith("#"))
    assert f"```cmake\n{build}\n```" in PAGE.read_text(encoding="utf-8")
