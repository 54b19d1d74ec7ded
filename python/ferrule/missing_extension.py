"""The sentence of the error if ferrule's extension cannot be imported."""

from __future__ import annotations

import importlib.machinery
import os
import sys


def explanation(package: str, error: ImportError) -> str:
    """Say why the package in this folder has no extension for this Python, and what to do.

    Parameters
    ----------
    package : str
        The folder of ferrule; for a package inside a zip file, its path and a path within it.
    error : ImportError
        What Python said.

    Returns
    -------
    str
        One sentence or two.
    """
    if not os.path.isdir(package):
        return (
            f"ferrule cannot be imported from {package!r}, which is no folder: the system opens libraries as files. "
            "Install ferrule into a folder, as `pip install --target FOLDER ferrule` does"
        )
    found = sorted(name for name in os.listdir(package) if name.startswith("_ferrule.") and not name.endswith(".pyi"))
    if not found:
        return (
            f"{package!r} has no extension _ferrule: it is ferrule's source tree, or an incomplete copy of an "
            "installation. Start Python in another folder, or install ferrule again"
        )
    suitable = {f"_ferrule{suffix}" for suffix in importlib.machinery.EXTENSION_SUFFIXES}
    if suitable.isdisjoint(found):
        return (
            f"ferrule in {package!r} is for another Python or another system: it has {', '.join(found)}, and this is "
            f"{sys.implementation.name} {sys.version.split()[0]} on {sys.platform}, which opens names that end in "
            f"{importlib.machinery.EXTENSION_SUFFIXES[0]}. Install ferrule with the pip of this Python"
        )
    return f"ferrule's extension in {package!r} cannot be opened: {error}"
