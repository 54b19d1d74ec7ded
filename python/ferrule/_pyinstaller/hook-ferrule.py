"""Tells PyInstaller what to pack with an application that imports ferrule; it finds most modules without this.

PyInstaller runs it. Backends come along as they are installed: ferrule's own modules and those of all packages in
`ferrule_backends`. The conformance kit, headers and build files do not.
"""

from __future__ import annotations

from pathlib import Path

from PyInstaller.utils.hooks import collect_submodules, copy_metadata, get_package_paths

parent, package = map(Path, get_package_paths("ferrule"))
NOT_NEEDED = ("ferrule._pyinstaller", "ferrule.testing", "ferrule.__main__")

# Packages that are imported by name come along, too.
hiddenimports = [
    *collect_submodules("ferrule", filter=lambda name: not name.startswith(NOT_NEEDED)),
    "jinja2",
    "ml_dtypes",
]
# Imported inside functions; the extras need not be installed.
excludedimports = ["ferrule.testing", "lief", "pytest"]


def files_below(folder: Path) -> list[tuple[str, str]]:
    """All files of a folder, each with its folder in the application."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix not in {".py", ".pyc"}]
    return [(str(path), str(path.parent.relative_to(parent))) for path in files]


# Libraries are listed as data, so that they stay where ferrule looks for them.
datas = [
    *((str(path), "ferrule") for path in package.glob("libferrule.*")),
    *((str(path), "ferrule") for path in package.glob("own-modules.json")),
    *((str(path), "ferrule/bin") for path in package.glob("bin/ferrule-probe*")),
    *((str(path), "ferrule") for path in package.glob("ferrule-probe*")),  # on Windows
    *files_below(package / "backends"),
    *files_below(package / "templates" / "html"),
    *files_below(parent / "ferrule_backends"),
    *copy_metadata("ferrule"),
]
