"""A module file as data: its contents, its manifest, and problems."""

from __future__ import annotations

import hashlib
import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ferrule.later import later
from ferrule.tools.inspection import abi as interface
from ferrule.tools.inspection.image import Image
from ferrule.tools.inspection.manifest import disagreements, read_manifest

if TYPE_CHECKING:
    from ferrule.tools.inspection import formats
else:
    formats = later("ferrule.tools.inspection.formats")  # it imports lief

FILE_NAME = re.compile(r"(?:lib)?ferrule-(?P<name>[a-z0-9_]+)(?:-(?P<variant>.+))?\.(?:so|dylib|dll)")


def read_module(path: Path) -> dict[str, Any]:
    """Return what is known about a file; its contents raise no errors.

    `problems` are reasons why it is not a module, or is damaged; `notes` are reasons why this core would refuse a valid
    module.
    """
    found: dict[str, Any] = {"path": str(path), "problems": [], "notes": [], "images": [], "manifest": None}
    if not path.is_file():
        what = "it is not a regular file" if path.exists() else "there is no such file"
        found["problems"].append(what)
        return found
    try:
        found["size"] = path.stat().st_size
        with path.open("rb") as file:
            found["sha256"] = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        found["problems"].append(f"it cannot be read: {error.strerror}")
        return found

    match = FILE_NAME.fullmatch(path.name)
    name = {"name": match["name"], "variant": match["variant"] or ""} if match else None
    images = _images(path, found)
    if name is None and images:
        found["notes"].append("no load finds it in a folder: a module is named [lib]ferrule-<name>[-<variant>]")
    found["manifest"], problems = read_manifest(path)
    found["problems"] += problems
    if found["manifest"] is not None:
        abis = [image.abi for image in images if image.abi is not None]
        found["problems"] += disagreements(found["manifest"], name, found["size"], found["sha256"], abis)
    elif images and not problems:
        found["notes"].append("it has no manifest: it ranks below modules with one, and is opened before it is scored")
    return found


def _images(path: Path, found: dict[str, Any]) -> list[Image]:
    try:
        images = formats.images_of(path)
    except (ValueError, RuntimeError, OSError) as error:
        found["problems"].append(str(error))
        return []
    for image in images:
        of = f"{image.architecture}: " if len(images) > 1 else ""
        found["problems"] += [of + problem for problem in [*image.problems, *_interface_problems(image)]]
        found["notes"] += [of + note for note in _interface_notes(image)]
        found["images"].append(_as_data(image))
    return images


def _interface_problems(image: Image) -> list[str]:
    return [f"it does not export {name}" for name in interface.REQUIRED if name not in image.exports]


def _interface_notes(image: Image) -> list[str]:
    notes = []
    others = [name for name in image.exports if name not in (*interface.REQUIRED, *interface.OPTIONAL)]
    if others:
        shown = ", ".join(others[:5]) + (f" and {len(others) - 5} more" if len(others) > 5 else "")
        notes.append(f"it exports {shown}, which a module must hide")
    complaint = interface.complaint(image.abi) if image.abi is not None else ""
    if complaint:
        notes.append(f"this ferrule does not take it: {complaint}")
    return notes


def _as_data(image: Image) -> dict[str, Any]:
    data = asdict(image)
    data["abi"] = interface.as_data(image.abi) if image.abi is not None else None
    del data["problems"]  # they are listed for the file
    return data
