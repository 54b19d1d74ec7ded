"""Host memory of other owners as arrays, and arrays as host memory."""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ferrule import _ferrule
from ferrule.array.array import Array
from ferrule.array.host_memory import from_host
from ferrule.array.mapped_files import whole_pages
from ferrule.dtypes.classification import is_block
from ferrule.errors import DTypeError, InvalidArgumentError
from ferrule.loading.device_lookup import handle_of
from ferrule.loading.devices import Device

if TYPE_CHECKING:
    from ferrule.array.mapped_files import FileMapping

Memory = NDArray[Any] | memoryview | mmap.mmap | bytes | bytearray | tuple[int, int]


def buffer_from_host_ptr(
    memory: Memory, device: Device | str | None = None, access: str | None = None, copy: bool | None = None
) -> Array:
    """Borrow host memory where the device can, otherwise copy it; `Array.placement` says which, and why.

    A device with memory of its own, such as a discrete GPU, would read host memory over a bus at each use: it borrows
    only with `copy=False`.

    Parameters
    ----------
    memory : numpy.ndarray, memoryview, mmap, bytes, bytearray or (address, size)
        The memory. NumPy arrays and memoryviews keep their dtype and shape; others are uint8 in one dimension. The
        object is kept alive as long as its memory is used. For an address, the caller must keep the memory valid. A
        mapped file must not be truncated while it is borrowed.
    device : Device or str, optional
        The device; by default the default device.
    access : {"r", "rw"}, optional
        Whether the memory may be written to; by default what the object allows.
    copy : bool, optional
        True always copies, False raises where a copy is needed, None copies where needed.

    Returns
    -------
    Array
        An array over the memory, or of a copy.

    Raises
    ------
    InvalidArgumentError
        `memory` is of another type, `access` is "rw" for read-only memory, or a copy is needed and `copy=False`.

    Examples
    --------
    >>> fe.buffer_from_host_ptr(b"abc", "cpu").tolist()
    [97, 98, 99]
    """
    if access not in (None, "r", "rw"):
        raise InvalidArgumentError(f'buffer_from_host_ptr: access is "r" or "rw", not {access!r}')
    source = _as_numpy(memory, access)
    if access == "rw" and not source.flags.writeable:
        raise InvalidArgumentError('buffer_from_host_ptr: access is "rw", but the memory is read-only')
    if access == "r" and source.flags.writeable:
        source = source.view()
        source.flags.writeable = False
    return Array._of(from_host(source, handle_of(device), copy, "buffer_from_host_ptr"))


def _as_numpy(memory: Memory, access: str | None) -> NDArray[Any]:
    if isinstance(memory, np.ndarray):
        return memory
    if isinstance(memory, tuple):
        return _at_address(memory, access)
    try:
        if isinstance(memory, mmap.mmap):
            return np.frombuffer(memory, dtype=np.uint8)
        return np.asarray(memoryview(memory))
    except (TypeError, ValueError, BufferError) as error:
        raise InvalidArgumentError(
            f"buffer_from_host_ptr: takes an ndarray, a memoryview, an mmap or (address, size), not "
            f"{type(memory).__name__}: {error}"
        ) from error


def _at_address(memory: tuple[int, int], access: str | None) -> NDArray[Any]:
    import ctypes

    if len(memory) != 2 or not all(isinstance(number, int) for number in memory):
        raise InvalidArgumentError(f"buffer_from_host_ptr: {memory!r} is not (address, size)")
    address, size = memory
    if address <= 0 or size < 0 or address + size > 1 << 63:
        raise InvalidArgumentError(f"buffer_from_host_ptr: there is no memory of {size} bytes at address {address:#x}")
    source: NDArray[Any] = np.frombuffer(memoryview((ctypes.c_uint8 * size).from_address(address)), dtype=np.uint8)
    source.flags.writeable = access != "r"
    return source


def map_file(file: FileMapping, device: Device | str | None) -> tuple[_ferrule.Array | None, NDArray[np.uint8]]:
    """Return a read-only mapped file as one region of whole pages that the device borrows, and as a NumPy array.

    The region is None for a device that copies: it is to copy only what is read.
    """
    raw = np.frombuffer(memoryview(file), dtype=np.uint8)
    handle = handle_of(device)
    if "borrows" not in Device(handle).info["capabilities"]:
        return None, raw
    return _ferrule.from_mapped_file(handle, raw.ctypes.data, whole_pages(raw.nbytes), raw), raw


def snapshot_of(arrays: Mapping[str, Array | NDArray[Any]], caller: str) -> dict[str, Array | NDArray[Any]]:
    """Return the arrays that are to be written. Each is looked up once: another thread may change the mapping."""
    items = mapping_of(arrays, "arrays", caller)
    for name, array in items.items():
        if not isinstance(array, (Array, np.ndarray)):
            raise InvalidArgumentError(
                f"{caller}: tensor {name!r} is a {type(array).__name__}, not an array of ferrule or NumPy"
            )
        if isinstance(array, np.ma.MaskedArray):
            raise DTypeError(f"{caller}: a file has no place for the mask of tensor {name!r}; fill it first")
        if isinstance(array, Array):
            array._concrete(f"{caller}()")
    return items


def mapping_of(given: Any, what: str, caller: str) -> dict[Any, Any]:
    """Return the items of an argument that is to be a mapping."""
    if not isinstance(given, Mapping):
        raise InvalidArgumentError(f"{caller}: {what} is a {type(given).__name__}, not a dict")
    return dict(given)


def bytes_of(array: Array | NDArray[Any], caller: str) -> memoryview:
    """Return the elements in row-major and native order; of a block dtype the blocks."""
    if isinstance(array, Array) and is_block(array.dtype):
        packed = np.empty(array.nbytes, np.uint8)
        array._computed(caller).read_into(packed)
        return packed.data
    host: NDArray[Any] = np.asarray(array)
    if not host.dtype.isnative:
        host = host.astype(host.dtype.newbyteorder("="))
    return np.ascontiguousarray(host).reshape(-1).view(np.uint8).data
