"""`ferrule.testing.check`: the kit without pytest, for a notebook or a program."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from ferrule.op_rows import OP_ROWS
from ferrule.testing.checks import all_checks
from ferrule.testing.kit import Item, items_of, subjects_of, unsupported_records
from ferrule.testing.report import Record, Report, as_text, notebook_html, save
from ferrule.testing.running.check_attempt import LEVELS, NotApplicable
from ferrule.testing.running.target import Target


class Results:
    """The records of a run. `print` shows every failure and a summary; a notebook shows the matrix.

    Attributes
    ----------
    records : list of Record
        One record for each check of each case, and one for each refusal and unsupported case.
    report : Report
        The records as a report, with its matrix.
    """

    def __init__(self, records: list[Record]) -> None:
        self.records = records
        self.report = Report(tuple(records))

    @property
    def failures(self) -> list[Record]:
        """The failing records, crashes first."""
        return list(self.report.failures)

    @property
    def ok(self) -> bool:
        """Whether at least one check passed and none failed."""
        return any(record.state == "passed" for record in self.records) and not self.failures

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report to a file.

        Parameters
        ----------
        path : str or os.PathLike
            The file, which is replaced. Its suffix chooses the format: .html, .json or .txt.

        Raises
        ------
        ValueError
            The suffix is another one.

        Examples
        --------
        >>> import os, tempfile
        >>> import ferrule as fe
        >>> results = fe.testing.check("softmax", device="cpu", dtypes=["float32"], level="brief")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     results.save(os.path.join(folder, "report.html"))
        ...     os.listdir(folder)
        ['report.html']
        """
        save(self.report, Path(path))

    def __str__(self) -> str:
        failures = [f"{record.message}\n  {'repeat':<10} {record.repeat}" for record in self.failures]
        return "\n\n".join([*failures, as_text(self.report).rstrip()])

    def __repr__(self) -> str:
        return f"Results(ok={self.ok}, checks={len(self.records)}, failures={len(self.failures)})"

    def _repr_html_(self) -> str:
        return notebook_html(self.report.matrix)


def check(
    op: str | Sequence[str] | None = None,
    *,
    device: str | None = None,
    backend: str | os.PathLike[str] | None = None,
    variant: str | None = None,
    dtypes: Sequence[str] | None = None,
    checks: Sequence[str] | None = None,
    level: str = "quick",
    seed: int = 0,
    benchmark: bool = False,
    timeout: float = 60.0,
) -> Results:
    """Test a device, a module's file or a variant of the CPU module.

    The module runs in its own process, so that a crash is a result.

    Parameters
    ----------
    op : str or sequence of str, optional
        The ops to test. By default all.
    device : str, optional
        The name of a device, such as "gpu:1". The default target is the device "cpu".
    backend : str or os.PathLike, optional
        A module's file, in place of `device`.
    variant : str, optional
        A variant of the CPU module, in place of `device`.
    dtypes : sequence of str, optional
        Only test cases that have one of these dtypes as an input or result.
    checks : sequence of str, optional
        The checks to run. By default all that the level has.
    level : str
        How thorough the checks are: "brief", "quick", "full" or "edge".
    seed : int
        The seed of the values and shapes.
    benchmark : bool
        Whether to time each op beside NumPy, too.
    timeout : float
        Seconds without an answer or a new execution after which the module counts as hung.

    Returns
    -------
    Results
        The records of all checks.

    Raises
    ------
    ValueError
        `level` or a name in `checks` does not exist, or more than one of `device`, `backend` and `variant` is given.
    LookupError
        An op does not exist.
    ImportError
        A package of `ferrule[testing]` is not installed.
    ferrule.tools.child.ChildEnded, ferrule.tools.child.ChildError
        The device or module cannot be opened.

    Examples
    --------
    >>> import ferrule as fe
    >>> results = fe.testing.check("softmax", device="cpu", dtypes=["float32"], level="brief")
    >>> results.ok
    True
    """
    if sum(given is not None for given in (device, backend, variant)) > 1:
        raise ValueError("check: device, backend and variant are three ways to say one thing; give one")
    for package in ("hypothesis", "mpmath"):
        if find_spec(package) is None:
            raise ImportError(f"check: needs {package}; pip install 'ferrule[testing]'")
    ops = set(OP_ROWS) if op is None else {op} if isinstance(op, str) else set(op)
    _all_known("op", ops, OP_ROWS, LookupError)
    _all_known("check", checks or (), all_checks(), ValueError)
    _all_known("level", [level], LEVELS, ValueError)
    if backend is not None:
        target = Target("backend", str(Path(backend).expanduser().resolve()), level)
    else:
        target = Target("variant", variant, level) if variant is not None else Target("device", device or "cpu", level)
    return Results(list(_run(target, ops, dtypes, checks, seed, benchmark, timeout)))


def _all_known(what: str, given: Iterable[str], known: Iterable[str], error: type[Exception]) -> None:
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise error(f"check: there is no {what} {unknown[0]!r}; there are {', '.join(known)}")


def _run(
    target: Target,
    ops: set[str],
    dtypes: Sequence[str] | None,
    checks: Sequence[str] | None,
    seed: int,
    benchmark: bool,
    timeout: float,
) -> Iterator[Record]:
    for subject in subjects_of([target], timeout):
        if subject.error is not None:
            raise subject.error
        try:
            subject.ops = ops
            items = [
                item
                for item in items_of(subject, seed, benchmark)
                if (checks is None or item.check in checks)
                and (dtypes is None or not {*item.case.dtypes, item.case.result}.isdisjoint(dtypes))
            ]
            for item in _with_progress(items, subject.name):
                with contextlib.suppress(NotApplicable):
                    yield from item.run()
            for name in sorted(ops):
                yield from unsupported_records(subject, name)
        finally:
            subject.child.close()


def _with_progress(items: list[Item], name: str) -> Iterator[Item]:
    """Show a progress bar on a terminal if rich is installed."""
    try:
        from rich.console import Console
        from rich.progress import track
    except ImportError:
        yield from items
        return
    yield from track(items, description=name, transient=True, console=Console(stderr=True, force_jupyter=False))
