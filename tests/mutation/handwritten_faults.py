"""Tries the hand-written faults: whether the kit catches each fault of faults.py, and by which checks; whether the
named test catches each fault of core_faults.py."""

from __future__ import annotations

import sys
import time

import ferrule.testing
from rich.console import Console

from .backends import HOST, ROOT
from .core_faults import CORE_FAULTS, CoreFault
from .faults import FAULTS, Fault
from .step import Step, environment_of, failure_of
from .workspace import BuildError, KernelWorkspace, Workspace

CORE = "csrc/core"
TEST_LIMIT = 900.0  # seconds for a test without a fault
CORE_LIMIT = 180.0  # and with one, which may hang


def run(kernels: list[str], level: str, variant: str, console: Console) -> int:
    """Returns the number of faults that were not caught."""
    workspace = KernelWorkspace(HOST.name, variant)
    workspace.prepare()
    console.print(f"{workspace.product.name}, level {level}")
    chosen = [fault for fault in FAULTS if not kernels or fault.kernel in kernels]
    missed = 0
    for fault in chosen:
        start = time.perf_counter()
        checks = _caught_by(fault, workspace, level)
        missed += not checks
        message = f"caught by {checks}" if checks else "[bold red]missed[/]"
        console.print(f"{fault.kernel:<16} {fault.what}: {message} ({time.perf_counter() - start:.0f} s)")
    console.print(f"{len(chosen) - missed} of {len(chosen)} faults are caught")
    return missed


def _caught_by(fault: Fault, workspace: KernelWorkspace, level: str) -> str:
    """The checks that fail only with the fault; empty if the check that the fault names does not fail."""
    text = (ROOT / HOST.kernels / fault.file).read_text()
    if text.count(fault.before) != 1:
        raise SystemExit(f"{fault.file} holds {text.count(fault.before)} times, not once: {fault.before}")
    clean = ferrule.testing.check(fault.kernel, backend=workspace.clean, dtypes=fault.dtypes, level=level, timeout=120)
    if not clean.ok:
        raise SystemExit(f"{fault.kernel} fails without a fault:\n{clean}")
    with workspace.planted(f"{HOST.kernels}/{fault.file}", text.replace(fault.before, fault.after)):
        workspace.build_all()
        module = workspace.product
        results = ferrule.testing.check(fault.kernel, backend=module, dtypes=fault.dtypes, level=level, timeout=120)
    checks = {record.check for record in results.failures}
    return "" if fault.check and fault.check not in checks else ", ".join(sorted(checks))


def run_core(words: list[str], console: Console) -> int:
    """Returns the number of faults in the core that were not caught, among those whose file, description or test
    contains one of the words; among all if there are no words."""
    chosen = [
        fault
        for fault in CORE_FAULTS
        if not words or any(word in f"{fault.file} {fault.what} {fault.test}" for word in words)
    ]
    workspace = Workspace("core", "x64")
    workspace.prepare()
    for test in sorted({fault.test for fault in chosen}):
        if failure := failure_of(_step_of(test, workspace), TEST_LIMIT):
            raise SystemExit(f"{test} fails without a fault: {failure}")
    missed = 0
    for fault in chosen:
        start = time.perf_counter()
        failure = _failure_with(fault, workspace)
        missed += not failure
        message = f"caught by {failure}" if failure else f"[bold red]missed[/] by {fault.test}"
        console.print(f"{fault.file:<22} {fault.what}: {message} ({time.perf_counter() - start:.0f} s)", soft_wrap=True)
    console.print(f"{len(chosen) - missed} of {len(chosen)} faults are caught")
    return missed


def _failure_with(fault: CoreFault, workspace: Workspace) -> str:
    """The failure with the fault; empty if its test passes."""
    text = (ROOT / CORE / fault.file).read_text()
    if text.count(fault.before) != 1:
        raise SystemExit(f"{fault.file} holds {text.count(fault.before)} times, not once: {fault.before}")
    with workspace.planted(f"{CORE}/{fault.file}", text.replace(fault.before, fault.after)):
        try:
            workspace.build()
        except BuildError as error:
            raise SystemExit(f"{fault.file}, {fault.what}: it does not compile\n{error}") from None
        return failure_of(_step_of(fault.test, workspace), CORE_LIMIT)


def _step_of(test: str, workspace: Workspace) -> Step:
    command: tuple[str, ...]
    if "::" not in test:
        command = (str(workspace.build_folder / "tests/cpp/ferrule-tests"), f"--gtest_filter={test}", "--gtest_brief=1")
        folder = str(workspace.build_folder / HOST.folder)
        return Step(test, command, workspace.build_folder, {"FERRULE_BACKEND_DIR": folder})
    pytest = (sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=line")
    command = (*pytest, str(ROOT / "tests/python" / test))
    return Step(test, command, ROOT / "tests", environment_of(workspace))
