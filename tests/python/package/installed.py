"""Paths of the installed package: the tests in this folder check installed files, not sources."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
# The parts of the C library, and the unwinder, which glibc opens itself when a thread ends early. The C++ library is
# inside each file, and drivers are opened lazily.
SYSTEM_LIBRARIES = {
    "libc.so.6",
    "libm.so.6",
    "libpthread.so.0",
    "libdl.so.2",
    "librt.so.1",
    "libgcc_s.so.1",
    "ld-linux-x86-64.so.2",
}


def package() -> Path:
    spec = importlib.util.find_spec("ferrule")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent
    assert ROOT / "python" not in folder.parents, "the sources shadow the installed package"
    return folder


def modules() -> list[Path]:
    """Every installed backend module, including those for tests."""
    return sorted(package().rglob("libferrule-*.so"))


def exported(path: Path) -> set[str]:
    return {line.split()[-1] for line in output_of("nm", "-D", "--defined-only", path).splitlines()}


def needed(path: Path) -> set[str]:
    return set(re.findall(r"\(NEEDED\).*\[(.+)\]", output_of("readelf", "-d", path)))


def finalizes_when_unloaded(path: Path) -> bool:
    """Whether an unloaded file runs its destructors, rather than the process when it ends."""
    return "(FINI_ARRAY)" in output_of("readelf", "-dW", path) and bool(
        re.search(r" __cxa_finalize\b", output_of("nm", "-D", "--undefined-only", path))
    )


def runs_code_when_opened(path: Path) -> bool:
    dynamic = output_of("readelf", "-dW", path)
    assert "(STRTAB)" in dynamic
    return bool(re.search(r"\((INIT|INIT_ARRAY|PREINIT_ARRAY)\)", dynamic))


def output_of(*command: str | Path) -> str:
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def build(source: Path, folder: Path, *options: str) -> Path:
    """Third-party code, built against the installed wheel."""
    cmake_dir = output_of(sys.executable, "-m", "ferrule", "--cmake-dir").strip()
    settings = [f"-Dferrule_DIR={cmake_dir}", "-DCMAKE_BUILD_TYPE=Release", *options]
    output_of("cmake", "-S", source, "-B", folder, *settings)
    output_of("cmake", "--build", folder)
    return folder
