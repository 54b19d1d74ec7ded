"""Modules written or built for the headers before dtypes and requirements were final."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import ferrule as fe
import pytest
from installed import ROOT, build, output_of

EARLIER_HASH = 0x0C295804FC6EB21D
CPP = """#include <ferrule/backend.hpp>
ferrule::sdk::Support answer() { return {.kernel = "mine", .contiguous_inputs = 0b11}; }
"""
C = """#include <ferrule/backend.h>
void ask(fe_requirements *out) { out->contiguous_inputs = 3; }
size_t size_of(const fe_host *host, fe_dtype dtype) { return host->dtype_size(dtype); }
"""


def include_dir() -> Path:
    return Path(output_of(sys.executable, "-m", "ferrule", "--include-dir").strip())


@pytest.mark.parametrize(
    ("compiler", "source", "words"),
    [
        (["c++", "-std=c++20", "-x", "c++"], CPP, ["pass input numbers in braces"]),
        (["cc", "-std=c11", "-x", "c"], C, ["contiguous_inputs", "dtype_size"]),
    ],
    ids=["C++", "C"],
)
def test_sources_for_earlier_headers_fail_to_compile_with_an_explanation(
    tmp_path: Path, compiler: list[str], source: str, words: list[str]
) -> None:
    path = tmp_path / "module"
    path.write_text(source)
    command = [*compiler, "-fsyntax-only", "-I", str(include_dir()), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    for word in words:
        assert word in done.stderr


def test_modules_built_with_earlier_headers_are_refused_before_they_run(tmp_path: Path) -> None:
    """A current module that reports their hash."""
    sources = Path(shutil.copytree(ROOT / "tests" / "foreign", tmp_path / "sources"))
    module = build(sources / "module", tmp_path / "module") / "libferrule-mine.so"
    kept = re.search(r"FE_LAYOUT_HASH UINT64_C\((\w+)\)", (include_dir() / "ferrule" / "layout_hash.h").read_text())
    assert kept is not None
    today = int(kept[1], 16).to_bytes(8, "little")
    content = module.read_bytes()
    assert today in content
    module.write_bytes(content.replace(today, EARLIER_HASH.to_bytes(8, "little")))
    module.with_suffix(".json").unlink()
    with pytest.raises(fe.AbiMismatchError, match=r"other headers of interface .*0x0c295804fc6eb21d.*rebuild it"):
        fe.load(module)
