"""Exchange of arrays with other libraries by DLPack, without a copy. Exported arrays are read-only."""

from __future__ import annotations

from typing import Any

from ferrule import _ferrule
from ferrule.array.array import Array
from ferrule.array.attributes import optional_flag
from ferrule.array.recording import another_object
from ferrule.dtypes.classification import is_block
from ferrule.errors import Error, InvalidArgumentError, UnsupportedError
from ferrule.loading.device_lookup import devices, handle_of
from ferrule.loading.devices import Device

CPU = (1, 0)
NOBODY, THE_HOST, THE_STREAM = 0, 1, 2  # what waits until an array is computed


def from_dlpack(x: object, /, *, device: Device | str | None = None, copy: bool | None = None) -> Array:
    """Make an array of the memory of another library's array.

    Memory of a device that ferrule has loaded is borrowed on that device. The other library is passed the device's
    stream, so that the elements are computed before they are read.

    Parameters
    ----------
    x : object
        An object with `__dlpack__`.
    device : Device or str, optional
        The device of the result; by default the device that the memory is on. "cpu" asks the other library for a copy
        in host memory.
    copy : bool, optional
        True always copies, False raises where a copy is needed, None copies where needed.

    Returns
    -------
    Array
        An array of x's shape and dtype.

    Raises
    ------
    InvalidArgumentError
        x has no `__dlpack__`, or describes memory that cannot exist; or `copy=False`, and a copy is needed.
    UnsupportedError
        No loaded device has the memory.

    Notes
    -----
    What the other library says about the memory is checked: that sizes and strides fit into an address space, and that
    the device is the one it named. Whether there is memory at its address cannot be checked.

    Examples
    --------
    >>> fe.from_dlpack(np.arange(3)).tolist()
    [0, 1, 2]
    """
    copy = optional_flag(copy, "from_dlpack", "copy")
    if isinstance(x, Array):
        return another_object(x, "from_dlpack", device, copy)
    source: Any = x
    if not hasattr(source, "__dlpack__"):
        raise InvalidArgumentError(f"from_dlpack: a {type(x).__name__} has no __dlpack__")
    place = _place_of(source)
    mode = {None: 2, True: 1, False: 0}[copy]
    if place == CPU:
        return Array._of(_ferrule.from_dlpack(handle_of(device), _capsule_of(source, {}), CPU, mode))
    own, stream = _device_at(place, device)
    if own is None:
        if device is None:
            raise UnsupportedError(
                f"from_dlpack: the {type(x).__name__} is in memory of DLPack's device {place}, which no "
                'loaded device has; device="cpu" makes a copy'
            )
        if copy is False:
            raise InvalidArgumentError(
                f"from_dlpack: the {type(x).__name__} is in memory of DLPack's device {place}, not of {device}, so "
                "a copy is needed, which copy=False forbids"
            )
        capsule = _capsule_of(source, {"dl_device": CPU, "copy": True})
        return Array._of(_ferrule.from_dlpack(handle_of(device), capsule, CPU, mode))
    capsule = _capsule_of(source, {"stream": stream} if stream else {})
    return Array._of(_ferrule.from_dlpack(own, capsule, place, mode))


def _place_of(source: Any) -> tuple[int, int]:
    """Return the type and the number of DLPack's device that the other library's array is on.

    Host memory is one memory, whatever number the library gives to a part of it.
    """
    if not hasattr(source, "__dlpack_device__"):
        return CPU
    place = source.__dlpack_device__()
    try:
        kind, number = (int(part) for part in place)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidArgumentError(
            f"from_dlpack: __dlpack_device__() of a {type(source).__name__} returns {place!r}, not the type and the "
            "number of a device"
        ) from error
    return CPU if kind == CPU[0] else (kind, number)


