"""Programs that zig compiles, tested in emulators: Windows in wine, 64-bit Arm in qemu, Linux with musl."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tools import backends, builds, environment, testing, wheels
from tools.environment import PYTHON
from tools.process import ROOT, run
from tools.steps import Sample, Step

PORTS = ROOT / "build" / "ports"


def compile(platform: str, folder: Path, *targets: str, variant: str, quick: bool = False) -> None:
    """Build the tree for another platform; `quick`: at -O1, in two thirds of the time."""
    definitions = [*wheels.zig_settings(platform), f"FERRULE_HOST_TOOLS={builds.DEV}", f"FERRULE_VARIANTS={variant}"]
    definitions += ["FERRULE_BUILD_TESTS=ON"]
    if quick:
        definitions += ["CMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG", "FERRULE_KERNEL_OPTIONS=-O1"]
    run("cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, *(f"-D{definition}" for definition in definitions))
    run("cmake", "--build", folder, *(("--target", *targets) if targets else ()))


def programs(platform: str) -> Path:
    """Some programs in C and C++ with the lowest variant of the CPU module."""
    folder = PORTS / f"programs-{platform}"
    lowest = "armv8" if platform.endswith("aarch64") else "x64"
    c_programs = [f"c-{path.stem}" for path in (ROOT / "tests" / "c").glob("*.c")]
    targets = ("ferrule-conformance", "ferrule-probe", f"ferrule-cpu-{lowest}", "ferrule-null", *c_programs)
    compile(platform, folder, *targets, variant=lowest, quick=True)
    return folder


def _prepare(*packages: str) -> None:
    environment.system([*environment.BUILD, *environment.TESTS, *packages])
    wheels.prepare()


def _windows_python() -> Path:
    """CPython for Windows with the wheel of ferrule."""
    folder = PORTS / "windows" / "python3.11"
    if not (folder / "math.def").exists():
        lines = [
            line
            for name in ("build", "test")
            for line in (environment.REQUIREMENTS / f"{name}.txt").read_text().split()
        ]
        wanted = ("numpy", "ml_dtypes", "pytest", "hypothesis", "mpmath", "rich", "jinja2", "gguf", "lief")
        pinned = [line for line in lines if line.partition("==")[0] in wanted]
        run(PYTHON, "tests/ports/windows_python.py", folder, wheels.zig(), *pinned, "colorama")
    packages = folder / "Lib" / "site-packages"
    for path in packages.glob("ferrule*"):
        shutil.rmtree(path)
    wheels.install_for("win_amd64", packages, *wheels.find("ferrule", "win_amd64"))
    return folder


def wine(sample: Sample) -> Iterator[Step]:
    early = sample.stop_early()
    tree, python = PORTS / "windows" / "tree", PORTS / "windows" / "python3.11"
    # wine starts slowly, and its tests share its services: no more than two processes at a time.
    yield Step("prepare", lambda: _prepare("wine", "wine64", "googletest", "xvfb", "mesa-vulkan-drivers"))
    yield Step("build", lambda: compile("win_amd64", tree, variant="x64"))
    programs_of_tree = {"FERRULE_WINDOWS": str(tree)}
    yield Step("programs", lambda: testing.pytest("ports/test_windows.py", *early, env=programs_of_tree))
    yield Step("wheel", lambda: wheels.core("win_amd64"))
    yield Step("CPython for Windows", _windows_python)
    files = ("ports/test_windows_python.py", "ports/test_windows_hostile.py")
    yield Step("package", lambda: testing.pytest(*files, *early, env=_of_windows_python(python)))
    for name in backends.names():
        if backends.settings(name).windows_tests:
            yield Step(name, partial(_backend_in_wine, name, python))


def _of_windows_python(python: Path) -> dict[str, str]:
    return {"FERRULE_WINDOWS_PYTHON": str(python), "FERRULE_ZIG": str(wheels.zig())}


def _backend_in_wine(name: str, python: Path) -> None:
    wheels.of_backend(name, "win_amd64")
    folder = PORTS / "windows" / name
    shutil.rmtree(folder, ignore_errors=True)
    wheels.install_for("win_amd64", folder, *wheels.find(f"ferrule_{name}", "win_amd64"))
    env = {"FERRULE_WINDOWS_PYTHON": str(python), "FERRULE_WINDOWS_BACKEND": str(folder)}
    testing.pytest(backends.FOLDER / name / backends.settings(name).windows_tests, env=env)


def qemu(sample: Sample) -> Iterator[Step]:
    early = sample.stop_early()
    arm, folder = "linux_aarch64", PORTS / "arm64"
    packages = ("libc6-arm64-cross", "libgcc-s1-arm64-cross", "musl")
    yield Step("prepare", lambda: _prepare(*packages))
    yield Step("programs for Arm", lambda: programs(arm))
    env = {"FERRULE_ARM64": str(PORTS / f"programs-{arm}")}
    yield Step("Arm", lambda: testing.pytest("ports/test_arm64_programs.py", *early, env=env))
    musl = "musllinux_1_2_x86_64"
    yield Step("programs for musl", lambda: programs(musl))
    with_musl = {"FERRULE_MUSL": str(PORTS / f"programs-{musl}")}
    yield Step("musl", lambda: testing.pytest("ports/test_musl.py", *early, env=with_musl))
    yield Step("wheel for Arm", lambda: wheels.core(arm))
    yield Step("CPython for Arm", lambda: _arm_python(folder))
    yield Step("package", lambda: testing.pytest("ports/test_arm64.py", *early, env={"FERRULE_PORT": str(folder)}))


def _arm_python(folder: Path) -> None:
    """Debian's Python for Arm with the wheel of ferrule."""
    run(PYTHON, "tests/ports/debian_root.py", folder)
    site = folder / "site"
    for path in site.glob("ferrule*"):
        shutil.rmtree(path)
    wheels.install_for("linux_aarch64", site, *wheels.find("ferrule", "linux_aarch64"))
    programs = (site / "ferrule" / "bin").iterdir()
    run(
        PYTHON, "tests/ports/emulated_programs.py", "aarch64", folder / "root" / "usr" / "bin" / "python3.11", *programs
    )
