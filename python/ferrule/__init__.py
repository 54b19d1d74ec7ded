"""ferrule: a tensor runtime. A small core, and backends that plug into it as separate shared objects."""

from __future__ import annotations

import builtins as _builtins
import threading as _threading
from typing import TYPE_CHECKING, Any

import numpy as _np

from ferrule import _ferrule
from ferrule._errors import (
    AbiMismatchError,
    CancelledError,
    DeviceLostError,
    DTypeError,
    Error,
    InternalError,
    InvalidArgumentError,
    IoError,
    LoadError,
    NotFoundError,
    NumberOverflowError,
    OutOfMemoryError,
    OutOfRangeError,
    TimeoutError_,
    TracingError,
    UnsupportedError,
)
from ferrule.array import Array  # first: the modules below need it, and it needs them

# isort: split
from ferrule import _ops
from ferrule._devices import Backend, Device, backends, best_device, device, devices, open_devices
from ferrule._devices import device as _find_device

# One function an op; those imported below have NumPy's ways besides.
from ferrule._ops import *  # noqa: F403
from ferrule.attention import scaled_dot_product_attention
from ferrule.compaction import compress, nonzero
from ferrule.creation import (
    arange,
    asarray,
    empty,
    empty_like,
    eye,
    from_packed,
    full,
    full_like,
    host_empty,
    linspace,
    ones,
    ones_like,
    to_packed,
    zeros,
    zeros_like,
)
from ferrule.linear import matmul
from ferrule.manipulation import (
    astype,
    broadcast_to,
    concat,
    expand_dims,
    flip,
    matrix_transpose,
    moveaxis,
    pad,
    permute_dims,
    reshape,
    split,
    squeeze,
    stack,
    take,
)
from ferrule.reductions import all, any, argmax, argmin, max, mean, min, prod, std, sum, var
from ferrule.slicing import dynamic_slice, update_slice

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrule import io, testing
    from ferrule._block_dtypes import BlockDType, q4_0, q4_K, q6_K, q8_0
    from ferrule._log import set_log_level
    from ferrule._ml_dtypes import bfloat16, float8_e4m3fn, float8_e5m2
    from ferrule._profile import profile
    from ferrule._trace import trace
    from ferrule.buffers import buffer_from_host_ptr
    from ferrule.dlpack import from_dlpack
    from ferrule.explaining import explain
    from ferrule.graphs import Graph
    from ferrule.loading import (
        LoadReport,
        default_roots,
        executable_dir,
        load,
        load_all,
        refresh,
        reload,
        shutdown,
        unload,
    )
    from ferrule.statistics import MemoryStats, memory_stats, set_thread_count, stats, thread_count
    from ferrule.tracing import graph

__version__ = _ferrule.version()  # of libferrule and of the package that contains it: "major.minor.patch"

