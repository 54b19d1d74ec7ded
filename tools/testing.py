"""The tests of the core and of the CPU, all from the one build in build/dev."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tools import builds, environment
from tools.environment import PYTHON
from tools.process import CORES, ROOT, run

TESTS = ROOT / "tests"
ECOSYSTEM = TESTS / "python" / "ecosystem" / "requirements.txt"


def prepare(*, with_tests: bool = False) -> None:
    """Build and install ferrule, and install what runs its tests."""
    environment.system((*environment.BUILD, *environment.TESTS))
    builds.install(with_tests=with_tests)
    environment.require("test", ECOSYSTEM)


def ctest(folder: Path, *arguments: str) -> None:
    """Run tests of a build tree. Where the output is no terminal, those that pass are not listed."""
    options = ("--output-on-failure", "--no-tests=error", "--progress", "-j", str(CORES))
    command: tuple[str | Path, ...] = ("ctest", "--test-dir", folder, *options, *arguments)
    if sys.stdout.isatty():
        run(*command)
        return
    log = folder / "ctest.log"
    try:
        run(*command, log=log)
    finally:
        print(re.sub(r"(?m)^ *(Start +\d+:|\d+/\d+ Test +#\d+:.* Passed ).*\n", "", log.read_text()), flush=True)


def pytest(*arguments: str | Path, env: dict[str, str] | None = None) -> None:
    """Run pytest in tests/, so that the package is the installed one."""
    words = ("-q", "-n", str(CORES), "--dist", "worksteal", *arguments)
    run(PYTHON, "-m", "pytest", *words, folder=TESTS, env=env)


def unit(*arguments: str) -> None:
    environment.system((*environment.BUILD, *environment.TESTS))
    builds.install(with_tests=True)
    ctest(builds.DEV, *arguments)


def python(*arguments: str) -> None:
    prepare()
    are_files = any((TESTS / argument.partition("::")[0]).exists() for argument in arguments)
    pytest(*(() if are_files else ("python",)), *arguments)


def kit(*arguments: str) -> None:
    """The conformance kit on the variant of the CPU that this machine gets; the report is build/kit.html."""
    prepare()
    run_kit(*arguments)


def run_kit(*arguments: str | Path, report: str = "kit", env: dict[str, str] | None = None) -> None:
    reports = [word for kind in ("html", "json") for word in ("--ferrule-report", f"../build/{report}.{kind}")]
    pytest("--pyargs", "ferrule.testing", *reports, *arguments, env=env)


def hostile(*arguments: str) -> None:
    prepare()
    pytest("hostile", *arguments)
