"""`ferrule.explain`: the core's sentence about a backend, with advice from the installed packages; or one on an op."""

from __future__ import annotations

import difflib
import os
import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, distribution, metadata, requires
from pathlib import Path
from typing import Any

from ferrule import _ferrule
from ferrule.errors import InvalidArgumentError
from ferrule.loading import load
from ferrule.loading.devices import DEVICE_KINDS
from ferrule.loading.explain_op import explain_op
from ferrule.loading.load_error import LoadError
from ferrule.loading.load_report import LoadReport
from ferrule.op_rows import OP_ROWS

TOOLS = {"inspect", "testing"}  # extras that are not backends


def explain(name: str) -> str:
    """Return a sentence on why a backend, or a device of a kind, is available or not, and what to do about it.

    For an op it says which devices compute it in which dtypes, and opens the devices to find out. Loads the backends if
    none has been loaded yet.

    Parameters
    ----------
    name : str
        The name of a backend, of a kind of device, of a device, or of an op.

    Returns
    -------
    str
        The explanation.

    Raises
    ------
    InvalidArgumentError
        `name` is not a name.

    Examples
    --------
    >>> print(fe.explain("abacus"))
    abacus: no module of that name was found in ...
    >>> print(fe.explain("conj"))
    conj: an op. The complex conjugate of x. cpu:0 computes it in complex64, complex128.
    """
    if not isinstance(name, str) or not name.strip():
        raise InvalidArgumentError(f"explain: takes the name of a backend or op, not {name!r}")
    wanted = name.strip().lower().partition(":")[0]
    report = _last_report()
    rows = report.to_dict()["candidates"]
    names = {row["name"] for row in rows if row["name"]}
    assert isinstance(report._handle, _ferrule.LoadReport)
    sentence = report._handle.explain(wanted, [_version(row) for row in rows])
    if wanted in names or wanted in DEVICE_KINDS:
        return sentence
    if op := OP_ROWS.get(wanted):
        return explain_op(op)
    return sentence + _offer(wanted, names)


def _last_report() -> LoadReport:
    if load.last_report is None:
        try:
            load.load_all()
        except LoadError as error:
            return error.report
    assert load.last_report is not None
    return load.last_report


def _version(row: dict[str, Any]) -> str:
    """Return the version of the distribution that installed a module, for a module that was not opened."""
    if row["version"] or not row["name"] or row["root"] == "static":
        return ""
    return _installed_version(row["name"], row["path"])


def _installed_version(name: str, path: str) -> str:
    try:
        found = distribution(f"ferrule-{name}")
    except PackageNotFoundError:
        return ""
    base = Path(os.path.realpath(str(found.locate_file(""))))
    return found.version if base in Path(os.path.realpath(path)).parents else ""


def _offer(name: str, names: set[str]) -> str:
    """Return advice on a name that no module and no kind of device has."""
    extras = backend_extras()
    if systems := systems_of(name):
        return f" It is for another system ({', '.join(systems)})."
    if name in extras:
        if installed(name):
            return f" ferrule-{name} is installed, but its module is not there. {again(name)}"
        return f" Install it: pip install 'ferrule[{name}]'"
    close = difflib.get_close_matches(name, sorted({*names, *extras, *DEVICE_KINDS, *OP_ROWS}), 1, 0.7)
    return f" Did you mean {close[0]!r}?" if close else ""


def installed(name: str) -> bool:
    """Whether pip knows the backend's package as installed, whatever is left of its files."""
    try:
        distribution(f"ferrule-{name}")
    except PackageNotFoundError:
        return False
    return True


def again(name: str) -> str:
    """Advice for the files of a backend that are damaged or gone: pip does not replace them otherwise."""
    package = f"ferrule-{name}" if installed(name) else "ferrule"
    return f"Install it again: pip install --force-reinstall --no-deps {package}"


def systems_of(extra: str) -> list[str]:
    """Return the systems, such as "darwin arm64", for which an extra has a package, if this one is none of them."""
    try:
        needed = requires("ferrule") or ()
    except PackageNotFoundError:
        return []
    texts = [text for text in needed if re.match(rf"ferrule-{re.escape(extra)}\b", text)]
    found = set()
    for text in texts:
        systems, machines = (
            re.findall(rf"{name} == ['\"](\w+)['\"]", text) for name in ("sys_platform", "platform_machine")
        )
        if (not systems or sys.platform in systems) and (not machines or platform.machine() in machines):
            return []
        found |= {" ".join([system, *machines]) for system in systems}
    return sorted(found)


def backend_extras() -> set[str]:
    """Return the extras of the installed ferrule that are backends."""
    try:
        return set(metadata("ferrule").get_all("Provides-Extra") or ()) - TOOLS
    except PackageNotFoundError:
        return set()
