"""Puts CPython for Windows together, for wine: windows_python.py [--like PYTHON] <folder> <requirement ...>

The interpreter and the compiled part of the standard library are those that the package panda3d of PyPI has for its
programs; the rest of the library is that of a Python of this machine (by default this one), whose version is taken.
The requirements, for Windows, are installed by pip. wine 8 has no complex functions in its C library: libraries that
use them get those of wine_complex.cpp. python3.dll hands on what ferrule's extension for the stable ABI uses.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import lief
import ziglang

PANDA3D = "panda3d==1.10.16"
SOURCES = Path(__file__).resolve().parent / "windows"
# Lists the functions and data of CPython that ferrule's extension uses.
IMPORTS = Path(__file__).resolve().parents[2] / "cmake" / "python" / "imports.def"
ZIG = [str(Path(ziglang.__file__).parent / "zig")]
TARGET = "--target=x86_64-windows-gnu"
# Names of equal length: one takes the place of the other within the files.
MATH, OWN_MATH = b"api-ms-win-crt-math-l1-1-0.dll", b"ferrule-crt-math-for-wine-.dll"


def pip(version: str, *arguments: str | Path) -> None:
    windows = ["--platform", "win_amd64", "--python-version", version, "--only-binary=:all:"]
    subprocess.run([sys.executable, "-m", "pip", "-q", *arguments, *windows], check=True)


def version_and_library(python: str) -> tuple[str, Path]:
    """The minor version of a Python, as "3.11", and the folder of its standard library."""
    code = "import sys, sysconfig; print(*sys.version_info[:2], sep='.'); print(sysconfig.get_path('stdlib'))"
    version, folder = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.split(
        "\n"
    )[:2]
    return version, Path(folder)


def interpreter(folder: Path, version: str, library_of_python: Path) -> None:
    name_of_library = f"python{version.replace('.', '')}"
    libraries = folder / "DLLs"
    libraries.mkdir(parents=True)
    pip(version, "download", "--no-deps", "-d", folder, PANDA3D)
    [wheel] = folder.glob("panda3d-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith("deploy_libs/"):
                path = folder if Path(name).name in (f"{name_of_library}.dll", "VCRUNTIME140.dll") else libraries
                (path / Path(name).name).write_bytes(archive.read(name))
    wheel.unlink()
    (libraries / "_wmi.pyd").unlink(missing_ok=True)  # of 3.12 and later: it ends the process in wine 8
    unused = shutil.ignore_patterns("*.so", "__pycache__", "site-packages", "dist-packages", "config-*", "test")
    shutil.copytree(library_of_python, folder / "Lib", ignore=unused)
    imports = folder / f"{name_of_library}.def"
    imports.write_text("EXPORTS\n  Py_Main\n")
    library = imports.with_suffix(".a")
    options: list[str | Path] = ["-m", "i386:x86-64", "-d", imports, "-l", library, "-D", f"{name_of_library}.dll"]
    subprocess.run([*ZIG, "dlltool", *options], check=True)
    program: list[str | Path] = [SOURCES / "python.c", library, "-o", folder / "python.exe"]
    subprocess.run([*ZIG, "cc", TARGET, "-municode", "-s", *program], check=True)
    stable_library(folder, name_of_library)


def stable_library(folder: Path, name_of_library: str) -> None:
    """Makes python3.dll, whose functions and data are those of the other library."""
    names = re.findall(r"^  (\w+)", IMPORTS.read_text(), re.M)
    exports = folder / "python3.def"
    lines = [f"  {name} = {name_of_library}.{name}" for name in names]
    exports.write_text("\n".join(["LIBRARY python3.dll", "EXPORTS", *lines, ""]))
    empty = folder / "python3.c"
    empty.write_text("int ferrule_python3;\n")
    made: list[str | Path] = [empty, exports, "-o", folder / "python3.dll"]
    subprocess.run([*ZIG, "cc", TARGET, "-shared", "-s", *made], check=True)


def give_complex_functions(folder: Path) -> None:
    """Makes the library of wine_complex.cpp, which has all else of `MATH`, too, and lets the packages use it."""
    own = re.findall(r"wine_(cpow\w?)\(|^(?:PART|FUNCTION)\((\w+)", (SOURCES / "wine_complex.cpp").read_text(), re.M)
    names = {name + suffix for pair in own for name in pair if name for suffix in ("", "f", "l")}
    files = [path for path in folder.rglob("*") if path.suffix in (".pyd", ".dll") and MATH in path.read_bytes()]
    used: set[str] = set()
    for path in files:
        module = lief.PE.parse(str(path))
        assert module is not None
        for library in module.imports:
            if str(library.name).encode() == MATH:
                used |= {str(entry.name) for entry in library.entries}
        path.write_bytes(path.read_bytes().replace(MATH, OWN_MATH))
    exports = folder / "math.def"
    lines = [f"  {name} = {'wine_' if name in names else 'ucrtbase.'}{name}" for name in sorted(used)]
    exports.write_text("\n".join([f"LIBRARY {OWN_MATH.decode()}", "EXPORTS", *lines, ""]))
    made: list[str | Path] = [SOURCES / "wine_complex.cpp", exports, "-o", folder / OWN_MATH.decode()]
    subprocess.run([*ZIG, "c++", TARGET, "-shared", "-std=c++20", "-O1", "-s", *made], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("requirement", nargs="+")
    parser.add_argument("--like", default=sys.executable, metavar="PYTHON", help="whose version and library are used")
    arguments = parser.parse_args()
    version, library = version_and_library(arguments.like)
    shutil.rmtree(arguments.folder, ignore_errors=True)
    interpreter(arguments.folder, version, library)
    pip(version, "install", "--target", arguments.folder / "Lib" / "site-packages", *arguments.requirement)
    give_complex_functions(arguments.folder)


if __name__ == "__main__":
    main()
