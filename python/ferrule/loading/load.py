"""Loading: which modules there are, which were chosen, and why."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from ferrule import _ferrule
from ferrule.errors import InvalidArgumentError, NotFoundError
from ferrule.loading import load_state
from ferrule.loading.devices import Backend, Device
from ferrule.loading.json_text import json_text
from ferrule.loading.load_error import LoadError
from ferrule.loading.load_report import LoadReport
from ferrule.loading.search_folders import DefaultRoots, PathLike, given_roots, installed_roots

Result = TypeVar("Result")

last_report: LoadReport | None = None  # of this process's last load_all, for explain()


def load_all(
    dirs: Iterable[PathLike | DefaultRoots] | PathLike | None = None,
    require: Sequence[str] | str | None = None,
    only: Sequence[str] | str | None = None,
    probe: str | None = None,
    select: str = "manifest",
    trust: str | None = None,
    reprobe: bool = False,
) -> LoadReport:
    """Load the best runnable module of each name; what is loaded stays as it is.

    `dirs` replaces the default folders; `require` names backends without which LoadError is raised, with the report;
    `only` leaves other names out; `select="score"` opens and asks all variants instead of trusting their manifests.
    `probe` ("auto", "always", "never"; None is what FERRULE_PROBE says, else "auto") says who is tried in a process
    of its own first, `reprobe` that earlier verdicts do not count. `trust` ("owner", "manifest-hash", "any"; None is
    what FERRULE_TRUST says, else "owner") says whose files are opened.
    """
    options = {
        "dirs": given_roots(dirs),
        "require": _names("require", require),
        "only": _names("only", only),
        "probe": probe,
        "select": select,
        "trust": trust,
        "reprobe": reprobe,
        "extra_roots": installed_roots(),
    }
    handle, error = _ferrule.load_all(json_text(options))
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


def load(path: PathLike, *, as_name: str | None = None, probe: str | None = None, trust: str | None = None) -> Backend:
    """Load one file of any name, which may be named relative to the current directory.

    Parameters
    ----------
    path : str or os.PathLike
        The module's file. When it is not called `[lib]ferrule-<name>[-<variant>]`, its manifest says what its backend
        is called, and without a manifest the module itself does.
    as_name : str, optional
        What the backend is called instead. The same file may be loaded under several names, to compare options or
        versions; each has static variables of its own.
    probe, trust : str, optional
        As of load_all.

    Returns
    -------
    Backend
        The one that is there when this very file is loaded under the name already.

    Raises
    ------
    NotFoundError
        There is no such file.
    InvalidArgumentError
        It is no module, or another backend has the name.
    UnsupportedError
        It cannot run on this machine, or is switched off by FERRULE_DISABLE or FERRULE_ONLY.
    """
    options = {"probe": probe, "trust": trust, "as_name": as_name}
    try:
        backend = Backend(_ferrule.load(_system_path(path), json_text(options)))
    finally:
        load_state.loaded_a_file()
    return backend


def _system_path(path: PathLike) -> bytes:
    """The path as the system has it: names of files need not be UTF-8."""
    try:
        return os.fsencode(os.path.abspath(os.fsdecode(path)))
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"load: {path!r} is no name of a file: {error}") from error


def unload(name: Backend | str) -> None:
    """Close a backend. Refused, saying what, while arrays or compiled graphs of it live."""
    _after_collecting(lambda: _ferrule.unload(name if isinstance(name, str) else name.name))


def reload(name: Backend | str) -> Backend:
    """Close a backend and load what lies at its path now: the old one stays when that is no good."""
    return Backend(_after_collecting(lambda: _ferrule.reload(name if isinstance(name, str) else name.name)))


def refresh() -> list[Device]:
    """Ask every backend for the devices that it has now, and return them all.

    A device that was lost gets a successor of the same name, which opens anew, with the options of the environment.
    Arrays and compiled graphs of the lost one stay errors; it is closed when the last of them is gone.
    """
    load_state.changed()
    _ferrule.refresh()
    return [Device(handle) for handle in _ferrule.devices(unified=True)]


def shutdown() -> None:
    """Close all backends and end ferrule's threads; at exit nothing is called unless this was."""
    load_state.loaded_all()  # what is closed on purpose does not come back by itself
    _after_collecting(_ferrule.shutdown)


def _after_collecting(close: Callable[[], Result]) -> Result:
    """What is in the way may be garbage: a traced function and its graphs refer to each other."""
    load_state.changed()  # the default device would be in the way
    try:
        return close()
    except InvalidArgumentError:
        gc.collect()
        return close()
    finally:
        load_state.changed()  # another thread may have asked for the default device meanwhile
