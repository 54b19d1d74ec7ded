"""NumPy's memory as device memory: it is borrowed where possible, otherwise copied or refused."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ferrule import _ferrule
from ferrule.dtypes.classification import DTYPE_NAMES, class_of
from ferrule.errors import DTypeError, Error, InvalidArgumentError, OutOfMemoryError
from ferrule.later import later

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ferrule.array import mapped_files
else:
    mapped_files = later("ferrule.array.mapped_files")  # it imports mmap, a shared library

MAX_DIMENSIONS = 8  # FE_MAX_RANK of the C interface


def check_ndim(caller: str, ndim: int) -> None:
    """Raise an error for more dimensions than an array can have."""
    if ndim > MAX_DIMENSIONS:
        raise InvalidArgumentError(f"{caller}: an array has at most {MAX_DIMENSIONS} dimensions, not {ndim}")


@contextmanager
def enough_memory(what: str) -> Iterator[None]:
    """Convert the two errors that NumPy raises for too little memory to OutOfMemoryError."""
    try:
        yield
    except (MemoryError, ValueError) as error:
        if isinstance(error, Error):
            raise
        raise OutOfMemoryError(f"{what}: {error}") from error


def refuse_masked(source: object, caller: str) -> None:
    """Raise for NumPy's masked arrays, also for numpy.ma.masked."""
    # The module is not imported here: while one thread imports it, another may fork.
    if isinstance(source, getattr(sys.modules.get("numpy.ma"), "MaskedArray", ())):
        raise DTypeError(f"{caller}: a masked array has no place for its mask here; fill it first")


def from_host(
    source: NDArray[Any],
    device: _ferrule.Device,
    copy: bool | None,
    caller: str,
    *,
    owned: bool = False,
    copied_because: str | None = None,
) -> _ferrule.Array:
    """Make an array of NumPy's memory.

    `copy`: True always copies, False raises where a copy is needed, None copies where needed. `owned`: nothing else
    refers to the memory, so an array that uses it does not borrow; it is the caller's copy, `copied_because` of that.
    """
    refuse_masked(source, caller)
    check_ndim(caller, source.ndim)
    native = source.dtype.newbyteorder("=") if source.dtype.kind in "iufcb" else source.dtype
    if not class_of(native):
        raise DTypeError(f"{caller}: dtype {source.dtype} is not supported; ferrule has {', '.join(DTYPE_NAMES)}")
    # Most arrays own their memory, and are in no mapped file.
    mapped = (0, 0) if source.base is None else mapped_files.mapping_of(source)
    reason = _why_not_borrowable(source)
    if reason is not None and copy is False:
        raise InvalidArgumentError(f"{caller}: a copy is needed, which copy=False forbids: {reason}")
    if not source.dtype.isnative:  # the core does not swap bytes
        swapped = np.array(source, dtype=native, copy=True, order="C", subok=False)
        return _ferrule.from_numpy(device, swapped, False, 1, mapped, None)
    if owned:
        source.flags.writeable = False
        return _ferrule.from_numpy(device, source, False, 3, mapped, copied_because)
    mode = {None: 2, True: 1, False: 0}[copy]
    return _ferrule.from_numpy(device, source, may_change(source), mode, mapped, None)


def _why_not_borrowable(source: NDArray[Any]) -> str | None:
    if not source.dtype.isnative:
        return "the byte order is not this machine's"
    if not source.flags.aligned:
        return "the memory is not aligned to the elements"
    if any(stride % source.itemsize for stride in source.strides) and source.size > 0:
        return "the strides are not multiples of the element's size"
    return None


def may_change(source: NDArray[Any]) -> bool:
    """Whether the memory can be written to: a read-only view of a writable array can change, too.

    Owners that cannot be inspected (a capsule, another library's object, a ferrule array that borrows) are assumed
    writable.
    """
    owner: Any = source
    while owner is not None:
        if isinstance(owner, np.ndarray):
            if owner.flags.writeable:
                return True
            owner = owner.base
        elif isinstance(owner, memoryview):
            if not owner.readonly or owner.obj is None:
                return True
            owner = owner.obj
        elif isinstance(owner, bytes):
            return False
        elif hasattr(owner, "__array_interface__") and hasattr(owner, "base"):
            owner = owner.base  # the object that as_strided puts between a view and its array
        else:
            return not _is_read_only(owner)
    return False


def _is_read_only(owner: object) -> bool:
    try:
        return memoryview(owner).readonly  # type: ignore[arg-type]
    except TypeError:
        return False
