"""Finding devices by name, kind and use; the first search loads what there is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ferrule import _ferrule
from ferrule.errors import InvalidArgumentError, NotFoundError
from ferrule.later import later
from ferrule.loading import load_state
from ferrule.loading.devices import Backend, Device
from ferrule.process.locks import LockHolder

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule.loading import load
else:
    load = later("ferrule.loading.load")


class _FirstLoad(LockHolder):
    """The lock of load_once(), and whether it runs."""

    is_running = False  # by the thread that holds the lock

    def _renew_lock(self) -> None:
        super()._renew_lock()
        self.is_running = False


_first_load = _FirstLoad()


def devices(unified: bool = True) -> list[Device]:
    """All devices, in order of kind, then FERRULE_PREFER; loads what there is on first use.

    A physical device that several backends see is listed once, as the preferred one sees it; with `unified=False` once
    for each of them.
    """
    if not load_state.has_a_file:
        load_once()
    return [Device(handle) for handle in _ferrule.devices(unified)]


def open_devices() -> list[Device]:
    """Those that are in use, as each backend sees them. Loads nothing."""
    return [device for device in map(Device, _ferrule.devices(False)) if device.info["open"]]


def device(name: Device | str, backend: Backend | str | None = None) -> Device:
    """The device of a name: a backend or a kind, and a number among those: "cpu", "gpu:1". Case does not matter.

    With `backend`, the same physical device as that backend sees it; NotFoundError names those that do.
    """
    wanted = backend.name if isinstance(backend, Backend) else backend
    if isinstance(name, Device):
        return name if wanted is None else Device(name._handle.view(wanted))
    for value in (name, "" if wanted is None else wanted):
        if not isinstance(value, str):
            raise InvalidArgumentError(f'device: takes a Device or a name, such as "cpu" or "gpu:1", not {value!r}')
    return Device(_found(lambda: _ferrule.device_by_name(name, wanted)))


def best_device() -> Device:
    """The first gpu, else the first integrated_gpu, else the cpu."""
    return Device(default_handle())


def default_handle() -> _ferrule.Device:
    """Where arrays go when nobody says where: the best device."""
    found = load_state.default_device
    if found is None:
        changes = load_state.changes
        found = _found(_ferrule.best_device)
        if changes == load_state.changes:  # another thread may load or unload meanwhile
            load_state.default_device = found
    return found


def handle_of(device_or_name: Device | str | None) -> _ferrule.Device:
    return default_handle() if device_or_name is None else device(device_or_name)._handle


def _found(find: Callable[[], _ferrule.Device]) -> _ferrule.Device:
    """A device; when it is not among those of the files that were loaded, what else there is is loaded, once."""
    if load_state.has_a_file and not load_state.is_complete:
        try:
            return find()
        except NotFoundError:
            pass
    load_once()
    return find()


def load_once() -> None:
    """What the first use of a device does: load_all(), unless that was called, or FERRULE_AUTOLOAD=0.

    Other threads wait until it is done. After an error the next use tries again.
    """
    if load_state.is_complete:
        return
    with _first_load._lock:
        if load_state.is_complete or _first_load.is_running:
            return
        _first_load.is_running = True
        try:
            if os.environ.get("FERRULE_AUTOLOAD", "") != "0":
                load.load_all()
            load_state.is_complete = True
        finally:
            _first_load.is_running = False
