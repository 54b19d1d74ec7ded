"""Backends and devices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ferrule import _ferrule
from ferrule.errors import InvalidArgumentError, NotFoundError

if TYPE_CHECKING:
    from pathlib import Path


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
