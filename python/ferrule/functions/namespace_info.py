"""What `ferrule` says about itself to code for any library of the Python array API standard."""

from __future__ import annotations

from typing import Any

import numpy as np

from ferrule.array.host_memory import MAX_DIMENSIONS
from ferrule.dtypes.classification import as_dtype
from ferrule.dtypes.default_dtypes import default_complex_dtype, default_dtype
from ferrule.errors import InvalidArgumentError
from ferrule.functions.type_information import isdtype
from ferrule.loading import device_lookup
from ferrule.loading.devices import Device

__all__ = ["__array_namespace_info__"]

# The dtypes of the standard; ferrule has more.
_STANDARD = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "complex64", "complex128"),
)


class NamespaceInfo:
    """The object that `ferrule.__array_namespace_info__()` returns.

    Examples
    --------
    >>> info = fe.__array_namespace_info__()
    >>> info.capabilities()
    {'boolean indexing': True, 'data-dependent shapes': True, 'max dimensions': 8}
    >>> info.default_dtypes()["real floating"]
    dtype('float32')
    """

    def capabilities(self) -> dict[str, Any]:
        """Return what the library can do.

        Returns
        -------
        dict
            "boolean indexing" and "data-dependent shapes" are true, except inside `ferrule.graph`; "max dimensions" is
            the greatest number of dimensions.

        Examples
        --------
        >>> fe.__array_namespace_info__().capabilities()["max dimensions"]
        8
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": MAX_DIMENSIONS}

    def default_device(self) -> Device:
        """Return the default device, as the function of that name does.

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
        >>> fe.__array_namespace_info__().default_device() == fe.default_device()
        True
        """
        return device_lookup.default_device()

    def devices(self) -> tuple[Device, ...]:
        """Return all devices, as `ferrule.devices` does.

        Returns
        -------
        tuple of Device
            The devices, the preferred one first.

        Examples
        --------
        >>> fe.device("cpu") in fe.__array_namespace_info__().devices()
        True
        """
        return tuple(device_lookup.devices())

    def default_dtypes(self, *, device: Device | str | None = None) -> dict[str, np.dtype[Any]]:
        """Return the dtypes that Python numbers become, and the dtype of indices.

        Parameters
        ----------
        device : Device or str, optional
            A device; the dtypes are the same on each.

        Returns
        -------
        dict
            The dtypes of "real floating", "complex floating", "integral" and "indexing".

        Raises
        ------
        NotFoundError
            There is no such device.

        Examples
        --------
        >>> fe.__array_namespace_info__().default_dtypes()["indexing"]
        dtype('int64')
        """
        if device is not None:
            device_lookup.device(device)
        integral = np.dtype("int64")
        return {
            "real floating": default_dtype(),
            "complex floating": default_complex_dtype(),
            "integral": integral,
            "indexing": integral,
        }

    def dtypes(
        self, *, device: Device | str | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, np.dtype[Any]]:
        """Return the dtypes of a kind.

        Parameters
        ----------
        device : Device or str, optional
            A device; arrays of each dtype can be on each device.
        kind : str or tuple of str, optional
            The kinds, as in `isdtype`; by default all.

        Returns
        -------
        dict
            The dtypes of the standard, by name. ferrule has more, such as bfloat16.

        Raises
        ------
        InvalidArgumentError
            There is no such kind.
        NotFoundError
            There is no such device.

        Examples
        --------
        >>> list(fe.__array_namespace_info__().dtypes(kind="unsigned integer"))
        ['uint8', 'uint16', 'uint32', 'uint64']
        """
        if device is not None:
            device_lookup.device(device)
        if kind is None:
            return {name: as_dtype(name) for name in _STANDARD}
        for one in kind if isinstance(kind, tuple) else (kind,):
            if not isinstance(one, str):
                raise InvalidArgumentError(f"dtypes: kind must be the name of a kind, or a tuple of such, not {kind!r}")
        return {name: dtype for name in _STANDARD if isdtype(dtype := as_dtype(name), kind)}


def __array_namespace_info__() -> NamespaceInfo:  # noqa: N807
    """Return the object that describes the library to code for the Python array API standard.

    Returns
    -------
    NamespaceInfo
        An object with the methods `capabilities`, `default_device`, `default_dtypes`, `devices` and `dtypes`.

    Examples
    --------
    >>> fe.__array_namespace_info__().default_dtypes()["integral"]
    dtype('int64')
    """
    return NamespaceInfo()
