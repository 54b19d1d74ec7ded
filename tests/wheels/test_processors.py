"""The variant of the installed wheel that an emulated processor gets; none traps. qemu does not emulate AVX-512."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from installed import modules, output_of, package

SOURCE = Path(__file__).with_name("small_graph.c")
VARIANTS = {path.stem.rpartition("-")[2] for path in modules() if path.stem.startswith("libferrule-cpu-")}


@pytest.fixture(scope="module")
def small_graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A C program, because it starts much faster than Python in an emulator."""
    program = tmp_path_factory.mktemp("processors") / "small_graph"
    places = [f"-I{package() / 'include'}", f"-L{package()}", f"-Wl,-rpath,{package()}"]
    output_of("cc", "-std=c11", SOURCE, *places, "-lferrule", "-o", program)
    return program


def expected() -> np.ndarray:
    i = np.arange(1600)
    z = (i * 37 % 101 / 101).reshape(40, 40) @ (i * 53 % 89 / 89).reshape(40, 40)
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def run_on(processor: str, *command: str | Path) -> str:
    """The program's output on this processor; a trap ends it with a signal and fails here."""
    words = ["qemu-x86_64", "-cpu", processor, *map(str, command)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("processor", "variant", "lacking"),
    [
        ("Haswell", "haswell", "avx512f"),
        ("Haswell,-avx2", "x64", "avx2"),
        ("Haswell,-xsave", "x64", "avx2"),  # the operating system does not save AVX2 registers
        ("Nehalem", "x64", "avx2"),
    ],
)
def test_processor_gets_the_best_variant_that_it_can_run(
    small_graph: Path, processor: str, variant: str, lacking: str
) -> None:
    report, result = run_on(processor, small_graph).splitlines()
    rows = {row["variant"]: row for row in json.loads(report)["candidates"]}
    assert rows.keys() == VARIANTS
    assert [name for name, row in rows.items() if row["state"] == "loaded"] == [variant]
    impossible = VARIANTS - {variant, "x64"}
    assert "zen4" in impossible
    assert {rows[name]["state"] for name in impossible} == {"incompatible"}
    assert all(lacking in rows[name]["reason"] for name in impossible)
    computed = np.array(result.split(), "float32").reshape(40, 40)
    np.testing.assert_allclose(computed, expected(), rtol=2e-5)


def test_processor_without_a_runnable_variant_gets_every_reason(small_graph: Path) -> None:
    report, message = run_on("core2duo", small_graph).splitlines()
    rows = json.loads(report)["candidates"]
    assert {(row["variant"], row["state"]) for row in rows} == {(name, "incompatible") for name in VARIANTS}
    assert all("this CPU has no sse4" in row["reason"] for row in rows)
    assert message.startswith("there is no device 'cpu'")


def test_python_computes_with_the_haswell_variant_and_opens_no_other() -> None:
    code = """
import ferrule as fe
x = fe.arange(64, dtype="float32").reshape((8, 8))
assert (fe.softmax(x @ x).sum(axis=-1) - 1).max().item() < 1e-6
print(*sorted({line.split()[-1].rsplit("/")[-1] for line in open("/proc/self/maps") if "libferrule-" in line}))
"""
    assert run_on("Haswell", sys.executable, "-c", code) == "libferrule-cpu-haswell.so\n"
