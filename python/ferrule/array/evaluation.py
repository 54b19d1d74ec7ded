"""Computing arrays, waiting for devices, and freeing cached memory."""

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
    """Compute arrays together.

    Parameters
    ----------
    *arrays : Array
        The arrays, which may be nested in lists, tuples and dicts.
    wait : bool
        False returns as soon as the work is submitted to devices with queues. Reading an array waits for it, and raises
        the error if its computation failed.

    Raises
    ------
    InvalidArgumentError
        An argument is not an array.
    TracingError
        An array is being traced.

    Examples
    --------
    >>> x = fe.ones(3) + 1
    >>> fe.eval(x)
    >>> x.is_ready
    True
    """
    if wait and _ferrule.evaluate_plain(*arrays) is None:
        return
    flat: list[Array] = []
    waiting: list[Any] = list(arrays)
    containers: dict[int, Any] = {}  # one may contain itself
    while waiting:
        value = waiting.pop()
        if isinstance(value, (list, tuple, dict)):
            if id(value) not in containers:
                containers[id(value)] = value
                waiting.extend(value.values() if isinstance(value, dict) else value)
        elif isinstance(value, Array):
            flat.append(value)
        else:
            raise InvalidArgumentError(f"eval: takes arrays, not {type(value).__name__}")
    compute = _ferrule.evaluate if wait else _ferrule.submit
    compute([array._concrete("eval()") for array in flat])


def _for_each(call: Callable[[Device], None]) -> None:
    """Call a function for each device in use, and raise the first error after all calls."""
    failed: Error | None = None
    for each in device_lookup.open_devices():
        try:
            call(each)
        except Error as error:
            failed = failed or error
    if failed is not None:
        raise failed


def synchronize(device: Device | str | None = None) -> None:
    """Wait until a device has finished all work submitted so far.

    Errors of that work are not raised here, but where its results are read.

    Parameters
    ----------
    device : Device or str, optional
        The device; by default, every device in use.

    Raises
    ------
    DeviceLostError
        A device was lost.

    Examples
    --------
    >>> x = fe.ones(3) + 1
    >>> fe.eval(x, wait=False)
    >>> fe.synchronize(x.device)
    """
    if device is not None:
        device_lookup.device(device).synchronize()
        return
    _for_each(Device.synchronize)


def trim(device: Device | str | None = None) -> None:
    """Free the cached memory of a device.

    Waits for the device's work. A device that runs short of memory frees its cached memory automatically.

    Parameters
    ----------
    device : Device or str, optional
        The device; by default, every device in use.

    Raises
    ------
    DeviceLostError
        A device was lost.
    NotFoundError
        There is no such device.

    Examples
    --------
    >>> fe.trim()
    >>> fe.memory_stats().cached
    0
    """
    if device is not None:
        device_lookup.device(device).trim()
        return
    _for_each(Device.trim)
