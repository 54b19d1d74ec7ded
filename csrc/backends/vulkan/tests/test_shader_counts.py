"""The counts of the kernels (bench/shaders.py), and the page that lists them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
PAGE = ROOT / "csrc" / "backends" / "vulkan" / "docs" / "kernels.md"
KERNELS = ROOT / "csrc" / "backends" / "vulkan" / "kernels"

PAGE_WITH_MARKS = """before
<!-- the kernels: written by bench/shaders.py -->
old
<!-- the end of the kernels -->
after
"""


def variants_of(kernel: Path) -> list[str]:
    line = re.search(r"^// variants: (.*)$", kernel.read_text(), re.MULTILINE)
    return line.group(1).split() if line else []


@pytest.fixture
def shaders(module: Path) -> Path:
    """The shaders of the module's build: beside the module or, for a wheel, in the wheel's build folder."""
    for folder in (module.parent, ROOT / "build" / "wheel-vulkan"):
        if (folder / "shaders").is_dir() and shutil.which("spirv-dis"):
            return folder / "shaders"
    pytest.skip("needs the compiled shaders and spirv-dis")


def test_the_page_names_every_kernel_and_variant() -> None:
    rows: dict[str, set[str]] = {}
    for line in PAGE.read_text().splitlines():
        if found := re.match(r"\| `(\w+\.comp)` \| ([^|]*) \|", line):
            rows.setdefault(found[1], set()).update(found[2].split())
    kernels = {kernel.name: variants_of(kernel) for kernel in KERNELS.rglob("*.comp")}
    assert rows.keys() == kernels.keys(), "docs/kernels.md says how to write it again"
    for name, variants in kernels.items():
        expected = {re.sub(r"_[^_]*$", "_*", variant) for variant in variants}
        # Older compilers leave out shaders that need cooperative matrices.
        new = {variant for variant in expected if "khr" in variant}
        assert rows[name] - new == expected - new, f"{name}: docs/kernels.md says how to write it again"


def test_counts_match_the_shader_sources(shaders: Path, tmp_path: Path) -> None:
    names = ("matmul.f32", "matmul.u8", "reduce_partials.place_f32", "softmax.f32")
    table, page, file = tmp_path / "shader_table.h", tmp_path / "page.md", tmp_path / "counts.json"
    table.write_text("".join(f'#include "{shaders}/{name}.h"\n' for name in names))
    page.write_text(PAGE_WITH_MARKS)
    command = [
        sys.executable,
        "-m",
        "csrc.backends.vulkan.bench.shaders",
        str(table),
        "--json",
        str(file),
        "--page",
        str(page),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 2 + 4

    matmul, of_bytes, place, softmax = json.loads(file.read_text())
    assert (matmul["barriers"], matmul["stores"]) == (2, 0)
    assert matmul["shared_bytes"] == 4 * 16 * (65 + 65), "two tiles of 16 rows of 64 and one"
    assert [matmul[op] for op in ("fma", "mul", "add")] == [1, 0, 0]
    assert [of_bytes[op] for op in ("fma", "mul", "add")] == [0, 0, 0], "integers are not counted"
    assert place["shared_bytes"] == 128 * 16, "a key of 4 bytes and a place of 8, which is aligned"
    assert (softmax["barriers"], softmax["stores"]) == (6, 1), "three each of two foldings"
    assert softmax["reached"] > softmax["instructions"], "exp_f32 is called twice"

    lines = page.read_text().splitlines()
    assert (lines[0], lines[-1]) == ("before", "after")
    assert "old" not in lines
    assert [line.split(" | ")[:2] for line in lines if "`" in line] == [
        ["| `matmul.comp`", "f32 u8"],
        ["| `reduce_partials.comp`", "place_*"],
        ["| `softmax.comp`", "f32"],
    ]
