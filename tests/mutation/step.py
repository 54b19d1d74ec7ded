"""A command that runs tests, which must fail with a fault and pass without it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from .workspace import Workspace


@dataclass(frozen=True)
class Step:
    """Tests that one command runs; they fail if its exit status is not 0."""

    name: str
    command: tuple[str, ...]
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)


def environment_of(workspace: Workspace) -> dict[str, str]:
    """An environment in which Python imports a copy of the installed package, with the libferrule of the workspace."""
    installed = find_spec("ferrule._ferrule")
    assert installed is not None
    assert installed.origin is not None
    package, site = Path(installed.origin).parent, workspace.folder / "site"
    for name in (package.name, "ferrule_pytest"):
        shutil.copytree(package.parent / name, site / name, dirs_exist_ok=True)
    shutil.copy2(workspace.product, site / package.name / workspace.product.name)
    return {"PYTHONPATH": str(site), "FERRULE_CACHE_DIR": str(workspace.folder / "cache")}


def failure_of(step: Step, limit: float) -> str:
    """The first failure, or an empty string."""
    try:
        done = subprocess.run(
            step.command,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=limit,
            cwd=step.folder,
            env={**os.environ, **step.environment},
        )
    except subprocess.TimeoutExpired:
        return f"hung, {limit:.0f} s"
    if done.returncode == 0:
        return ""
    found = re.search(r"\[  FAILED  \] (\S+)|^FAILED (\S+)|^ERROR (\S+)", done.stdout, re.MULTILINE)
    named = next((group for group in found.groups() if group), "") if found else ""
    return named.rstrip(",") or (f"signal {-done.returncode}" if done.returncode < 0 else f"exit {done.returncode}")
