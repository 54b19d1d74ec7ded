"""Tells PyInstaller what to pack with an application that imports ferrule; it finds most modules without this.

PyInstaller runs it. Backends come along as they are installed: ferrule's own modules and those of all packages in
`ferrule_backends`. The conformance kit, headers and build files do not.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from PyInstaller.utils.hooks import collect_submodules, copy_metadata, get_package_paths

from ferrule.loading.search_folders import installed_roots

parent, package = map(Path, get_package_paths("ferrule"))
# An application that uses ferrule.einops imports it itself.
NOT_NEEDED = ("ferrule._pyinstaller", "ferrule.testing", "ferrule.__main__", "ferrule.einops")

# Packages that are imported by name come along, too.
hiddenimports = [
    *collect_submodules("ferrule", filter=lambda name: not name.startswith(NOT_NEEDED)),
    "jinja2",
    "ml_dtypes",
]
# Imported inside functions; the extras need not be installed.
excludedimports = ["ferrule.testing", "lief", "pytest"]


def files_below(folder: Path, base: Path = parent) -> list[tuple[str, str]]:
    """All files of a folder, each with its folder in the application."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix not in {".py", ".pyc"}]
    return [(str(path), str(path.parent.relative_to(base))) for path in files]


def files_of_backends() -> list[tuple[str, str]]:
    """The folders of `ferrule_backends` that `load_all` searches, and the licences of what they contain."""
    found: dict[str, Path] = {}
    for folder in map(Path, installed_roots()):
        if folder.parent.name == "ferrule_backends":  # not itself, as it is where it cannot be listed
            found.setdefault(folder.name, folder)
    files = []
    for name, folder in found.items():
        files += files_below(folder, folder.parents[1])
        try:
            distribution(f"ferrule-{name}")
        except PackageNotFoundError:  # the folder is not of a package
            continue
        files += copy_metadata(f"ferrule-{name}")
    return files


# Libraries are listed as data, so that they stay where ferrule looks for them.
datas = [
    *((str(path), "ferrule") for path in package.glob("libferrule.*")),
    *((str(path), "ferrule") for path in package.glob("own-modules.json")),
    *((str(path), "ferrule/bin") for path in package.glob("bin/ferrule-probe*")),
    *((str(path), "ferrule") for path in package.glob("ferrule-probe*")),  # on Windows
    *files_below(package / "backends"),
    *files_below(package / "templates" / "html"),
    *files_of_backends(),
    *copy_metadata("ferrule"),
]
