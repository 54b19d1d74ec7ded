"""The compilation of a kernel file in a build (toolchain/compile_kernel.sh), with a fake nvcc."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOOLCHAIN = Path(__file__).resolve().parents[1] / "toolchain"

# As nvcc does, it lists the file and its headers with the name of the output, and says what ptxas says.
NVCC = """\
#!/bin/sh
echo "$*" >>"$CALLS"
phase= output= list= source=
while [ $# -gt 0 ]; do
  case $1 in
    -cubin|-ptx) phase=$1;;
    -o) output=$2; shift;;
    -MF) list=$2; shift;;
    *.cu|*.ptx) source=$1;;
  esac
  shift
done
echo "ptxas info    : Used 14 registers" >&2
echo "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" >&2
if grep -q wrong "$source"; then echo "$source(1): error: wrong" >&2; exit 2; fi
if [ -n "$list" ]; then
  printf '%s: %s \\\\\\n    ./kernel.h \\\\\\n    /usr/include/stdc-predef.h\\n' "$output" "$source" >"$list"
  cat "$source" kernel.h >"$output"
else
  cat "$source" >"$output"
fi
echo "$phase" >>"$output"
"""


class Tree:
    """A copy of a source tree with one kernel, and a build folder in it."""

    def __init__(self, folder: Path, calls: Path) -> None:
        self.folder, self.build, self.calls = folder, folder / "build", calls
        self.build.mkdir(parents=True)
        (folder / "fill.cu").write_text('#include "kernel.h"\n')
        (folder / "kernel.h").write_text("// header\n")
        (folder / "nvcc").write_text(NVCC)
        (folder / "nvcc").chmod(0o755)

    def compile(self, phase: str = "-cubin", ccache: str = "") -> subprocess.CompletedProcess[str]:
        script = ["sh", str(TOOLCHAIN / "compile_kernel.sh"), phase, str(self.output), str(self.folder), ccache]
        command = [str(self.folder / "nvcc"), "-I", ".", "-arch=sm_90a", "fill.cu"]
        environment = {**os.environ, "CALLS": str(self.calls), "CCACHE_DIR": str(self.calls.parent / "cache")}
        return subprocess.run([*script, *command], cwd=self.folder, env=environment, capture_output=True, text=True)

    @property
    def output(self) -> Path:
        return self.build / "fill.90a.cubin"

    def headers(self) -> list[str]:
        target, _, files = (self.build / "fill.90a.cubin.d").read_text().partition(":")
        assert target.replace("\\ ", " ") == str(self.output)
        return [line.strip(" \\") for line in files.splitlines()]


@pytest.fixture
def ccache() -> str:
    return shutil.which("ccache") or pytest.skip("needs ccache")


def test_compiles_in_the_phase_and_lists_the_headers_with_absolute_paths(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "tree", tmp_path / "calls")
    for phase in ("-cubin", "-both"):
        done = tree.compile(phase)
        assert (done.returncode, done.stderr) == (0, "")
        assert tree.output.read_text().splitlines()[-1] == "-cubin"
        assert tree.headers() == [f"{tree.folder}/fill.cu", f"{tree.folder}/./kernel.h", "/usr/include/stdc-predef.h"]
        assert "Used 14 registers" in (tree.build / "fill.90a.cubin.txt").read_text()


def test_code_is_made_of_the_ptx_beside_it(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "tree", tmp_path / "calls")
    assert tree.compile("-both").returncode == 0
    ptx = tree.output.with_suffix(".ptx").read_text()
    assert ptx.splitlines() == ['#include "kernel.h"', "// header", "-ptx"]
    assert tree.output.read_text() == ptx + "-cubin\n"
    first, second = (tmp_path / "calls").read_text().splitlines()
    assert "fill.cu" in first
    assert "-I" in first
    assert "-arch=sm_90a" in second
    assert "-I" not in second


def test_an_error_is_printed_without_what_ptxas_says(tmp_path: Path) -> None:
    tree = Tree(tmp_path / "tree", tmp_path / "calls")
    (tree.folder / "fill.cu").write_text("wrong")
    for phase in ("-cubin", "-both"):
        done = tree.compile(phase)
        assert (done.returncode, done.stderr) == (2, "fill.cu(1): error: wrong\n")


def test_another_copy_of_the_tree_takes_all_from_the_cache(tmp_path: Path, ccache: str) -> None:
    calls = tmp_path / "calls"
    first, second = Tree(tmp_path / "first", calls), Tree(tmp_path / "another folder", calls)
    assert first.compile(ccache=ccache).returncode == 0
    done = second.compile(ccache=ccache)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(calls.read_text().splitlines()) == 1
    assert second.output.read_text() == first.output.read_text()
    assert "Used 14 registers" in (second.build / "fill.90a.cubin.txt").read_text()
    assert [header.replace("\\ ", " ") for header in second.headers()][:2] == [
        f"{second.folder}/fill.cu",
        f"{second.folder}/./kernel.h",
    ]


def test_a_changed_header_or_phase_is_not_taken_from_the_cache(tmp_path: Path, ccache: str) -> None:
    tree = Tree(tmp_path / "tree", tmp_path / "calls")
    tree.compile(ccache=ccache)
    assert "-ptx" not in tree.output.read_text()
    tree.compile("-both", ccache=ccache)
    assert "-ptx" in tree.output.read_text()
    assert tree.output.with_suffix(".ptx").exists()
    (tree.folder / "kernel.h").write_text("// changed\n")
    tree.compile(ccache=ccache)
    assert "// changed" in tree.output.read_text()
