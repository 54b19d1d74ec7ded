"""A third-party backend and program, built outside the tree against the installed wheel, and run."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from installed import ROOT, build, output_of, package

FOREIGN = ROOT / "tests" / "foreign"


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy, so that nothing in the tree is reached by accident."""
    return Path(shutil.copytree(FOREIGN, tmp_path_factory.mktemp("foreign") / "sources"))


@pytest.fixture(scope="module")
def module(sources: Path) -> Path:
    return build(sources / "module", sources.parent / "module") / "libferrule-mine.so"


@pytest.fixture(scope="module")
def application(sources: Path) -> Path:
    return build(sources / "application", sources.parent / "application") / "application"


def test_a_foreign_module_has_a_manifest_and_exports_three_symbols(module: Path) -> None:
    manifest = json.loads(module.with_suffix(".json").read_text())
    assert manifest["name"] == "mine"
    assert manifest["device_kinds"] == ["cpu"]
    assert manifest["ops"] == ["add"]
    numbers = module.parent / "numbers" / "libmine_numbers.so"
    assert manifest["libraries"] == {numbers.name: hashlib.sha256(numbers.read_bytes()).hexdigest()}
    symbols = {line.split()[-1] for line in output_of("nm", "-D", "--defined-only", module).splitlines()}
    assert symbols == {"ferrule_backend_abi", "ferrule_backend_score", "ferrule_backend_init"}


def test_a_foreign_program_computes_on_the_wheels_backend(application: Path) -> None:
    assert output_of(application, "cpu") == "cpu:0: 11 22 33\n"


def test_a_foreign_program_computes_on_a_foreign_module(application: Path, module: Path) -> None:
    assert output_of(application, "mine", module) == "mine:0: 11 22 33\n"


def test_python_computes_on_a_foreign_module(module: Path) -> None:
    program = """
import sys
import numpy as np
import ferrule as fe
fe.load(sys.argv[1])
x = fe.asarray(np.arange(3, dtype=np.float32), device="mine")
print(np.asarray(x + x).tolist())
"""
    assert output_of(sys.executable, "-c", program, module) == "[0.0, 2.0, 4.0]\n"


def test_foreign_kernel_gets_contiguous_inputs_on_request(module: Path) -> None:
    """Its device uses the SDK's copy, which is its only kernel for it."""
    program = """
import sys
import numpy as np
import ferrule as fe
fe.load(sys.argv[1])
graph = fe.Graph("mine")
x = graph.input((3, 2))
graph.output(fe.permute_dims(x, (1, 0)) + fe.flip(fe.permute_dims(x, (1, 0)), axis=1))
graph.compile(fallback="error")
print(np.asarray(graph.compute(np.arange(6, dtype=np.float32).reshape(3, 2))))
"""
    x = np.arange(6, dtype=np.float32).reshape(3, 2).T
    assert output_of(sys.executable, "-c", program, module) == f"{x + x[:, ::-1]}\n"


def test_pkg_config_knows_the_library(sources: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PKG_CONFIG_PATH": str(package() / "lib" / "pkgconfig")}
    command = ["pkg-config", "--cflags", "--libs", "ferrule"]
    flags = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.split()
    output_of("cc", sources / "application" / "application.c", "-o", tmp_path / "application", *flags)
    assert output_of(tmp_path / "application", "cpu") == "cpu:0: 11 22 33\n"
