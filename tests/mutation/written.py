"""Tries the faults of faults.py, which people wrote: whether the kit catches each, and by which checks."""

from __future__ import annotations

import time

import ferrule.testing
from rich.console import Console

from .faults import FAULTS, Fault
from .workspace import ROOT, KernelWorkspace

KERNELS = "csrc/backends/cpu/kernels"


def run(kernels: list[str], level: str, variant: str, console: Console) -> int:
    """The number of faults that were not caught."""
    workspace = KernelWorkspace("kernels", variant)
    workspace.prepare()
    console.print(f"{workspace.product.name}, level {level}")
    chosen = [fault for fault in FAULTS if not kernels or fault.kernel in kernels]
    missed = 0
    for fault in chosen:
        start = time.perf_counter()
        checks = _caught_by(fault, workspace, level)
        missed += not checks
        said = f"caught by {checks}" if checks else "[bold red]missed[/]"
        console.print(f"{fault.kernel:<16} {fault.what}: {said} ({time.perf_counter() - start:.0f} s)")
    console.print(f"{len(chosen) - missed} of {len(chosen)} faults are caught")
    return missed


def _caught_by(fault: Fault, workspace: KernelWorkspace, level: str) -> str:
    """The checks that fail with the fault and pass without it; nothing when one that must notice does not."""
    text = (ROOT / KERNELS / fault.file).read_text()
    if text.count(fault.before) != 1:
        raise SystemExit(f"{fault.file} holds {text.count(fault.before)} times, not once: {fault.before}")
    clean = ferrule.testing.check(fault.kernel, backend=workspace.clean, dtypes=fault.dtypes, level=level, timeout=120)
    if not clean.ok:
        raise SystemExit(f"{fault.kernel} fails without a fault:\n{clean}")
    with workspace.planted(f"{KERNELS}/{fault.file}", text.replace(fault.before, fault.after)):
        workspace.build_all()
        module = workspace.product
        results = ferrule.testing.check(fault.kernel, backend=module, dtypes=fault.dtypes, level=level, timeout=120)
    checks = {record.check for record in results.failures}
    return "" if fault.check and fault.check not in checks else ", ".join(sorted(checks))
