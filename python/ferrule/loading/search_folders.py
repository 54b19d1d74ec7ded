"""The folders that are searched for modules."""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ferrule import _ferrule
from ferrule.errors import InvalidArgumentError

if TYPE_CHECKING:
    from pathlib import Path

PathLike = str | os.PathLike[str]


class DefaultRoots:
    """The class of `fe.default_roots`, which in `dirs=` stands for the folders that are searched without `dirs`."""

    def __repr__(self) -> str:
        return "ferrule.default_roots"


default_roots = DefaultRoots()


def given_roots(dirs: Iterable[PathLike | DefaultRoots] | PathLike | None) -> list[str | bytes] | None:
    """Return the folders that the argument `dirs` of load_all stands for."""
    if dirs is None:
        return None
    given = [dirs] if isinstance(dirs, (str, bytes, os.PathLike)) else list(dirs)
    folders: list[str | bytes] = []
    for folder in given:
        if isinstance(folder, DefaultRoots):
            folders += [path for path in standard_roots() if os.path.isdir(path)]
        else:
            folders.append(system_path("load_all", folder))
    return folders


def system_path(caller: str, path: PathLike) -> bytes:
    """Return the path in the encoding of the system: file names need not be UTF-8."""
    try:
        return os.fsencode(os.path.abspath(os.fsdecode(path)))
    except TypeError:
        raise InvalidArgumentError(f"{caller}: path is a file name, not {type(path).__name__}") from None
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"{caller}: {path!r} is not a file name: {error}") from error


def backend_dir() -> Path:
    """Return the folder of the backends in the package of ferrule."""
    from pathlib import Path

    return Path(_ferrule.__file__ or "").parent / "backends"


def standard_roots() -> list[str]:
    """Return the folders searched without `dirs`, as far as Python knows them.

    They are those of FERRULE_BACKEND_DIR, the package's own folder, and those of other wheels.
    """
    named = [path for path in os.environ.get("FERRULE_BACKEND_DIR", "").split(os.pathsep) if os.path.isabs(path)]
    return [*named, str(backend_dir()), *installed_roots()]


def installed_roots() -> list[str]:
    """Return `ferrule_backends/*/` beside this package, in `sys.path` and in the folders of installed distributions.

    The current directory is left out wherever it is in `sys.path`. A folder `ferrule_backends` that cannot be listed is
    returned itself.
    """
    import site

    own = os.path.abspath(__file__)
    places = [os.path.dirname(os.path.dirname(os.path.dirname(path))) for path in (own, os.path.realpath(own))]
    places += site.getsitepackages()
    if site.ENABLE_USER_SITE:
        places.append(site.getusersitepackages())
    roots: dict[str, None] = {}
    for folder in [*(os.path.join(place, "ferrule_backends") for place in places), *_importable_folders()]:
        if not os.path.isdir(folder):
            continue
        try:
            with os.scandir(folder) as entries:
                roots.update(dict.fromkeys(sorted(entry.path for entry in entries if os.path.isdir(entry.path))))
        except OSError:  # the report has it as a folder that cannot be read
            roots[folder] = None
    return list(roots)


def _importable_folders() -> list[str]:
    """Return the folders that `import ferrule_backends` would have as its path, except that in the current directory.

    Each wheel may have a folder of its own in `sys.path`: PYTHONPATH, .pth files, Bazel, PEX and nix do that.
    """
    try:
        spec = find_spec("ferrule_backends")
        folders = list(spec.submodule_search_locations or ()) if spec else []
        here = os.path.realpath("ferrule_backends")
    except (ImportError, OSError, ValueError):  # a finder that cannot say; a current directory that is gone
        return []
    return [folder for folder in folders if os.path.realpath(folder) != here]


def executable_dir() -> Path:
    """Return the folder of the running program, with links resolved.

    An application puts its own backends there. For a script it is the folder of the Python interpreter, for a frozen
    application that of the application.

    Returns
    -------
    pathlib.Path
        The folder.

    Examples
    --------
    >>> folder = fe.executable_dir() / "backends"
    >>> report = fe.load_all(dirs=[folder, fe.default_roots] if folder.is_dir() else None)
    """
    from pathlib import Path

    return Path(_ferrule.executable_dir())
