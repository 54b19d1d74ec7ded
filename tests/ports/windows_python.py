"""Puts CPython for Windows together, for wine: windows_python.py <folder> <zig> <requirement ...>

The interpreter and the compiled part of the standard library are those that the package panda3d of PyPI has for its
programs; the rest of the library is that of this Python, whose version is taken. The requirements, for Windows, are
installed by pip. wine 8 has no complex functions in its C library: libraries that use them get those of
wine_complex.cpp.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import lief

PANDA3D = "panda3d==1.10.16"
SOURCES = Path(__file__).resolve().parent / "windows"
VERSION = "{}.{}".format(*sys.version_info)
TARGET = "--target=x86_64-windows-gnu"
# Names of equal length: one takes the place of the other within the files.
MATH, OWN_MATH = b"api-ms-win-crt-math-l1-1-0.dll", b"ferrule-crt-math-for-wine-.dll"


def pip(*arguments: str | Path) -> None:
    windows = ["--platform", "win_amd64", "--python-version", VERSION, "--only-binary=:all:"]
    subprocess.run([sys.executable, "-m", "pip", "-q", *arguments, *windows], check=True)


def interpreter(folder: Path, zig: Path) -> None:
    name_of_library = f"python{VERSION.replace('.', '')}"
    libraries = folder / "DLLs"
    libraries.mkdir(parents=True)
    pip("download", "--no-deps", "-d", folder, PANDA3D)
    [wheel] = folder.glob("panda3d-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith("deploy_libs/"):
                path = folder if Path(name).name in (f"{name_of_library}.dll", "VCRUNTIME140.dll") else libraries
                (path / Path(name).name).write_bytes(archive.read(name))
    wheel.unlink()
    unused = shutil.ignore_patterns("*.so", "__pycache__", "site-packages", "dist-packages", "config-*", "test")
    shutil.copytree(sysconfig.get_path("stdlib"), folder / "Lib", ignore=unused)
    imports = folder / f"{name_of_library}.def"
    imports.write_text("EXPORTS\n  Py_Main\n")
    library = imports.with_suffix(".a")
    options: list[str | Path] = ["-m", "i386:x86-64", "-d", imports, "-l", library, "-D", f"{name_of_library}.dll"]
    subprocess.run([zig, "dlltool", *options], check=True)
    program: list[str | Path] = [SOURCES / "python.c", library, "-o", folder / "python.exe"]
    subprocess.run([zig, "cc", TARGET, "-municode", "-s", *program], check=True)


def give_complex_functions(folder: Path, zig: Path) -> None:
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
    subprocess.run([zig, "c++", TARGET, "-shared", "-std=c++20", "-O1", "-s", *made], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("zig", type=Path, help="the program")
    parser.add_argument("requirement", nargs="+")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.folder, ignore_errors=True)
    interpreter(arguments.folder, arguments.zig)
    pip("install", "--target", arguments.folder / "Lib" / "site-packages", *arguments.requirement)
    give_complex_functions(arguments.folder, arguments.zig)


if __name__ == "__main__":
    main()
