"""Backends and devices."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ferrule import _ferrule
from ferrule._errors import InvalidArgumentError, NotFoundError
from ferrule._locks import LockHolder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_loaded_once = False  # load_all has looked for what there is, or is not wanted
_loaded_a_file = False  # load was called: what it loaded is used without looking for the rest
_default: _ferrule.Device | None = None
_changes = 0  # calls of changed()


class _FirstLoad(LockHolder):
    """The lock of load_once(), and whether it runs."""

    is_running = False  # by the thread that holds the lock

    def _renew_lock(self) -> None:
        super()._renew_lock()
        self.is_running = False


_first_load = _FirstLoad()


class Backend:
    """A loaded module: `name`, `variant`, `version`, `path`."""

    __slots__ = ("_handle", "_info")

    def __init__(self, handle: _ferrule.Backend) -> None:
        self._handle = handle
        self._info: dict[str, Any] = _parse(handle.info())

    @property
    def name(self) -> str:
        return str(self._info["name"])

    @property
    def variant(self) -> str:
        return str(self._info.get("variant") or "")

    @property
    def version(self) -> str:
        return str(self._info.get("version") or "")

    @property
    def path(self) -> Path:
        """The module's file; Path("static") when it is linked in."""
        from pathlib import Path

        return Path(self._info.get("path") or "static")

    @property
    def info(self) -> dict[str, Any]:
        """All that is known of it, as it is now: after an unload, "closed" is true."""
        info: dict[str, Any] = _parse(self._handle.info())
        return info

    @property
    def features(self) -> dict[str, str]:
        """What the code of the backend uses, by name, as it says itself; empty when it says nothing.

        Raises
        ------
        NotFoundError
            The backend was unloaded.

        Examples
        --------
        >>> fe.device("cpu").backend.features["variant"]
        'haswell'
        """
        info = self.info
        if info["closed"]:
            raise NotFoundError(f"backend {self.name} is not loaded any more")
        features: dict[str, str] = info["features"]
        return features

    def proc(self, name: str) -> int | None:
        """The address of a function that the backend offers by name, for ctypes; None when it offers none of that name.

        `ferrule/procs.h` lists the names that are the same for all backends. The address is valid as long as this
        object lives: until then the backend cannot be unloaded.

        Raises
        ------
        NotFoundError
            The backend was unloaded.

        Examples
        --------
        >>> backend = fe.device("cpu").backend
        >>> ctypes.CFUNCTYPE(None, ctypes.c_uint32)(backend.proc("set_n_threads"))(4)
        """
        return self._handle.proc(name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Backend) and (self.name, self.path) == (other.name, other.path)

    def __hash__(self) -> int:
        return hash((self.name, self.path))

    def __repr__(self) -> str:
        return f"Backend({self.name!r}, variant={self.variant!r}, path={str(self.path)!r})"


class Device:
    """Where arrays lie and graphs run, as one backend sees it. `str(device)` is its name, such as "cpu:0".

    What several backends see is called "gpu:0"; names may change when backends come or go, equality and hash do not.
    """

    __slots__ = ("_handle",)

    def __init__(self, handle: _ferrule.Device) -> None:
        self._handle = handle

    @property
    def name(self) -> str:
        return self._handle.name

    @property
    def kind(self) -> str:
        """gpu, integrated_gpu, accelerator, remote, cpu, software or test."""
        return str(self.info["kind"])

    @property
    def info(self) -> dict[str, Any]:
        info: dict[str, Any] = _parse(self._handle.info())
        return info

    @property
    def backend(self) -> Backend:
        """The one whose kernels run here."""
        return Backend(self._handle.backend())

    @property
    def backends(self) -> list[Backend]:
        """Those that see this physical device, the preferred one first."""
        return [Backend(handle) for handle in self._handle.backends()]

    @property
    def memory(self) -> tuple[int | None, int | None]:
        """Free and total bytes; None where that is unknown, as it is for free memory until the device is open."""
        return self._handle.memory()

    def open(self, **options: str | int | float | bool) -> Device:
        """Open the device, which its first use does otherwise. The options are the backend's; wrong ones are listed."""
        import json

        self._handle.open(json.dumps(options))
        return self

    def supports(self, op: str, *dtypes: object) -> bool:
        """Whether the device computes an op with inputs of these dtypes, by a kernel of its own or by several.

        One dtype more than the op has inputs is that of its attribute `dtype`: `supports("astype", "int8", "float32")`.
        """
        return self._handle.supports(op, dtypes)

    def trim(self) -> None:
        """Give cached memory back."""
        self._handle.trim()

    def synchronize(self) -> None:
        """Wait until the device has done all that it was given so far; how that ended is told to who reads its results.

        Raises
        ------
        DeviceLostError
            The device was lost.
        """
        self._handle.synchronize()

    def set_memory_limit(self, size: int | None) -> None:
        """Set the bytes that arrays, workspaces and cached memory on the device may take; None: as many as there are.

        What would take more is an OutOfMemoryError, after cached memory was given back.

        Raises
        ------
        InvalidArgumentError
            `size` is neither an integer from 1 to 2**64 - 1 nor None.

        Examples
        --------
        >>> device.set_memory_limit(2 * 1024**3)
        """
        if size is not None:
            is_whole = isinstance(size, (int, np.integer)) and not isinstance(size, bool)
            if not is_whole or not 0 < size < 2**64:
                raise InvalidArgumentError(
                    f"set_memory_limit: takes a number of bytes from 1 to 2**64 - 1, or None for no limit, not {size!r}"
                )
        self._handle.set_memory_limit(0 if size is None else int(size))

    def reset(self) -> None:
        """Wait for the device's work, and let its module bring it back if it was lost."""
        self._handle.reset()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self._handle.same_as(other._handle)

    def __hash__(self) -> int:
        return hash(self._handle.id)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Device({self.name!r})"


def _parse(text: str) -> Any:
    import json

    return json.loads(text)


def backends() -> list[Backend]:
    """The backends that are loaded."""
    return [Backend(handle) for handle in _ferrule.backends()]


def devices(unified: bool = True) -> list[Device]:
    """All devices, in order of kind, then FERRULE_PREFER; loads what there is on first use.

    A physical device that several backends see is listed once, as the preferred one sees it; with `unified=False` once
    for each of them.
    """
    if not _loaded_a_file:
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
    global _default
    found = _default
    if found is None:
        changes = _changes
        found = _found(_ferrule.best_device)
        if changes == _changes:  # another thread may load or unload meanwhile
            _default = found
    return found


def handle_of(device_or_name: Device | str | None) -> _ferrule.Device:
    return default_handle() if device_or_name is None else device(device_or_name)._handle


def _found(find: Callable[[], _ferrule.Device]) -> _ferrule.Device:
    """A device; when it is not among those of the files that were loaded, what else there is is loaded, once."""
    if _loaded_a_file and not _loaded_once:
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
    global _loaded_once
    if _loaded_once:
        return
    with _first_load._lock:
        if _loaded_once or _first_load.is_running:
            return
        _first_load.is_running = True
        try:
            if os.environ.get("FERRULE_AUTOLOAD", "") != "0":
                from ferrule.loading import load_all

                load_all()
            _loaded_once = True
        finally:
            _first_load.is_running = False


def changed() -> None:
    """Backends came or went."""
    global _default, _changes
    _changes += 1
    _default = None


def loaded_a_file() -> None:
    """One file was loaded by its path."""
    global _loaded_a_file
    changed()
    _loaded_a_file = True


def loaded_all() -> None:
    """What there is was loaded, or is not wanted."""
    global _loaded_once
    changed()
    _loaded_once = True
