"""Loading: which modules there are, which were chosen, and why."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from ferrule import _devices, _ferrule
from ferrule._devices import Backend, Device
from ferrule._errors import InvalidArgumentError, LoadError, NotFoundError
from ferrule._json_text import json_text

if TYPE_CHECKING:
    from pathlib import Path

    from ferrule._report import Candidate, Root

PathLike = str | os.PathLike[str]
Result = TypeVar("Result")


class _Formatted:
    """A report in the formats that a handle of the core gives: what a pickle of it has."""

    def __init__(self, formats: dict[str, str]) -> None:
        self._formats = formats

    def format(self, name: str) -> str:
        return self._formats[name]


class LoadReport:
    """What a load looked at: `print` it for a table."""

    def __init__(self, handle: _ferrule.LoadReport | _Formatted) -> None:
        self._handle = handle

    def __reduce__(self) -> tuple[Any, ...]:
        return LoadReport, (_Formatted({name: self._handle.format(name) for name in ("json", "text")}),)

    # Read when it is asked for: most loads are of a program that wants a device, and nobody looks.
    @cached_property
    def _data(self) -> dict[str, Any]:
        return self.to_dict()

    @cached_property
    def candidates(self) -> list[Candidate]:
        from ferrule._report import candidate_of

        return [candidate_of(row) for row in self._data["candidates"]]

    @cached_property
    def roots(self) -> list[Root]:
        from ferrule._report import root_of

        return [root_of(root) for root in self._data["roots"]]

    @property
    def milliseconds(self) -> float:
        return float(self._data["milliseconds"])

    @property
    def loaded(self) -> list[Candidate]:
        return [candidate for candidate in self.candidates if candidate.state == "loaded"]

    @property
    def ok(self) -> bool:
        """Whether something is loaded and nothing that was tried has failed."""
        failed = {"error", "probe_failed"}
        return bool(self.loaded) and not any(candidate.state in failed for candidate in self.candidates)

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self.candidates)

    def __len__(self) -> int:
        return len(self.candidates)

    def __str__(self) -> str:
        return self._handle.format("text").rstrip("\n")

    def __repr__(self) -> str:
        return f"LoadReport(loaded={[candidate.path.name for candidate in self.loaded]}, candidates={len(self)})"

    def to_json(self) -> str:
        return self._handle.format("json")

    def to_dict(self) -> dict[str, Any]:
        import json

        data: dict[str, Any] = json.loads(self.to_json())
        return data

    def _repr_html_(self) -> str:
        from ferrule._report_html import report_html

        return report_html(self._data)


class _DefaultRoots:
    """`fe.default_roots` in `dirs=` stands for the folders that are searched without `dirs`."""

    def __repr__(self) -> str:
        return "ferrule.default_roots"


default_roots = _DefaultRoots()


last_report: LoadReport | None = None  # of this process's last load_all, for explain()


def load_all(
    dirs: Iterable[PathLike | _DefaultRoots] | PathLike | None = None,
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
        "dirs": _folders(dirs),
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
        _devices.changed()
    else:
        _devices.loaded_all()
    last_report = last_report if report is None else report
    if error is None and report is not None:
        return report
    if report is not None and require and isinstance(error, NotFoundError):
        raise LoadError(f"{error}\n{report}", report) from None
    raise error if error is not None else NotFoundError("load_all: there is no report")


def _folders(dirs: Iterable[PathLike | _DefaultRoots] | PathLike | None) -> list[str] | None:
    if dirs is None:
        return None
    given = [dirs] if isinstance(dirs, (str, os.PathLike)) else list(dirs)
    folders: list[str] = []
    for folder in given:
        if isinstance(folder, _DefaultRoots):
            folders += [path for path in standard_roots() if os.path.isdir(path)]
        else:
            path = os.path.abspath(os.fsdecode(folder))
            try:
                path.encode()
            except UnicodeEncodeError:
                raise InvalidArgumentError(f"load_all: the name of the folder {path!r} is no UTF-8") from None
            folders.append(path)
    return folders


def _names(option: str, names: Sequence[str] | str | None) -> list[str]:
    found = [names] if isinstance(names, str) else list(names or ())
    if not all(isinstance(name, str) for name in found):
        raise InvalidArgumentError(f"load_all: {option} is a list of names, not {names!r}")
    return found


def backend_dir() -> Path:
    """The folder of the backends that came with ferrule."""
    from pathlib import Path

    return Path(_ferrule.__file__ or "").parent / "backends"


def standard_roots() -> list[str]:
    """What is searched without `dirs`, as far as Python knows: FERRULE_BACKEND_DIR, our own folder, other wheels'."""
    named = [path for path in os.environ.get("FERRULE_BACKEND_DIR", "").split(os.pathsep) if os.path.isabs(path)]
    return [*named, str(backend_dir()), *installed_roots()]


def installed_roots() -> list[str]:
    """`ferrule_backends/*/` in the folders where distributions are installed; the current directory is never one."""
    import site

    places = [*site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        places.append(site.getusersitepackages())
    places.append(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    roots: dict[str, None] = {}
    for place in places:
        folder = os.path.join(place, "ferrule_backends")
        if os.path.isdir(folder):
            entries = sorted(entry.path for entry in os.scandir(folder) if entry.is_dir())
            roots.update(dict.fromkeys(entries))
    return list(roots)


def executable_dir() -> Path:
    """Return the folder of the running program, links resolved: where an application puts backends that it ships.

    For a script it is the folder of the Python interpreter, for a frozen application that of the application.

    Examples
    --------
    >>> fe.load_all(dirs=[fe.executable_dir() / "backends", fe.default_roots])
    """
    from pathlib import Path

    return Path(_ferrule.executable_dir())


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
        _devices.loaded_a_file()
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
    _devices.changed()
    _ferrule.refresh()
    return [Device(handle) for handle in _ferrule.devices(unified=True)]


def shutdown() -> None:
    """Close all backends and end ferrule's threads; at exit nothing is called unless this was."""
    _devices.loaded_all()  # what is closed on purpose does not come back by itself
    _after_collecting(_ferrule.shutdown)


def _after_collecting(close: Callable[[], Result]) -> Result:
    """What is in the way may be garbage: a traced function and its graphs refer to each other."""
    _devices.changed()  # the default device would be in the way
    try:
        return close()
    except InvalidArgumentError:
        gc.collect()
        return close()
    finally:
        _devices.changed()  # another thread may have asked for the default device meanwhile
