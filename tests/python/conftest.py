"""Fixtures of the tests of the installed package: the null module, modules that record their steps, and child
processes."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

RunPython = Callable[..., subprocess.CompletedProcess[str]]
PutModule = Callable[..., Path]
RECORDING_MODULE = Path(__file__).resolve().parents[1] / "cpp" / "modules" / "module.c"


# These tests count opened modules; the probe is tested in tests/hostile and in C++.
NOT_PROBED = {"FERRULE_PROBE": "never"}


@pytest.fixture(scope="session", autouse=True)
def nothing_is_probed() -> None:
    os.environ.update(NOT_PROBED)


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the session that the processes of pytest-xdist share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def package() -> Path:
    """The folder of the installed package."""
    spec = importlib.util.find_spec("ferrule._ferrule")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


@pytest.fixture(scope="session")
def null_module(package: Path) -> Path:
    [module] = (path for path in (package / "testing").glob("libferrule-null.*") if path.suffix != ".json")
    return module


@pytest.fixture
def null_device(null_module: Path) -> object:
    """A device that is not in host memory and computes zeros."""
    import ferrule as fe

    fe.load(null_module)
    return fe.device("null")


@pytest.fixture(scope="session")
def build_module(package: Path, shared_folder: Path) -> Callable[..., Path]:
    """Compiles a module that computes nothing and records what is done with it; its source lists the macros."""
    if sys.platform == "win32":
        pytest.skip("modules are compiled by this system's C compiler, and there is none in wine")
    folder = shared_folder / "recording"
    folder.mkdir(exist_ok=True)

    def build(stem: str, *definitions: str) -> Path:
        name, _, variant = stem.partition("-")
        module = folder / f"libferrule-{stem}-{hashlib.sha256(repr(definitions).encode()).hexdigest()[:8]}.so"
        if not module.exists():
            defined = [f'-DTEST_NAME="{name}"', f'-DTEST_VARIANT="{variant}"', *(f"-D{word}" for word in definitions)]
            command = ["cc", "-std=c11", "-shared", "-fPIC", f"-I{package / 'include'}", *defined]
            unfinished = module.with_suffix(f".{os.getpid()}")
            subprocess.run([*command, str(RECORDING_MODULE), "-o", str(unfinished)], check=True)
            os.replace(unfinished, module)
        return module

    return build


@pytest.fixture
def put_module(build_module: Callable[..., Path], null_module: Path) -> PutModule:
    """Puts such a module into a folder, replacing an older one, with a manifest if manifest entries are given."""

    def put(folder: Path, stem: str, *definitions: str, **manifest: object) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        module = folder / f"libferrule-{stem}.so"
        shutil.copy(build_module(stem, *definitions), folder / "unfinished")
        os.replace(folder / "unfinished", module)
        if manifest:
            name, _, variant = stem.partition("-")
            abi = json.loads(null_module.with_suffix(".json").read_text())["abi"]
            sha256 = hashlib.sha256(module.read_bytes()).hexdigest()
            known = {"name": name, "variant": variant, "abi": abi, "sha256": sha256, "size": module.stat().st_size}
            module.with_suffix(".json").write_text(json.dumps({**known, **manifest}))
        return module

    return put


@pytest.fixture
def notes(tmp_path: Path) -> Callable[[], list[str]]:
    """Return the records of such modules in processes that run_python started: "opened t_a", "initialised t_a", ..."""
    return lambda: (tmp_path / "notes").read_text().splitlines() if (tmp_path / "notes").exists() else []


@pytest.fixture
def run_python(tmp_path: Path) -> RunPython:
    """Runs code in a new process, in an empty folder or in `cwd`; variables are added to the current environment."""

    def run(
        code: str, *, cwd: Path | None = None, mode: str = "-c", check: bool = True, **variables: str | Path
    ) -> subprocess.CompletedProcess[str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("FERRULE_")}
        environment = {**inherited, **NOT_PROBED, **{name: str(value) for name, value in variables.items()}}
        environment.setdefault("FERRULE_TEST_NOTES", str(tmp_path / "notes"))
        arguments = [sys.executable, *{"repl": ["-i", "-q"], "stdin": ["-"], "file": [code]}.get(mode, [mode, code])]
        done = subprocess.run(
            arguments,
            input=code if mode in ("repl", "stdin") else None,
            capture_output=True,
            text=True,
            cwd=cwd or tmp_path,
            env=environment,
            timeout=300,
            check=False,
        )
        if check:
            assert done.returncode == 0, done.stderr + done.stdout
        return done

    return run


@pytest.fixture
def check_types(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], list[str]]:
    """Runs mypy --strict on the text of a program that uses ferrule; returns its output, as "<line>: error: ..."."""
    pytest.importorskip("mypy")

    def check(text: str) -> list[str]:
        (tmp_path / "typed.py").write_text(text)
        spec = importlib.util.find_spec("ferrule")
        assert spec is not None
        assert spec.origin is not None
        # mypy finds an installed package by itself, and refuses its folder in MYPYPATH.
        folder = {} if "site-packages" in spec.origin else {"MYPYPATH": str(Path(spec.origin).parents[1])}
        options = [
            "--strict",
            "--no-error-summary",
            "--follow-imports",
            "silent",
            "--cache-dir",
            str(tmp_path_factory.getbasetemp().parent / "mypy"),  # one for all tests: NumPy's stubs take seconds
        ]
        done = subprocess.run(
            [sys.executable, "-m", "mypy", *options, "typed.py"],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env={"PATH": "", **folder},
        )
        assert done.returncode in (0, 1), done.stdout + done.stderr
        return [line.partition("typed.py:")[2] for line in done.stdout.splitlines() if "typed.py:" in line]

    return check


@pytest.fixture(scope="session")
def faulty_modules(shared_folder: Path) -> Path:
    """The folder with libferrule-faulty.so, built against the installed package: correct unless an option selects a
    fault."""
    if sys.platform == "win32":
        pytest.skip("modules are compiled by CMake, which is not there in wine")
    import fcntl

    folder, is_built = shared_folder / "faulty_modules", shared_folder / "faulty_modules_are_built"
    with (shared_folder / "faulty_modules_lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_built.exists():
            command = [sys.executable, "-m", "ferrule", "--cmake-dir"]
            where = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
            sources = Path(__file__).parent / "kit" / "modules"
            for step in (["-S", sources, "-B", folder, f"-Dferrule_DIR={where}"], ["--build", folder]):
                subprocess.run(["cmake", *step], check=True, capture_output=True)
            is_built.touch()
    return folder


def pytest_addoption(parser: pytest.Parser) -> None:
    add = parser.getgroup("programs", "random programs (test_programs.py)").addoption
    add("--programs-count", type=int, default=240, help="how many (default: 240)")
    add("--programs-seed", type=int, default=0, help="of the first (default: 0)")