# Dtypes are NumPy's; bfloat16 and the float8, below, are those of ml_dtypes.
bool = _np.dtype("bool")
int8, int16, int32, int64 = map(_np.dtype, ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = map(_np.dtype, ("uint8", "uint16", "uint32", "uint64"))
float16, float32, float64 = map(_np.dtype, ("float16", "float32", "float64"))
complex64, complex128 = map(_np.dtype, ("complex64", "complex128"))
newaxis, inf, nan, pi, e = None, _np.inf, _np.nan, _np.pi, _np.e

# Imported when first used: an import of ferrule is to cost little.
_LATER = {
    "BlockDType": "ferrule._block_dtypes",
    "Graph": "ferrule.graphs",
    "LoadReport": "ferrule.loading",
    "MemoryStats": "ferrule.statistics",
    "bfloat16": "ferrule._ml_dtypes",
    "buffer_from_host_ptr": "ferrule.buffers",
    "default_roots": "ferrule.loading",
    "executable_dir": "ferrule.loading",
    "explain": "ferrule.explaining",
    "float8_e4m3fn": "ferrule._ml_dtypes",
    "float8_e5m2": "ferrule._ml_dtypes",
    "q4_0": "ferrule._block_dtypes",
    "q4_K": "ferrule._block_dtypes",
    "q6_K": "ferrule._block_dtypes",
    "q8_0": "ferrule._block_dtypes",
    "from_dlpack": "ferrule.dlpack",
    "graph": "ferrule.tracing",
    "io": "",
    "load": "ferrule.loading",
    "load_all": "ferrule.loading",
    "memory_stats": "ferrule.statistics",
    "profile": "ferrule._profile",
    "refresh": "ferrule.loading",
    "reload": "ferrule.loading",
    "set_log_level": "ferrule._log",
    "set_thread_count": "ferrule.statistics",
    "shutdown": "ferrule.loading",
    "stats": "ferrule.statistics",
    "testing": "",
    "thread_count": "ferrule.statistics",
    "trace": "ferrule._trace",
    "unload": "ferrule.loading",
}


# Otherwise the import leaves the module `ferrule.array` here, where NumPy has a function.
globals().pop("array", None)


def __getattr__(name: str) -> Any:
    module = _LATER.get(name)
    if module is None:
        from ferrule._other_names import advice

        raise AttributeError(f"module 'ferrule' has no attribute {name!r}{advice(name, __all__)}", name=name)
    from importlib import import_module

    value = getattr(import_module(module), name) if module else import_module(f"ferrule.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)  # and not the modules that the import passed through


def eval(*arrays: Array, wait: _builtins.bool = True) -> None:
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
    for each in open_devices():
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
        _find_device(device).synchronize()
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
        _find_device(device).trim()
        return
    _for_each(Device.trim)


def _deliver_log_line(level: int, message: str) -> None:
    from ferrule._log import deliver

    deliver(level, message)


_ferrule.set_main_thread(_threading.main_thread().ident or 0)
_ferrule.set_log_function(_deliver_log_line)

__all__ = [
    "AbiMismatchError",
    "Array",
    "Backend",
    "BlockDType",
    "CancelledError",
    "DTypeError",
    "Device",
    "DeviceLostError",
    "Error",
    "Graph",
    "InternalError",
    "InvalidArgumentError",
    "IoError",
    "LoadError",
    "LoadReport",
    "MemoryStats",
    "NotFoundError",
    "NumberOverflowError",
    "OutOfMemoryError",
    "OutOfRangeError",
    "TimeoutError_",
    "TracingError",
    "UnsupportedError",
    "__version__",
    "all",
    "any",
    "arange",
    "argmax",
    "argmin",
    "asarray",
    "astype",
    "backends",
    "best_device",
    "bfloat16",
    "bool",
    "broadcast_to",
    "buffer_from_host_ptr",
    "complex64",
    "complex128",
    "compress",
    "concat",
    "default_roots",
    "device",
    "devices",
    "dynamic_slice",
    "e",
    "empty",
    "empty_like",
    "eval",
    "executable_dir",
    "expand_dims",
    "explain",
    "eye",
    "flip",
    "float8_e4m3fn",
    "float8_e5m2",
    "float16",
    "float32",
    "float64",
    "from_dlpack",
    "from_packed",
    "full",
    "full_like",
    "graph",
    "host_empty",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "io",
    "linspace",
    "load",
    "load_all",
    "matmul",
    "matrix_transpose",
    "max",
    "mean",
    "memory_stats",
    "min",
    "moveaxis",
    "nan",
    "newaxis",
    "nonzero",
    "ones",
    "ones_like",
    "pad",
    "permute_dims",
    "pi",
    "prod",
    "profile",
    "q4_0",
    "q4_K",
    "q6_K",
    "q8_0",
    "refresh",
    "reload",
    "reshape",
    "scaled_dot_product_attention",
    "set_log_level",
    "set_thread_count",
    "shutdown",
    "split",
    "squeeze",
    "stack",
    "stats",
    "std",
    "sum",
    "synchronize",
    "take",
    "testing",
    "thread_count",
    "to_packed",
    "trace",
    "trim",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unload",
    "update_slice",
    "var",
    "zeros",
    "zeros_like",
]
__all__ = sorted({*__all__, *_ops.__all__})  # some ops have NumPy's ways besides, under the same names