def _capsule_of(source: Any, arguments: dict[str, Any]) -> object:
    try:
        capsule = source.__dlpack__(max_version=(1, 0), **arguments)
    except TypeError:  # a library older than DLPack 1.0
        if "dl_device" in arguments:
            raise
        capsule = source.__dlpack__(**arguments)
    if type(capsule).__name__ != "PyCapsule":
        raise InvalidArgumentError(
            f"from_dlpack: __dlpack__() of a {type(source).__name__} returns {capsule!r}, not a capsule"
        )
    return capsule


def _device_at(place: tuple[int, ...], wanted: Device | str | None) -> tuple[_ferrule.Device | None, int]:
    """Return the device that DLPack identifies by this type and number, and its stream; only `wanted`, if given."""
    if wanted is not None:
        handle = handle_of(wanted)
        native = _ferrule.native_device(handle)
        return (handle, native[2]) if native is not None and native[:2] == place else (None, 0)
    for each in devices():
        try:
            native = _ferrule.native_device(each._handle)
        except Error:  # the device may be lost: another device may have the memory
            continue
        if native is not None and native[:2] == place:
            return each._handle, native[2]
    return None, 0


def export(
    array: Array,
    stream: object,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool | None,
) -> object:
    """Implement `Array.__dlpack__`.

    Consumers that do not know the read-only flag get a copy, or BufferError if they forbid copies.
    """
    copy = optional_flag(copy, "__dlpack__", "copy")
    if is_block(array.dtype):
        raise BufferError(f"__dlpack__: DLPack has no dtype {array.dtype}")
    own = device_of(array)
    place = own if dl_device is None else tuple(dl_device)
    if place not in (own, CPU):
        raise BufferError(f"__dlpack__: exports memory of {own} and, as a copy, of {CPU}, not of {place}")
    knows_flags = max_version is not None and max_version[0] >= 1
    if copy is False and place != own:
        raise BufferError(f"__dlpack__: {array.device} is not a host device, so a copy is needed")
    if copy is False and not knows_flags:
        raise BufferError(
            "__dlpack__: the array is read-only, which requires a consumer of DLPack 1.0: pass "
            "max_version=(1, 0) or later; others get a copy, which copy=False forbids"
        )
    if place != CPU:
        return _export_on_device(array, stream, knows_flags, bool(copy))
    if stream is not None:
        raise BufferError("__dlpack__: host memory has no stream")
    on_host = array._host_view("__dlpack__()") is not None
    if copy is False and not on_host:
        raise BufferError(f"__dlpack__: {array.device} is not a host device, so a copy is needed")
    return _ferrule.to_dlpack(
        array._computed("__dlpack__()"), knows_flags, bool(copy) or not on_host or not knows_flags
    )


def _export_on_device(array: Array, stream: object, knows_flags: bool, copy: bool) -> object:
    if stream is not None and (not isinstance(stream, int) or isinstance(stream, bool) or not -1 <= stream < 2**64):
        raise BufferError(f"__dlpack__: stream is None, -1 or the consumer's stream as a number, not {stream!r}")
    if stream == 0:
        raise BufferError("__dlpack__: stream 0 may be the legacy default stream or another one; pass 1 or 2")
    handle = array._concrete("__dlpack__()")
    is_own = copy or not knows_flags
    if is_own:
        handle = _ferrule.apply("copy", [handle], {})[0]
    (_ferrule.evaluate if stream is None else _ferrule.submit)((handle,))  # this wait can be interrupted by Ctrl-C
    if stream is None or stream == -1:
        return _ferrule.to_native_dlpack(handle, knows_flags, is_own, THE_HOST if stream is None else NOBODY, 0)
    return _ferrule.to_native_dlpack(handle, knows_flags, is_own, THE_STREAM, stream)


def device_of(array: Array) -> tuple[int, int]:
    """Implement `Array.__dlpack_device__`: the device of the memory.

    For a device that other libraries do not know, it is host memory, and the export is a copy.
    """
    native = _ferrule.native_device(array.device._handle)
    return CPU if native is None else native[:2]
