"""Computing arrays, waiting for devices, and giving their memory back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrule import _ferrule
from ferrule.array.array import Array
from ferrule.errors import Error, InvalidArgumentError
from ferrule.loading import device_lookup
from ferrule.loading.devices import Device

if TYPE_CHECKING:
    from collections.abc import Callable


def eval(*arrays: Array, wait: bool = True) -> None:
    """Compute arrays, all in one go.

    Without `wait` it returns when devices with queues have been given the work: who reads an array waits for it then,
    and an error of its computing is raised there.
    """
    if wait and _ferrule.evaluate_plain(*arrays) is None:
        return
    flat: list[Array] = []
    waiting: list[Any] = list(arrays)
    while waiting:
        value = waiting.pop()
        if isinstance(value, (list, tuple)):
            waiting.extend(value)
        elif isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, Array):
            flat.append(value)
        else:
            raise InvalidArgumentError(f"eval: takes arrays, not {type(value).__name__}")
    compute = _ferrule.evaluate if wait else _ferrule.submit
    compute([array._concrete("eval()") for array in flat])


def _for_each(call: Callable[[Device], None]) -> None:
    """Of all devices in use, also where the call fails for one; then its error."""
    failed: Error | None = None
    for each in device_lookup.open_devices():
        try:
            call(each)
        except Error as error:
            failed = failed or error
    if failed is not None:
        raise failed


def synchronize(device: Device | str | None = None) -> None:
    """Wait until a device has done all that it was given so far, or, without one, every device that is in use.

    How that ended is told to who reads the results.

    Examples
    --------
    >>> fe.eval(x, wait=False)
    >>> fe.synchronize(x.device)
    """
    if device is not None:
        device_lookup.device(device).synchronize()
        return
    _for_each(Device.synchronize)


def trim(device: Device | str | None = None) -> None:
    """Give back the memory that is cached for a device, or, without one, for every device that is in use.

    Waits for what the device does. Memory is trimmed of itself where a device runs short of it.

    Examples
    --------
    >>> fe.trim()
    """
    if device is not None:
        device_lookup.device(device).trim()
        return
    _for_each(Device.trim)
