"""The wheel for 64-bit Arm, run by qemu on several processors. `./dev verify qemu` makes $FERRULE_PORT."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from ports.programs import PORTABLE, portable_output

FOLDER = Path(os.environ.get("FERRULE_PORT", "."))
ROOT, SITE = FOLDER / "root", FOLDER / "site"
# By qemu's name of a processor: the variant that its instructions allow.
VARIANTS = {
    "cortex-a53": "armv8",
    "a64fx": "armv8",  # it has fp16 and SVE, and neither dotprod nor SVE2
    "neoverse-n1": "armv8.2",
    "max,sve=off": "armv8.6",
    "max": "sve2",
    "max,sve512=on": "sve2",
}

every_processor = pytest.mark.parametrize("processor", VARIANTS)


def run_on(processor: str, *arguments: str) -> str:
    """Return the output of Python. Its programs are scripts that start qemu (emulated_programs.py)."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("FERRULE_")}
    variables |= {"QEMU_LD_PREFIX": str(ROOT), "QEMU_CPU": processor, "PYTHONPATH": str(SITE)}
    command = [str(ROOT / "usr/bin/python3.11"), *arguments]
    ended = subprocess.run(command, env=variables, capture_output=True, text=True, errors="replace", cwd=FOLDER)
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-4000:]
    return ended.stdout


@every_processor
def test_the_variant_of_the_processor_is_loaded_and_computes(processor: str) -> None:
    code = """
import ferrule as fe, numpy as np
report = fe.load_all()
x = np.arange(12, dtype="float32").reshape(3, 4)
assert np.array_equal(np.asarray(fe.asarray(x) @ fe.asarray(x.T)), x @ x.T)
print(fe.backends()[0].variant, sorted(row.state for row in report))
"""
    variant, states = run_on(processor, "-c", code).split(" ", 1)
    assert variant == VARIANTS[processor]
    assert states.count("loaded") == 1


def test_program_prints_what_it_prints_here() -> None:
    assert run_on("max", str(PORTABLE)) == portable_output()


def test_demo_agrees_with_float64() -> None:
    demo = Path(__file__).resolve().parents[2] / "examples" / "search_docs.py"
    shown = json.loads(run_on("max", str(demo), "--limit", "2", "--check", "--json").splitlines()[-1])
    assert shown["paragraphs"] == 2  # 16 take half an hour
    assert shown["greatest_distance"] < 1e-5


KIT = ("-m", "pytest", "--pyargs", "ferrule.testing", "-q", "-p", "no:cacheprovider", "--ferrule-device", "cpu:0")


# The variants with the least and the most instructions; the others differ from them by dot products, bfloat16 and the
# width of SVE.
EVERY_OP = ("cortex-a53", "max")
DIFFERENT = ("linear", "matmul", "matmul_integer", "scaled_dot_product_attention", "softmax", "sum", "exp", "astype")


@pytest.mark.parametrize("processor", [name for name in VARIANTS if name != "a64fx"])
def test_kit_at_brief(processor: str) -> None:
    ops = [] if processor in EVERY_OP else [word for op in DIFFERENT for word in ("--ferrule-op", op)]
    shown = run_on(processor, *KIT, "--ferrule-level", "brief", *ops)
    assert " passed" in shown.splitlines()[-1]


# Long inputs reach the vector loops and their ends, which differ by variant. All ops at this level take an hour.
VECTORISED = ("exp", "sum")


@pytest.mark.parametrize("processor", ["cortex-a53", "max"])
def test_vectorised_ops_at_quick(processor: str) -> None:
    ops = [word for op in VECTORISED for word in ("--ferrule-op", op)]
    shown = run_on(processor, *KIT, "--ferrule-level", "quick", *ops)
    assert " passed" in shown.splitlines()[-1]
