"""`Backend` and `Device`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ferrule import _ferrule
from ferrule.errors import InvalidArgumentError, NotFoundError

if TYPE_CHECKING:
    from pathlib import Path


# The names of the kinds of device, in the order of `fe_device_kind`.
DEVICE_KINDS = ("gpu", "integrated_gpu", "accelerator", "remote", "cpu", "software", "test")


class Backend:
    """A loaded module.

    Examples
    --------
    >>> backend = fe.device("cpu").backend
    >>> backend.name, "ferrule-cpu" in backend.path.name
    ('cpu', True)
    """

    __slots__ = ("_handle",)

    def __init__(self, handle: _ferrule.Backend) -> None:
        self._handle = handle

    @property
    def name(self) -> str:
        """The name, such as "cpu"."""
        return self._handle.name

    @property
    def variant(self) -> str:
        """The variant, such as "zen4"; "" if the backend has no variants."""
        return self._handle.variant

    @property
    def version(self) -> str:
        """The version of the backend; "" if it is unknown."""
        return self._handle.version

    @property
    def path(self) -> Path:
        """The module's file; Path("static") if the backend is linked into the program."""
        from pathlib import Path

        return Path(self._handle.path)

    @property
    def info(self) -> dict[str, Any]:
        """All properties of the backend as a dict, with current values: "closed" is true after an unload."""
        return self._handle.info()

    @property
    def features(self) -> dict[str, str]:
        """The features that the backend's code uses, by name, as the backend reports them; empty if it reports none.

        Raises
        ------
        NotFoundError
            The backend was unloaded.

        Examples
        --------
        >>> backend = fe.device("cpu").backend
        >>> backend.features["variant"] == backend.variant
        True
        """
        info = self.info
        if info["closed"]:
            raise NotFoundError(f"backend {self.name} is no longer loaded")
        features: dict[str, str] = info["features"]
        return features

    def proc(self, name: str) -> int | None:
        """Return the address of a function that the backend offers by name, for ctypes.

        `ferrule/procs.h` lists the names that are common to all backends.

        Parameters
        ----------
        name : str
            The name of the function.

        Returns
        -------
        int or None
            The address, or None if the backend has no such function. It is valid as long as this object exists: until
            then the backend cannot be unloaded.

        Raises
        ------
        NotFoundError
            The backend was unloaded.

        Examples
        --------
        >>> import ctypes
        >>> backend = fe.device("cpu").backend
        >>> ctypes.CFUNCTYPE(None, ctypes.c_uint32)(backend.proc("set_n_threads"))(4)
        >>> backend.proc("no_such_function") is None
        True
        """
        return self._handle.proc(name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Backend) and (self.name, self.path) == (other.name, other.path)

    def __hash__(self) -> int:
        return hash((self.name, self.path))

    def __repr__(self) -> str:
        return f"Backend({self.name!r}, variant={self.variant!r}, path={str(self.path)!r})"


