"""The form of the sources, the types, and the checked-in files that are generated."""

from __future__ import annotations

import filecmp
import shutil
import subprocess
from pathlib import Path

from tools import builds, environment
from tools.environment import PYTHON, VENV
from tools.process import ROOT, output_of, run, say

SUFFIXES = {".h", ".hpp", ".c", ".cpp", ".cu"}
FOLDERS = {"transform_functions": "fft"}  # of generated modules that are not in functions/
# The files that each run of mypy checks, and the folders where it finds modules of the tree.
TYPED = {
    "python": ["python/ferrule", "python/ferrule_pytest"],
    "python:examples:examples/chat": ["examples", "benchmarks"],
    "python:tests/hostile": ["tests/hostile"],
    "python:tests:tests/hostile:tests/python/package:tests/wheels": ["tools", "tests/ports", "tests/wheels", "wheels"],
}


def lint(*, fix: bool) -> None:
    environment.system()
    environment.require(
        "build", "test", "lint", ROOT / "examples/requirements.txt", ROOT / "benchmarks/requirements.txt"
    )
    sources = [
        path for folder in ("csrc", "tests", "python") for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES
    ]
    say("clang-format, ruff")
    run(VENV / "bin" / "clang-format", *(("-i",) if fix else ("--dry-run", "-Werror")), *sources)
    run(VENV / "bin" / "ruff", "check", "-q", *(("--fix",) if fix else ()), ".")
    run(VENV / "bin" / "ruff", "format", "-q", *(() if fix else ("--check",)), ".")
    say("generated files")
    generated(fix=fix)
    if not fix:
        say("mypy")
        for path, folders in TYPED.items():
            run(PYTHON, "-m", "mypy", *folders, env={"MYPYPATH": path})
        backends = sorted((ROOT / "csrc" / "backends").rglob("*.py"))
        run(PYTHON, "-m", "mypy", *backends, env={"MYPYPATH": "tests/python/package:tests:examples"})


def generated(*, fix: bool) -> None:
    """Compare the checked-in files with what the sources give, or write them."""
    folder = builds.compile("dev", "ferrule_ops_header", "ferrule_python_files")
    made = folder / "generated"
    formatted = made / "checked_in"  # as ruff has them; the generator writes plain lines
    shutil.copytree(made / "python", formatted, dirs_exist_ok=True)
    own = 'lint.isort.known-first-party = ["ferrule"]'  # ruff knows it in the package itself
    configuration = ("-q", "--config", ROOT / "pyproject.toml", "--config", own)
    templates = sorted((ROOT / "csrc/ops/generate/templates").glob("*.pyi.jinja"))
    stubs = [formatted / template.stem for template in templates]
    run(VENV / "bin" / "ruff", "check", *configuration, "--select", "I,RUF022,F401", "--fix-only", *stubs)
    run(VENV / "bin" / "ruff", "format", *configuration, *stubs)
    pairs = {
        layout_hash(made / "layout"): ROOT / "csrc/sdk/ferrule/layout_hash.h",
        **{stub: ROOT / "python/ferrule" / FOLDERS.get(stub.stem, "functions") / stub.name for stub in stubs},
        **{page: ROOT / "docs/use" / page.name for page in (made / "python").glob("*.md")},
    }
    for new, kept in pairs.items():
        if kept.exists() and filecmp.cmp(new, kept, shallow=False):
            continue
        if not fix:
            subprocess.run(["diff", "-u", str(kept), str(new)])
            raise SystemExit(f"{kept.relative_to(ROOT)} is not what the sources give; run ./dev lint --fix")
        shutil.copyfile(new, kept)


def layout_hash(folder: Path) -> Path:
    """Write the header with the hash of the binary interface, from the headers of the SDK."""
    folder.mkdir(parents=True, exist_ok=True)
    program, header = folder / "print-layout-hash", folder / "layout_hash.h"
    run("c++", "-std=c++20", "-Icsrc", "-Icsrc/sdk", "csrc/sdk/layout/print_layout_hash.cpp", "-o", program)
    header.write_text(output_of(program) + "\n")
    return header
