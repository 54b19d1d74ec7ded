"""Tests with sanitizers: address and undefined behaviour in build/asan, threads in build/tsan.

Python is built without sanitizers, so their libraries are preloaded. The tests run on a package in the build tree,
which is the installed one with libraries of this build.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tools import backends, builds, environment, testing
from tools.process import ROOT, output_of, run

ADDRESS, THREAD = ROOT / "build" / "asan", ROOT / "build" / "tsan"
# C++ tests of code with threads.
THREAD_TESTS = "Registry|Loader|Load|DiskCache|Thread|Executor|Queue|Event"
ADDRESS_FILES = [
    *(f"array/test_memory{part}.py" for part in ("", "_layouts", "_snapshots", "_writes")),
    *("array/test_sizes.py", "array/test_numbers.py", "functions/test_indexing.py", "graphs/test_graph_arguments.py"),
    *("io/test_safetensors.py", "process/test_threads.py", "process/test_thread_pairs.py"),
]


def build_address() -> None:
    testing.prepare()
    builds.compile("asan")
    site = ADDRESS / "site"
    shutil.rmtree(site, ignore_errors=True)
    run("cmake", "--install", ADDRESS, "--prefix", site, log=ADDRESS / "install.log")
    for package in ("ferrule", "ferrule_pytest"):
        shutil.copytree(ROOT / "python" / package, site / package, dirs_exist_ok=True)


def build_thread() -> None:
    testing.prepare()
    builds.compile("tsan")
    site = THREAD / "site"
    shutil.rmtree(site, ignore_errors=True)
    for package in ("ferrule", "ferrule_pytest"):
        shutil.copytree(environment.site_packages() / package, site / package)
    shutil.copy(THREAD / "libferrule.so", site / "ferrule")


def build_backend(preset: str, name: str) -> None:
    """The module of a backend with the sanitizer of a preset."""
    backends.prepare()
    builds.compile(f"{preset}-backends", backends.target(name))


def _environment(folder: Path, library: str) -> dict[str, str]:
    preloaded = [output_of("c++", f"-print-file-name={name}") for name in (f"{library}.so", "libstdc++.so.6")]
    return {
        "PYTHONPATH": str(folder / "site"),
        "LD_PRELOAD": " ".join(preloaded),
        # Python keeps memory until it exits. A failing allocation is an error, as without a sanitizer.
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "TSAN_OPTIONS": "halt_on_error=1",
        "OPENBLAS_NUM_THREADS": "1",  # NumPy's threads would be accused
    }


def _pytest(folder: Path, library: str, *arguments: str | Path, env: dict[str, str] | None = None) -> None:
    testing.pytest(*arguments, env={**_environment(folder, library), **(env or {})})


def _kit(folder: Path, library: str, *arguments: str | Path) -> None:
    """Without other plug-ins, which would load libraries of their own."""
    plugins = ("-p", "xdist", "-p", "ferrule_pytest", "--pyargs", "ferrule.testing.test_ops")
    _pytest(folder, library, *plugins, *arguments, env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})


def _backend_kit(folder: Path, library: str, name: str) -> None:
    own = backends.settings(name)
    chosen = [word for op in own.sanitizer_ops for word in ("--ferrule-op", op)]
    module = ("--ferrule-backend", backends.module_in(f"{folder.name}-backends", name))
    _kit(folder, library, "--ferrule-level", "brief", *module, *chosen, *own.sanitizer_kit)


def address_python(*arguments: str) -> None:
    _pytest(ADDRESS, "libasan", *(f"python/{name}" for name in ADDRESS_FILES), *arguments)


def address_kit(*arguments: str) -> None:
    _kit(ADDRESS, "libasan", "--ferrule-variant", "x64", *arguments)


def address_backend(name: str) -> None:
    _backend_kit(ADDRESS, "libasan", name)


def thread_kit(name: str) -> None:
    _backend_kit(THREAD, "libtsan", name)


def thread_tests(name: str) -> None:
    module = backends.module_in("tsan-backends", name)
    files = (backends.FOLDER / name / "tests", "-k", backends.settings(name).thread_tests)
    env = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "FERRULE_BACKEND_PATH": str(module)}
    _pytest(THREAD, "libtsan", "-p", "xdist", *files, env=env)
