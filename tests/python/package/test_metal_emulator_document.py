"""docs/emulator_metal.md: what it says of MSL is what the headers of tests/emulation/metal/msl declare."""

from __future__ import annotations

import re

import pytest
from installed import ROOT

PAGE = ROOT / "docs" / "emulator_metal.md"
METAL = ROOT / "tests" / "emulation" / "metal"
NAME = re.compile(r"`(?:\[\[)?([A-Za-z_]\w+)(?:\(n\))?(?:\]\])?`")


def section(heading: str) -> str:
    """The text from this heading to the next one."""
    [found] = re.findall(rf"^#+ {heading}\n(.*?)(?=^#)", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return str(found)


def names(heading: str) -> list[str]:
    first_column = re.findall(r"^\| (.*?) \|", section(heading), re.MULTILINE)
    return sorted(set(NAME.findall(" ".join(first_column))) - {"vec", "kernel"})


def declared() -> str:
    files = [*METAL.glob("msl/ferrule/*"), METAL / "library" / "kernel_text.cpp"]
    return re.sub(r"//[^\n]*", "", "".join(file.read_text(encoding="utf-8") for file in files))


def test_names_are_found_in_the_page() -> None:
    assert {"simd_sum", "thread_position_in_grid", "atomic_float", "erf", "quad_shuffle", "float2"} <= {
        *names("Supported parts of MSL"),
        *names("Not there"),
    }


@pytest.mark.parametrize("name", names("Supported parts of MSL"))
def test_what_the_page_lists_is_declared(name: str) -> None:
    # Vectors, some SIMD functions and the variable templates of type traits are declared by macros.
    parts = {name, re.sub(r"[234]$", "", name), re.sub(r"_[vt]$", "", name), name.removeprefix("packed_")[:-1]}
    assert any(re.search(rf"\b{part}\b", declared()) for part in parts if part)


@pytest.mark.parametrize(
    "name", [name for name in names("Not there") if not name.startswith(("simd_", "half", "bfloat", "static_cast"))]
)
def test_what_the_page_calls_missing_is_in_no_header(name: str) -> None:
    assert not re.search(rf"\b{name}\b", declared())
