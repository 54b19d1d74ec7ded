"""Arrays from and to other libraries without a copy. What leaves is read-only."""

from __future__ import annotations

from typing import Any

from ferrule import _ferrule
from ferrule._devices import Device, handle_of
from ferrule._dtypes import is_block
from ferrule._errors import InvalidArgumentError
from ferrule.array import Array

CPU = (1, 0)


def from_dlpack(x: object, /, *, device: Device | str | None = None, copy: bool | None = None) -> Array:
    """An array over the memory of another library's. `copy` as in asarray."""
    if isinstance(x, Array):
        from ferrule.creation import asarray

        return asarray(x, device=device, copy=copy)
    source: Any = x
    if not hasattr(source, "__dlpack__"):
        raise InvalidArgumentError(f"from_dlpack: a {type(x).__name__} has no __dlpack__")
    try:
        capsule = source.__dlpack__(max_version=(1, 0))
    except TypeError:  # from before DLPack 1.0
        capsule = source.__dlpack__()
    mode = {None: 2, True: 1, False: 0}[copy]
    return Array._of(_ferrule.from_dlpack(handle_of(device), capsule, mode))


def export(
    array: Array,
    stream: object,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> object:
    """`Array.__dlpack__`: for consumers that know no read-only flag a copy, or BufferError when they forbid one."""
    if stream is not None:
        raise BufferError("__dlpack__: host memory has no stream")
    if dl_device is not None and tuple(dl_device) != CPU:
        raise BufferError(f"__dlpack__: exports host memory {CPU} only, not {tuple(dl_device)}")
    if is_block(array.dtype):
        raise BufferError(f"__dlpack__: DLPack has no dtype {array.dtype}")
    on_host = array._host_view("__dlpack__()") is not None
    knows_flags = max_version is not None and max_version[0] >= 1
    if copy is False and not on_host:
        raise BufferError(f"__dlpack__: {array.device} is no host device, so that a copy is needed")
    if copy is False and not knows_flags:
        raise BufferError(
            "__dlpack__: the array is read-only, which only a consumer of DLPack 1.0 can be told: pass "
            "max_version=(1, 0) or later; others get a copy, which copy=False forbids"
        )
    return _ferrule.to_dlpack(
        array._computed("__dlpack__()"), knows_flags, bool(copy) or not on_host or not knows_flags
    )


def device_of(array: Array) -> tuple[int, int]:
    """`Array.__dlpack_device__`: what we export lies in host memory, if need be as a copy."""
    return CPU