class Device:
    """A device that stores arrays and runs graphs, as one backend sees it.

    `str(device)` is its name, such as "cpu:0". A device that several backends see is named by its kind: "gpu:0". Names
    may change when backends are loaded or unloaded; equality and hash do not.

    A pickle contains the name: it is loaded as the device of that name in the process that loads it, which raises
    NotFoundError if there is none. Copies are the device itself.

    Examples
    --------
    >>> device = fe.device("cpu")
    >>> device.name, device.kind, str(device)
    ('cpu:0', 'cpu', 'cpu:0')
    """

    __slots__ = ("_handle",)

    def __init__(self, handle: _ferrule.Device) -> None:
        if not isinstance(handle, _ferrule.Device):
            raise TypeError(f"devices are found, not made: ferrule.device({handle!r}) finds one")
        self._handle = handle

    @property
    def name(self) -> str:
        """The name, such as "cpu:0"."""
        return self._handle.name

    @property
    def kind(self) -> str:
        """One of "gpu", "integrated_gpu", "accelerator", "remote", "cpu", "software" and "test"."""
        return self._handle.kind

    @property
    def info(self) -> dict[str, Any]:
        """All properties of the device as a dict."""
        return self._handle.info()

    @property
    def backend(self) -> Backend:
        """The backend whose kernels run for this device."""
        return Backend(self._handle.backend())

    @property
    def backends(self) -> list[Backend]:
        """The backends that see this physical device, the preferred one first."""
        return [Backend(handle) for handle in self._handle.backends()]

    @property
    def memory(self) -> tuple[int | None, int | None]:
        """Free and total memory in bytes, None if unknown. Free memory is unknown until the device is open."""
        return self._handle.memory()

    def open(self, **options: str | int | float | bool) -> Device:
        """Open the device with options. Otherwise its first use opens it.

        Parameters
        ----------
        **options : str, int, float or bool
            Options of the backend.

        Returns
        -------
        Device
            This device.

        Raises
        ------
        InvalidArgumentError
            The backend does not know an option; the message lists the options.

        Examples
        --------
        >>> fe.device("cpu").open()
        Device('cpu:0')
        """
        self._handle.open({key: _option_text(key, value) for key, value in options.items()})
        return self

    def supports(self, op: str, *dtypes: object) -> bool:
        """Whether the device computes an op for these input dtypes, by a kernel of the op or by its decomposition.

        Parameters
        ----------
        op : str
            The name of the op.
        *dtypes : dtype or str
            The dtypes of the inputs. One dtype more than the op has inputs is that of its attribute `dtype`.

        Returns
        -------
        bool
            Whether the device supports it.

        Raises
        ------
        InvalidArgumentError
            There is no such op.

        Examples
        --------
        >>> device = fe.device("cpu")
        >>> device.supports("matmul", "float32", "float32"), device.supports("astype", "int8", "float32")
        (True, True)
        """
        return self._handle.supports(op, dtypes)

    def trim(self) -> None:
        """Free the cached memory of the device, after waiting for its work.

        Raises
        ------
        DeviceLostError
            The device was lost.

        Examples
        --------
        >>> fe.device("cpu").trim()
        """
        self._handle.trim()

    def synchronize(self) -> None:
        """Wait until the device has finished all work submitted so far.

        Errors of that work are not raised here, but where its results are read.

        Raises
        ------
        DeviceLostError
            The device was lost.

        Examples
        --------
        >>> fe.device("cpu").synchronize()
        """
        self._handle.synchronize()

    def set_memory_limit(self, size: int | None) -> None:
        """Limit the memory of arrays, workspaces and cached memory on the device.

        An allocation beyond the limit frees cached memory first, and raises OutOfMemoryError if that is not enough.

        Parameters
        ----------
        size : int or None
            The limit in bytes; None removes it.

        Raises
        ------
        InvalidArgumentError
            `size` is neither an integer from 1 to 2**64 - 1 nor None.

        Examples
        --------
        >>> device = fe.device("cpu")
        >>> device.set_memory_limit(2 * 1024**3)
        >>> device.set_memory_limit(None)
        """
        if size is not None:
            is_whole = isinstance(size, (int, np.integer)) and not isinstance(size, bool)
            if not is_whole or not 0 < size < 2**64:
                raise InvalidArgumentError(
                    f"set_memory_limit: takes a number of bytes from 1 to 2**64 - 1, or None for no limit, not {size!r}"
                )
        self._handle.set_memory_limit(0 if size is None else int(size))

    def reset(self) -> None:
        """Wait for the device's work.

        Raises
        ------
        DeviceLostError
            The device is lost, with its contents; `fe.refresh()` looks for it again.

        Examples
        --------
        >>> fe.device("cpu").reset()
        """
        self._handle.reset()

    def __copy__(self) -> Device:
        return self

    def __deepcopy__(self, memo: object) -> Device:
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self._handle.same_as(other._handle)

    def __hash__(self) -> int:
        return hash(self._handle.id)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Device({self.name!r})"


def _option_text(key: str, value: object) -> str:
    """Return the value of an option as backends take it."""
    if not isinstance(value, (str, int, float)):
        raise TypeError(f"open: the option {key} is a str, an int, a float or a bool, not {value!r}")
    return str(value).lower() if isinstance(value, bool) else str(value)


def backends() -> list[Backend]:
    """Return the loaded backends.

    Returns
    -------
    list of Backend
        The backends.

    Examples
    --------
    >>> _ = fe.load_all(only="cpu")
    >>> [backend.name for backend in fe.backends()]
    ['cpu']
    """
    return [Backend(handle) for handle in _ferrule.backends()]
