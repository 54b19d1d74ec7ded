"""Finding devices by name and kind; the first search loads the backends."""

from __future__ import annotations

import copyreg
from typing import TYPE_CHECKING

from ferrule import _ferrule
from ferrule.errors import InvalidArgumentError, NotFoundError
from ferrule.later import later
from ferrule.loading import load_state
from ferrule.loading.devices import Backend, Device
from ferrule.process import variables
from ferrule.process.locks import LockHolder

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule.loading import load
else:
    load = later("ferrule.loading.load")


class _FirstLoad(LockHolder):
    """The lock of load_once(), and whether the thread that holds it is inside load_once()."""

    is_running = False  # load_once(), in the thread that holds the lock

    def _renew_lock(self) -> None:
        super()._renew_lock()
        self.is_running = False


_first_load = _FirstLoad()


def devices(unified: bool = True) -> list[Device]:
    """Return all devices, ordered by kind and then by FERRULE_PREFER. The first call loads the backends.

    Parameters
    ----------
    unified : bool
        True lists a physical device that several backends see once, as the preferred backend sees it; False lists it
        once for each of them.

    Returns
    -------
    list of Device
        The devices, the preferred one first.

    Examples
    --------
    >>> fe.device("cpu") in fe.devices()
    True
    """
    load_once()
    return [Device(handle) for handle in _ferrule.devices(unified)]


def open_devices() -> list[Device]:
    """Return the devices in use, as each backend sees them. Loads nothing."""
    return [device for device in map(Device, _ferrule.devices(False)) if device.info["open"]]


def device(name: Device | str, backend: Backend | str | None = None) -> Device:
    """Return the device of a name.

    Parameters
    ----------
    name : str or Device
        A backend or a kind of device, and optionally a number: "cpu", "gpu:1". Case does not matter.
    backend : Backend or str, optional
        Return the physical device as this backend sees it.

    Returns
    -------
    Device
        The device.

    Raises
    ------
    InvalidArgumentError
        An argument is not a name.
    NotFoundError
        There is no such device, or the backend does not see it. The message lists the alternatives.

    Examples
    --------
    >>> fe.device("cpu")
    Device('cpu:0')
    """
    wanted = backend.name if isinstance(backend, Backend) else backend
    if isinstance(name, Device):
        return name if wanted is None else Device(name._handle.view(wanted))
    for value in (name, "" if wanted is None else wanted):
        if not isinstance(value, str):
            raise InvalidArgumentError(f'device: takes a Device or a name, such as "cpu" or "gpu:1", not {value!r}')
    return Device(_found(lambda: _ferrule.device_by_name(name, wanted)))


copyreg.pickle(Device, lambda pickled: (device, (pickled.name,)))


def best_device() -> Device:
    """Return the best device: the first gpu, otherwise the first integrated_gpu, otherwise the cpu.

    Returns
    -------
    Device
        The device.

    Raises
    ------
    NotFoundError
        There is no device.

    Examples
    --------
    >>> fe.best_device().kind != "software"
    True
    """
    return Device(_best_handle())


def default_device() -> Device:
    """Return the device of arrays that are made without `device=`: the best device, unless another one was set.

    Returns
    -------
    Device
        The device.

    Raises
    ------
    NotFoundError
        There is no device.

    Examples
    --------
    >>> fe.zeros(3).device == fe.default_device()
    True
    """
    return Device(default_handle())


def set_default_device(name: Device | str | None) -> None:
    """Set the device of arrays that are made without `device=`, for all threads of the process.

    Parameters
    ----------
    name : Device or str or None
        The device, or its name as in `device`. None means the best device again.

    Raises
    ------
    InvalidArgumentError
        The argument is not a name.
    NotFoundError
        There is no such device.

    Examples
    --------
    >>> fe.set_default_device("cpu")
    >>> fe.zeros(3).device
    Device('cpu:0')
    >>> fe.set_default_device(None)
    """
    try:
        load_state.set_device(None if name is None else device(name)._handle)
    except (InvalidArgumentError, NotFoundError) as error:
        raise type(error)(f"set_default_device: {error}") from None


def default_handle() -> _ferrule.Device:
    """Return the default device."""
    return load_state.chosen_device or _best_handle()


def _best_handle() -> _ferrule.Device:
    found = load_state.best_device
    if found is None:
        changes = load_state.changes
        found = _found(_ferrule.best_device)
        if changes == load_state.changes:  # another thread may load or unload meanwhile
            load_state.best_device = found
    return found


def handle_of(device_or_name: Device | str | None) -> _ferrule.Device:
    return default_handle() if device_or_name is None else device(device_or_name)._handle


def _found(find: Callable[[], _ferrule.Device]) -> _ferrule.Device:
    """Load all backends once, then call `find`. A file loaded by its path stays, and is one of them."""
    load_once()
    return find()


def load_once() -> None:
    """Load all backends on the first use of a device, unless load_all() was called before or FERRULE_AUTOLOAD=0.

    Other threads wait until it is done. After an error, the next use tries again.
    """
    if load_state.is_complete:
        return
    with _first_load._lock:
        if load_state.is_complete or _first_load.is_running:
            return
        _first_load.is_running = True
        try:
            if variables.choice("FERRULE_AUTOLOAD", ("1", "0")) == "1":
                load.load_all()
            load_state.is_complete = True
        finally:
            _first_load.is_running = False
