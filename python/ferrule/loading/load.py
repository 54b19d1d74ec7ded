"""Loading, unloading and reloading backends."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from ferrule import _ferrule
from ferrule.errors import InvalidArgumentError, IoError, NotFoundError
from ferrule.loading import holders, load_state
from ferrule.loading.devices import Backend, Device
from ferrule.loading.load_error import LoadError
from ferrule.loading.load_report import LoadReport
from ferrule.loading.search_folders import (
    DefaultRoots,
    PathLike,
    backend_dir,
    given_roots,
    installed_roots,
    system_path,
)

Result = TypeVar("Result")

# The functions that read files of arrays, by their suffixes.
_READERS = {
    b".gguf": "ferrule.io.open_gguf",
    b".npy": "numpy.load",
    b".npz": "numpy.load",
    b".pt": "torch.load",
    b".pth": "torch.load",
    b".safetensors": "ferrule.io.open_safetensors",
}

last_report: LoadReport | None = None  # of the last load_all in this process, for explain()


def load_all(
    dirs: Iterable[PathLike | DefaultRoots] | PathLike | None = None,
    require: Sequence[str] | str | None = None,
    only: Sequence[str] | str | None = None,
    probe: str | None = None,
    select: str = "manifest",
    trust: str | None = None,
    reprobe: bool = False,
) -> LoadReport:
    """Load the best variant of each backend that can run here. Backends that are loaded already stay loaded.

    Parameters
    ----------
    dirs : path or iterable of paths, optional
        The folders to search instead of the default ones; `fe.default_roots` stands for these.
    require : str or sequence of str, optional
        Backends that must be loaded in the end.
    only : str or sequence of str, optional
        The backends to load; by default all.
    probe : {"auto", "always", "never"}, optional
        Which modules are tried in another process first; by default FERRULE_PROBE, otherwise "auto".
    select : {"manifest", "score"}
        How a variant is chosen: by the manifests, or by opening all variants and asking for their scores.
    trust : {"owner", "manifest-hash", "any"}, optional
        Whose files are opened; by default FERRULE_TRUST, otherwise "owner".
    reprobe : bool
        Ignore the verdicts of earlier probes.

    Returns
    -------
    LoadReport
        All folders and modules that were considered, and why each was loaded or not.

    Raises
    ------
    InvalidArgumentError
        An option is invalid.
    NotFoundError
        A folder of `dirs` does not exist.
    LoadError
        A backend of `require` was not loaded. Its `report` says why.

    Examples
    --------
    >>> report = fe.load_all(only="cpu")
    >>> [candidate.name for candidate in report.loaded]
    ['cpu']
    """
    handle, error = _ferrule.load_all(
        given_roots(dirs),
        [str(backend_dir()), *installed_roots()],  # libferrule may be another one of this version
        _names("only", only),
        _names("require", require),
        _word("load_all", "select", select),
        _word("load_all", "probe", probe),
        _word("load_all", "trust", trust),
        reprobe,
    )
    global last_report
    report = None if handle is None else LoadReport(handle)
    if report is None:
        load_state.changed()
    else:
        load_state.loaded_all()
    last_report = last_report if report is None else report
    if error is None and report is not None:
        return report
    if report is not None and require and isinstance(error, NotFoundError):
        raise LoadError(f"{error}\n{report}", report) from None
    raise error if error is not None else NotFoundError("load_all: there is no report")


def _names(option: str, names: Sequence[str] | str | None) -> list[str]:
    found = [names] if isinstance(names, str) else list(names or ())
    if not all(isinstance(name, str) for name in found):
        raise InvalidArgumentError(f"load_all: {option} is a list of names, not {names!r}")
    return found


def _word(function: str, option: str, word: str | None) -> str | None:
    if word is not None and not isinstance(word, str):
        raise InvalidArgumentError(f"{function}: {option} is a word, not {word!r}")
    return word


def load(path: PathLike, *, as_name: str | None = None, probe: str | None = None, trust: str | None = None) -> Backend:
    """Load one module by its file name, which may be any name.

    Parameters
    ----------
    path : str or os.PathLike
        The module's file; a relative path starts at the current directory. If the file is not named
        `[lib]ferrule-<name>[-<variant>]`, the backend has the name in its manifest, or without a manifest the name that
        the module reports.
    as_name : str, optional
        Another name for the backend. The same file may be loaded under several names, to compare options or versions;
        each has its own static variables.
    probe, trust : str, optional
        As in `load_all`.

    Returns
    -------
    Backend
        The backend; the existing one if this file is loaded under the name already.

    Raises
    ------
    NotFoundError
        There is no such file.
    InvalidArgumentError
        The path is not that of a regular file, or another backend has the name.
    IoError
        The file is not a module, or cannot be read.
    AbiMismatchError
        The module was built for another version of the binary interface.
    UnsupportedError
        The module cannot run on this machine, or is disabled by FERRULE_DISABLE or FERRULE_ONLY.

    Examples
    --------
    >>> path = fe.device("cpu").backend.path
    >>> fe.load(path, as_name="another").name
    'another'
    >>> fe.unload("another")
    """
    file = system_path("load", path)
    words = [_word("load", *given) for given in (("as_name", as_name), ("probe", probe), ("trust", trust))]
    try:
        backend = Backend(_ferrule.load(file, *words))
    except (IoError, NotFoundError) as error:
        reader = _READERS.get(os.path.splitext(file)[1].lower())
        if reader is None:
            raise
        raise type(error)(f"{error}; load is for modules, and {reader} reads arrays") from None
    finally:
        load_state.changed()
    return backend


def unload(name: Backend | str) -> None:
    """Close a backend.

    Parameters
    ----------
    name : Backend or str
        The backend, or its name.

    Raises
    ------
    InvalidArgumentError
        Arrays or compiled graphs of the backend exist; the message lists them.
    NotFoundError
        There is no such backend.

    Examples
    --------
    >>> _ = fe.load(fe.device("cpu").backend.path, as_name="copy")
    >>> fe.unload("copy")
    >>> fe.unload("copy")
    Traceback (most recent call last):
    ferrule.errors.NotFoundError: ...
    """
    wanted = name if isinstance(name, str) else name.name
    _after_collecting(lambda: _ferrule.unload(wanted), wanted)


def reload(name: Backend | str, *, force: bool = False) -> Backend:
    """Close a backend and load the file that is at its path now.

    Parameters
    ----------
    name : Backend or str
        The backend, or its name.
    force : bool
        Load it even if arrays or compiled graphs of the backend exist, such as those that a notebook keeps in `Out` and
        `_`. What uses them from then on raises `DeviceLostError`.

    Returns
    -------
    Backend
        The new backend. If the file cannot be loaded, the old backend stays.

    Raises
    ------
    InvalidArgumentError
        Arrays or compiled graphs of the backend exist, and `force` is false; the message lists them, and the variables
        that hold them.
    NotFoundError
        There is no such backend.

    Examples
    --------
    >>> _ = fe.load(fe.device("cpu").backend.path, as_name="copy")
    >>> fe.reload("copy").name
    'copy'
    >>> fe.unload("copy")
    """
    wanted = name if isinstance(name, str) else name.name
    return Backend(_after_collecting(lambda: _ferrule.reload(wanted, force), wanted))


def refresh() -> list[Device]:
    """Ask every backend for its devices again.

    A lost device is replaced by one of the same name, which is opened with the options of the environment. Arrays and
    compiled graphs of the lost device stay unusable; it is closed when the last of them is gone.

    Returns
    -------
    list of Device
        All devices, as `fe.devices()` lists them.

    Examples
    --------
    >>> fe.refresh() == fe.devices()
    True
    """
    load_state.changed()
    _ferrule.refresh()
    return [Device(handle) for handle in _ferrule.devices(unified=True)]


def shutdown() -> None:
    """Close all backends and end ferrule's threads. Without it, nothing is called at exit.

    Raises
    ------
    InvalidArgumentError
        Arrays or compiled graphs exist; the message lists them.

    Examples
    --------
    >>> _ = fe.load_all()
    >>> fe.shutdown()
    >>> fe.backends()
    []
    >>> report = fe.load_all()  # loads them again
    """
    load_state.loaded_all()  # backends that were closed on purpose are not loaded again automatically
    _after_collecting(_ferrule.shutdown)


def _after_collecting(close: Callable[[], Result], name: str = "") -> Result:
    """Call `close`; if objects keep it from closing, collect garbage and try again. `name` is that of the backend.

    A traced function and its graphs are garbage in a reference cycle.
    """
    load_state.changed()  # the cached default device would keep its backend open
    try:
        return close()
    except InvalidArgumentError:
        gc.collect()
        try:
            return close()
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"{error}{holders.advice(name)}") from None
    finally:
        load_state.changed()  # another thread may have asked for the default device meanwhile
