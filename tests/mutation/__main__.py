"""Plants one fault after the other in the CPU module's kernels, and shows whether the kit catches each:

    .venv/bin/python -m tests.mutation [kernel ...]

Works in build/mutation, on a copy; needs ferrule installed (`./dev build`). Prints a table; the exit status is the
number of faults that were not caught.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from pathlib import Path

import ferrule.testing
from ferrule.testing.target import runnable_variants
from rich.console import Console

from .faults import FAULTS, Fault

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "mutation"
SOURCE = FOLDER / "source"


def run(*command: object) -> None:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def prepare(variant: str) -> Path:
    """A copy of what the module is built from; the module's path."""
    for name in ("csrc", "cmake"):
        shutil.copytree(ROOT / name, SOURCE / name, dirs_exist_ok=True)
    shutil.copy2(ROOT / "CMakeLists.txt", SOURCE)
    options = ("-G", "Ninja", "-DFERRULE_BUILD_TESTS=OFF", f"-DFERRULE_VARIANTS={variant}")
    run("cmake", "-S", SOURCE, "-B", FOLDER / "build", *options)
    return FOLDER / "build" / "csrc" / "backends" / "cpu" / f"libferrule-cpu-{variant}.so"


def build() -> None:
    run("cmake", "--build", FOLDER / "build")


def judge(module: Path, kernel: str, dtypes: tuple[str, ...], level: str) -> ferrule.testing.Results:
    return ferrule.testing.check(kernel, backend=module, dtypes=dtypes, level=level, timeout=120)


def try_fault(fault: Fault, module: Path, level: str) -> ferrule.testing.Results:
    path = SOURCE / "csrc" / "backends" / "cpu" / "kernels" / fault.file
    text = path.read_text()
    if text.count(fault.before) != 1:
        raise SystemExit(f"{fault.file} holds {text.count(fault.before)} times, not once: {fault.before}")
    try:
        path.write_text(text.replace(fault.before, fault.after))
        build()
        return judge(module, fault.kernel, fault.dtypes, level)
    finally:
        path.write_text(text)


def caught_by(results: ferrule.testing.Results, wanted: str) -> str:
    """The checks that failed; nothing when that one, if it is named, is not among them."""
    checks = {record.check for record in results.failures}
    return "" if wanted and wanted not in checks else ", ".join(sorted(checks))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description="Does the kit catch these faults?")
    parser.add_argument("kernels", nargs="*", help="only these")
    parser.add_argument("--level", default="quick", choices=["quick", "full"])
    options = parser.parse_args()
    module = prepare(runnable_variants()[0])
    build()
    chosen = [fault for fault in FAULTS if not options.kernels or fault.kernel in options.kernels]
    console = Console(width=160)
    console.print(f"{module.name}, level {options.level}")
    missed = 0
    for fault in chosen:
        start = time.perf_counter()
        clean = judge(module, fault.kernel, fault.dtypes, options.level)
        if not clean.ok:
            raise SystemExit(f"{fault.kernel} fails without a fault:\n{clean}")
        checks = caught_by(try_fault(fault, module, options.level), fault.check)
        build()
        missed += not checks
        spent = f"{time.perf_counter() - start:.0f} s"
        console.print(
            f"{fault.kernel:<16} {fault.what}: {(checks and f'caught by {checks}') or '[bold red]missed'} ({spent})"
        )
    console.print(f"{len(chosen) - missed} of {len(chosen)} faults are caught")
    return missed


if __name__ == "__main__":
    sys.exit(main())
