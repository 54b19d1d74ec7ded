"""The CPU module for Sapphire Rapids: what can be seen of it on any machine.

`./dev verify qemu` builds it in $FERRULE_SAPPHIRERAPIDS. What its kernels for AMX compute is tested with
simulated instructions (csrc/backends/cpu/tests)."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("FERRULE_SAPPHIRERAPIDS", ".")) / "csrc" / "backends" / "cpu"
MODULE = FOLDER / "libferrule-cpu-sapphirerapids.so"


@pytest.mark.parametrize(
    "instruction",
    ["ldtilecfg", "tileloadd", "tilestored", "tilerelease", "tdpbf16ps", "tdpbuud", "vaddph", "vmulph", "vdivph"],
)
def test_has_the_instruction(instruction: str) -> None:
    code = subprocess.run(["objdump", "-d", MODULE], check=True, capture_output=True, text=True).stdout
    assert re.search(rf"\b{instruction}\b", code)


def test_requires_a_processor_that_has_them() -> None:
    features = json.loads(MODULE.with_suffix(".json").read_text())["cpu_features"]
    assert {"amxtile", "amxint8", "amxbf16", "avx512fp16", "avx512bf16"} <= set(features)


def test_is_refused_by_other_processors(tmp_path: Path) -> None:
    if " amx_tile " in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has AMX")
    for file in (MODULE, MODULE.with_suffix(".json")):
        shutil.copy(file, tmp_path)
    program = "import ferrule as fe, sys; [row] = fe.load_all(dirs=sys.argv[1:]).to_dict()['candidates']; print(row)"
    ended = subprocess.run([sys.executable, "-c", program, tmp_path], check=True, capture_output=True, text=True)
    assert "'incompatible'" in ended.stdout
    assert "this CPU has no" in ended.stdout
