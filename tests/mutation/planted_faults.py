"""Tries the hand-written faults of a backend's tests/mutation.toml. Each names the check that must catch it: cases of
the kit or a test of the backend, with the module as it is or built with a sanitizer."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass
from functools import cache

from rich.console import Console
from rich.markup import escape

from .backends import ROOT, Backend
from .step import Step, failure_of
from .workspace import BuildError, KernelWorkspace, Workspace

LIMIT = 300.0  # seconds for a check


@dataclass(frozen=True)
class PlantedFault:
    """One edit, and the check that must fail with it: `kit` or `test`."""

    file: str  # relative to the backend's folder
    before: str  # occurs exactly once
    after: str
    what: str
    kit: str = ""  # pytest's -k: "softmax-float32 and values"
    op: str = ""  # the only op that the kit tests; by default it asks about all
    level: str = "quick"  # of the kit
    test: str = ""  # of the backend's tests: "test_replay.py::test_numbers_that_change_are_patched"
    order: str = ""  # FERRULE_EMULATION_ORDER
    sanitizer: str = ""  # with which the module is built: "address" or "thread"
    unit: str = ""  # the only kernel file that is compiled again, relative to `kernels`; by default all that change

    @property
    def check(self) -> str:
        notes = [self.sanitizer and f"{self.sanitizer} sanitizer", self.order and f"order {self.order}"]
        return " with ".join([self.test or f"kit {self.kit}", *filter(None, notes)])


def faults_of(backend: Backend) -> list[PlantedFault]:
    return [PlantedFault(**entries) for entries in backend.faults]


def run(backend: Backend, words: list[str], console: Console) -> int:
    """Returns the number of faults that were not caught, among those in which all of the words occur."""
    faults = faults_of(backend)
    chosen = [fault for fault in faults if all(word in f"{fault} {fault.check}" for word in words)]
    missed = 0
    for sanitizer in sorted({fault.sanitizer for fault in chosen}):
        made = KernelWorkspace if any(fault.unit for fault in faults) else Workspace
        workspace = made(backend.name, "x64", sanitizer=sanitizer)
        workspace.prepare()
        passed: set[str] = set()
        for fault in chosen:
            if fault.sanitizer == sanitizer:
                missed += not _is_caught(fault, backend, workspace, passed, console)
    console.print(f"{len(chosen) - missed} of {len(chosen)} faults are caught")
    return missed


def _is_caught(fault: PlantedFault, backend: Backend, workspace: Workspace, passed: set[str], console: Console) -> bool:
    """Tries the fault. `passed` are checks that pass without a fault."""
    file = f"{backend.folder}/{fault.file}"
    text = (workspace.source / file).read_text()
    if text.count(fault.before) != 1:
        raise SystemExit(f"{fault.file} holds {text.count(fault.before)} times, not once: {fault.before}")
    step = _step_of(fault, backend, workspace)
    if fault.check not in passed:
        workspace.build()
        if failure := failure_of(step, LIMIT):
            raise SystemExit(f"{fault.check} fails without a fault: {failure}")
        passed.add(fault.check)
    start = time.perf_counter()
    with workspace.planted(file, text.replace(fault.before, fault.after)):
        try:
            if isinstance(workspace, KernelWorkspace) and fault.unit:
                workspace.build_unit(fault.unit)
            else:
                workspace.build()
        except BuildError as error:
            raise SystemExit(f"{fault.file}, {fault.what}: it does not compile\n{error}") from None
        built = time.perf_counter()
        failure = failure_of(step, LIMIT)
    check = escape(fault.check)
    message = f"caught by {check}: {escape(failure)}" if failure else f"[bold red]missed[/] by {check}"
    times = f"build {built - start:.0f} s, check {time.perf_counter() - built:.0f} s"
    console.print(f"{fault.file:<44} {fault.what}: {message} ({times})", soft_wrap=True)
    return bool(failure)


def _step_of(fault: PlantedFault, backend: Backend, workspace: Workspace) -> Step:
    pytest = (sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=line")
    module = str(workspace.product)
    if fault.test:
        command = (*pytest, str(ROOT / backend.folder / "tests" / fault.test))
    else:
        level = ("--ferrule-level", fault.level)
        plugin = ("-p", "ferrule_pytest") if fault.sanitizer else ()
        kit = ("--pyargs", "ferrule.testing", "--ferrule-backend", module)
        op = ("--ferrule-op", fault.op) if fault.op else ()
        command = (*pytest, *plugin, *kit, *level, *op, "-k", fault.kit)
    order = {"FERRULE_EMULATION_ORDER": fault.order} if fault.order else {}
    environment = {"FERRULE_BACKEND_PATH": module, **order, **_preloaded(fault.sanitizer)}
    return Step(fault.check, command, ROOT / "tests", environment)


@cache
def _preloaded(sanitizer: str) -> dict[str, str]:
    """The environment in which Python, which is built without sanitizers, loads a module with one."""
    if not sanitizer:
        return {}

    def library(name: str) -> str:
        found = subprocess.run(["c++", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
        return found.stdout.strip()

    names = {"address": "libasan.so", "thread": "libtsan.so"}
    return {
        "LD_PRELOAD": f"{library(names[sanitizer])} {library('libstdc++.so.6')}",
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "TSAN_OPTIONS": "halt_on_error=1",
        "OPENBLAS_NUM_THREADS": "1",  # NumPy's threads would be accused
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
