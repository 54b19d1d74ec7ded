"""`python -m ferrule new-backend mine`: writes the sources of a backend, which can be built, tested and published."""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import ferrule
from ferrule.loading.devices import DEVICE_KINDS
from ferrule.loading.explain import backend_extras

TEMPLATE = Path(__file__).resolve().parents[2] / "templates" / "backend"
RESERVED = ("cuda", "metal")  # for backends that ferrule may get


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = "write the sources of a backend of your own, with one op, its tests and its wheel"
    parser = verbs.add_parser("new-backend", help=about, description=f"{about[0].upper()}{about[1:]}.")
    parser.add_argument("name", help="what its device is called: a-z, 0-9 and _")
    parser.add_argument("--folder", type=Path, help="target folder (default: ./<name>)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    try:
        folder = new_backend(options.name, options.folder)
    except (ValueError, OSError) as error:
        print(f"new-backend: {error}", file=sys.stderr)
        return 1
    print(f"wrote {folder}: its README.md says how it is built, tested and extended")
    return 0


def new_backend(name: str, folder: Path | None = None) -> Path:
    """Write the sources of a backend into a folder that is empty or does not exist: all files or none."""
    _check_name(name)
    folder = (folder or Path(name)).resolve()
    _check_folder(folder)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as staging:
        made = Path(staging) / folder.name  # inside the staging folder, which only its owner can access
        for path, text in _files(name):
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            (made / path).write_text(text, encoding="utf-8", newline="\n")
        if folder.is_dir():  # kept, as it may be the current directory of a process
            for entry in made.iterdir():
                entry.rename(folder / entry.name)
        else:
            made.rename(folder)
    return folder


def _check_name(name: str) -> None:
    if not re.fullmatch("[a-z0-9_]*[a-z0-9]", name):
        raise ValueError(
            f"{name!r} is not a valid name: it must consist of a-z, 0-9 and _, and end in a letter or digit"
        )
    if name in own_names():
        raise ValueError(f"'{name}' is the name of a backend of ferrule's own")
    if name in DEVICE_KINDS:  # names of backends are looked up first, so the backend would hide the kind
        raise ValueError(f"'{name}' is a kind of device and cannot name a backend")


def own_names() -> set[str]:
    """Return the names of ferrule's backends: of the modules in this package, of the wheels that are its extras, and
    those that are reserved."""
    package = Path(ferrule.__file__).parent
    manifests = (path for folder in ("backends", "testing") for path in (package / folder).glob("*ferrule-*.json"))
    modules = {json.loads(path.read_text(encoding="utf-8"))["name"] for path in manifests}
    return {*modules, *backend_extras(), *RESERVED}


def _check_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is not a folder")
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty, and nothing in it is overwritten")
    if not folder.parent.is_dir():
        raise ValueError(f"there is no folder {folder.parent} to write it into")


def _files(name: str) -> Iterator[tuple[Path, str]]:
    """Yield the path and text of each file. `backend_name` and `ferrule_minor` are replaced in both."""
    minor = ".".join(ferrule.__version__.split(".")[:2])
    for source in sorted(path for path in TEMPLATE.rglob("*") if path.is_file() and path.suffix != ".pyc"):
        path = str(source.relative_to(TEMPLATE)).replace("backend_name", name)
        text = source.read_text(encoding="utf-8").replace("backend_name", name).replace("ferrule_minor", minor)
        yield Path(".gitignore" if path == "gitignore" else path), text  # a .gitignore here would apply to our tree
