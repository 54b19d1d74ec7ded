"""Tries one generated fault: plants it, builds the changed files, and runs the kit or the tests."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from .backends import BACKENDS, HOST, ROOT
from .generated import PASSES, GeneratedFault
from .ops_of_files import kernels_above, near, ops_of_family, ops_of_shaders, ops_with_rows, units_of
from .workspace import BuildError, KernelWorkspace, Workspace

NOT_COMPILED, IDENTICAL, KILLED, SURVIVED = "not compiled", "identical", "killed", "survived"
KIT_LIMIT = 2400.0  # seconds for all checks of one module
TEST_LIMIT = 900.0  # for one step of the tests without a fault; with one, five times its time without, plus a minute


@dataclass
class Outcome:
    """The outcome of a fault. `by` is the check or test that caught it; `note` helps to judge a survivor."""

    state: str
    by: str = ""
    note: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Step:
    """Tests that one command runs; they fail if its exit status is not 0."""

    name: str
    command: tuple[str, ...]
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)


class KernelFileTrial:
    """Faults in kernel files that are compiled one at a time, tested by the kit."""

    def __init__(self, area: str, variant: str, number: int, level: str) -> None:
        self.workspace = KernelWorkspace(area, variant, number)
        self._level, self._support_test = level, BACKENDS[area].support_test

    def run(self, fault: GeneratedFault) -> Outcome:
        path = ROOT / fault.file
        text = path.read_text()
        rows = ops_with_rows(ROOT)
        outcome = Outcome(IDENTICAL)
        with self.workspace.planted(fault.file, fault.edit.apply(text)):
            for unit in units_of(path):
                try:
                    if not self.workspace.build_unit(unit.path.relative_to(kernels_above(unit.path)).as_posix()):
                        continue
                except BuildError as error:
                    return Outcome(NOT_COMPILED, note=_first_error(str(error)))
                ops = unit.ops & rows
                outcome = ask_kit(self.workspace, ops, near(text, fault.line, ops), self._level, self._support_test)
                if outcome.state == KILLED:
                    return outcome
        return outcome


class ModuleTrial:
    """Faults in shaders and their planners, each of which builds the module; tested by the kit on any available device
    of the backend."""

    def __init__(self, area: str, variant: str, number: int, level: str) -> None:
        self.workspace = Workspace(area, variant, number)
        self._level, self._backend = level, BACKENDS[area]

    def run(self, fault: GeneratedFault) -> Outcome:
        path = ROOT / fault.file
        text = path.read_text()
        folder = ROOT / self._backend.kernels
        ops = ops_of_shaders(path, folder)
        # A spliced shader contains all elementwise functions. Functions of a family are tested only with the family's
        # ops: all ops take half an hour on a software device.
        if path.is_relative_to(folder / "elementwise"):
            ops = (ops & ops_of_family(path, folder / "elementwise", ROOT)) or ops
        first = near(text, fault.line, ops)
        with self.workspace.planted(fault.file, fault.edit.apply(text)):
            try:
                self.workspace.build()
            except BuildError as error:
                return Outcome(NOT_COMPILED, note=_first_error(str(error)))
            if self.workspace.is_identical:
                return Outcome(IDENTICAL)
            return ask_kit(self.workspace, ops, first, self._level, self._backend.support_test)


class PassTrial:
    """Faults in the compiler's passes, tested by the tests of `./dev test` that use graphs."""

    def __init__(self, variant: str, number: int, level: str) -> None:
        self.workspace = Workspace(PASSES, variant, number)
        self._level = level
        self.limits: dict[str, float] = {}  # of the steps, in seconds

    def measure(self) -> Outcome:
        """Runs all steps without a fault, to set the time limits."""
        self.limits = {}
        for step in self._steps():
            start = time.perf_counter()
            if failure := failure_of(step, TEST_LIMIT):
                return Outcome(KILLED, by=f"{step.name}: {failure}")
            self.limits[step.name] = 60 + 5 * (time.perf_counter() - start)
        return Outcome(SURVIVED)

    def run(self, fault: GeneratedFault) -> Outcome:
        text = (ROOT / fault.file).read_text()
        with self.workspace.planted(fault.file, fault.edit.apply(text)):
            try:
                self.workspace.build()
            except BuildError as error:
                return Outcome(NOT_COMPILED, note=_first_error(str(error)))
            if self.workspace.is_identical:
                return Outcome(IDENTICAL)
            return self.test()

    def test(self) -> Outcome:
        """Runs the steps, the fast ones first, until one fails."""
        for step in self._steps():
            if failure := failure_of(step, self.limits.get(step.name, TEST_LIMIT)):
                return Outcome(KILLED, by=f"{step.name}: {failure}")
        return Outcome(SURVIVED)

    def _steps(self) -> Iterator[Step]:
        build = self.workspace.build_folder
        environment = {"FERRULE_BACKEND_DIR": str(build / HOST.folder)}
        tests = str(build / "tests/cpp/ferrule-tests")
        for name, chosen in (
            ("ctest, passes", "Compiler*:Graph*:Layout*-*LongChains*"),
            ("ctest, executor", "Executor*:Ops*"),
        ):
            command = (tests, f"--gtest_filter={chosen}", "--gtest_fail_fast", "--gtest_brief=1")
            yield Step(name, command, build, environment)
        mine = environment_of(self.workspace)
        pytest = (sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=line")
        for stem in ("graph", "lazy", "arrays", "halves", "memory*", "invariance", "programs*", "random*"):
            if files := sorted(str(path) for path in (ROOT / "tests/python").rglob(f"test_{stem}.py")):
                yield Step(f"pytest {stem}", (*pytest, *files), ROOT / "tests", mine)
        checks = "fused or constants or layouts or program"
        kit = ("--pyargs", "ferrule.testing", "--ferrule-level", self._level, "-k", f"float32 and ({checks})")
        yield Step("kit", (*pytest, *kit), ROOT / "tests", mine)


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


Trial = KernelFileTrial | ModuleTrial | PassTrial


def trial_of(area: str, variant: str, number: int, level: str) -> Trial:
    """The trial of an area in the workspace of this number."""
    if area == PASSES:
        return PassTrial(variant, number, level)
    return (KernelFileTrial if BACKENDS[area].by_kernel_file else ModuleTrial)(area, variant, number, level)


def ask_kit(workspace: Workspace, ops: Iterable[str], first: Sequence[str], level: str, support_test: str) -> Outcome:
    """Runs the kit, limited to these ops, and the support test on the product of a workspace: the kit only lists cases
    that a module refuses or leaves to other kernels."""
    request = {
        "module": str(workspace.product),
        "clean": str(workspace.clean),
        "level": level,
        "ops": sorted(ops),
        "near": list(first),
    }
    try:
        done = subprocess.run(
            [sys.executable, "-m", "tests.mutation.judge_kit"],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            check=False,
            timeout=KIT_LIMIT,
            cwd=ROOT,
        )
    except subprocess.TimeoutExpired:
        return Outcome(KILLED, by=f"the kit as a whole (hung, {KIT_LIMIT:.0f} s)")
    if done.returncode != 0:
        raise RuntimeError(f"the kit itself failed:\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
    answer = json.loads(done.stdout.splitlines()[-1])
    if answer["killed_by"]:
        return Outcome(KILLED, by=answer["killed_by"], note=answer["message"])
    note = f"{answer['items']} checks passed"
    if answer["refuses"]:
        return Outcome(KILLED, by=f"{answer['refuses'][0]} taken ({support_test})", note=note)
    return Outcome(SURVIVED, note=note)


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


def _first_error(text: str) -> str:
    found = re.search(r"error: .*|ERROR: .*|no end after .*", text)
    return found[0] if found else text.strip().splitlines()[-1]
