"""ferrule: a tensor runtime. A small core, and backends that plug into it as separate shared objects."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

import numpy as _np

try:
    from ferrule import _ferrule
except ImportError as _error:
    _explanation = _import_module("ferrule.missing_extension").explanation(__path__[0], _error)
    raise ImportError(_explanation, name="ferrule._ferrule") from _error
from ferrule.array.array import Array
from ferrule.array.evaluation import eval, synchronize, trim
from ferrule.errors import (
    AbiMismatchError,
    CancelledError,
    DeviceLostError,
    DTypeError,
    Error,
    InternalError,
    InvalidArgumentError,
    IoError,
    NotFoundError,
    NumberOverflowError,
    OutOfMemoryError,
    OutOfRangeError,
    TimeoutError_,
    TracingError,
    UnsupportedError,
)
from ferrule.functions import ops as _ops

# One function for each op. Some of them are replaced by the imports below, which also accept NumPy's argument forms.
from ferrule.functions.ops import *  # noqa: F403

# isort: split
from ferrule.functions import methods as _methods
from ferrule.functions.asarray import asarray, from_packed, to_packed
from ferrule.functions.conversion import astype
from ferrule.functions.creation import (
    arange,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    host_empty,
    linspace,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from ferrule.functions.linear_algebra import matmul
from ferrule.functions.movement import (
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
from ferrule.functions.reduction import all, any, argmax, argmin, max, mean, min, prod, std, sum, var
from ferrule.loading.device_lookup import best_device, device, devices
from ferrule.loading.devices import Backend, Device, backends
from ferrule.process import startup as _startup

if TYPE_CHECKING:
    from ferrule import io, random, testing
    from ferrule.dtypes.blocks import BlockDType, q4_0, q4_K, q6_K, q8_0
    from ferrule.dtypes.narrow_floats import bfloat16, float8_e4m3fn, float8_e5m2
    from ferrule.functions.attention import scaled_dot_product_attention
    from ferrule.functions.closeness import allclose, array_equal, isclose
    from ferrule.functions.compaction import compress, nonzero
    from ferrule.functions.counting import argwhere, bincount, flatnonzero, histogram
    from ferrule.functions.einsum import einsum
    from ferrule.functions.joining import (
        atleast_1d,
        atleast_2d,
        atleast_3d,
        concatenate,
        dstack,
        hstack,
        ravel,
        swapaxes,
        vstack,
    )
    from ferrule.functions.nan_reductions import nanmax, nanmean, nanmedian, nanmin, nanprod, nanstd, nansum, nanvar
    from ferrule.functions.order_statistics import median, percentile, quantile
    from ferrule.functions.products import dot, outer
    from ferrule.functions.slicing import dynamic_slice, update_slice
    from ferrule.functions.statistics import average, interp, ptp
    from ferrule.graphs.containers import register_container
    from ferrule.graphs.graph import Graph
    from ferrule.graphs.tracing import graph
    from ferrule.io.dlpack import from_dlpack
    from ferrule.io.host_buffers import buffer_from_host_ptr
    from ferrule.loading.explain import explain
    from ferrule.loading.load import load, load_all, refresh, reload, shutdown, unload
    from ferrule.loading.load_error import LoadError
    from ferrule.loading.load_report import LoadReport
    from ferrule.loading.search_folders import default_roots, executable_dir
    from ferrule.loading.statistics import MemoryStats, memory_stats, set_thread_count, stats, thread_count
    from ferrule.process.log_lines import set_log_level
    from ferrule.profiling.profile import profile
    from ferrule.profiling.trace import trace

_startup.prepare_extension()
_methods.attach()

__version__ = _ferrule.version()  # of libferrule and of this package: "major.minor.patch"

# Dtypes are NumPy's; bfloat16 and the float8 dtypes (below) are those of ml_dtypes.
bool = _np.dtype("bool")
int8, int16, int32, int64 = map(_np.dtype, ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = map(_np.dtype, ("uint8", "uint16", "uint32", "uint64"))
float16, float32, float64 = map(_np.dtype, ("float16", "float32", "float64"))
complex64, complex128 = map(_np.dtype, ("complex64", "complex128"))
newaxis, inf, nan, pi, e = None, _np.inf, _np.nan, _np.pi, _np.e

# Names that are imported when first used, which keeps `import ferrule` fast.
_LATER = {
    "BlockDType": "ferrule.dtypes.blocks",
    "Graph": "ferrule.graphs.graph",
    "LoadError": "ferrule.loading.load_error",
    "LoadReport": "ferrule.loading.load_report",
    "MemoryStats": "ferrule.loading.statistics",
    "allclose": "ferrule.functions.closeness",
    "argwhere": "ferrule.functions.counting",
    "array_equal": "ferrule.functions.closeness",
    "atleast_1d": "ferrule.functions.joining",
    "atleast_2d": "ferrule.functions.joining",
    "atleast_3d": "ferrule.functions.joining",
    "average": "ferrule.functions.statistics",
    "bfloat16": "ferrule.dtypes.narrow_floats",
    "bincount": "ferrule.functions.counting",
    "buffer_from_host_ptr": "ferrule.io.host_buffers",
    "compress": "ferrule.functions.compaction",
    "concatenate": "ferrule.functions.joining",
    "default_roots": "ferrule.loading.search_folders",
    "dot": "ferrule.functions.products",
    "dstack": "ferrule.functions.joining",
    "dynamic_slice": "ferrule.functions.slicing",
    "einsum": "ferrule.functions.einsum",
    "executable_dir": "ferrule.loading.search_folders",
    "explain": "ferrule.loading.explain",
    "flatnonzero": "ferrule.functions.counting",
    "float8_e4m3fn": "ferrule.dtypes.narrow_floats",
    "float8_e5m2": "ferrule.dtypes.narrow_floats",
    "from_dlpack": "ferrule.io.dlpack",
    "graph": "ferrule.graphs.tracing",
    "histogram": "ferrule.functions.counting",
    "hstack": "ferrule.functions.joining",
    "interp": "ferrule.functions.statistics",
    "io": "",
    "isclose": "ferrule.functions.closeness",
    "load": "ferrule.loading.load",
    "load_all": "ferrule.loading.load",
    "median": "ferrule.functions.order_statistics",
    "memory_stats": "ferrule.loading.statistics",
    "nanmax": "ferrule.functions.nan_reductions",
    "nanmean": "ferrule.functions.nan_reductions",
    "nanmedian": "ferrule.functions.nan_reductions",
    "nanmin": "ferrule.functions.nan_reductions",
    "nanprod": "ferrule.functions.nan_reductions",
    "nanstd": "ferrule.functions.nan_reductions",
    "nansum": "ferrule.functions.nan_reductions",
    "nanvar": "ferrule.functions.nan_reductions",
    "nonzero": "ferrule.functions.compaction",
    "outer": "ferrule.functions.products",
    "percentile": "ferrule.functions.order_statistics",
    "profile": "ferrule.profiling.profile",
    "ptp": "ferrule.functions.statistics",
    "q4_0": "ferrule.dtypes.blocks",
    "q4_K": "ferrule.dtypes.blocks",
    "q6_K": "ferrule.dtypes.blocks",
    "q8_0": "ferrule.dtypes.blocks",
    "quantile": "ferrule.functions.order_statistics",
    "random": "",
    "ravel": "ferrule.functions.joining",
    "refresh": "ferrule.loading.load",
    "register_container": "ferrule.graphs.containers",
    "reload": "ferrule.loading.load",
    "scaled_dot_product_attention": "ferrule.functions.attention",
    "set_log_level": "ferrule.process.log_lines",
    "set_thread_count": "ferrule.loading.statistics",
    "shutdown": "ferrule.loading.load",
    "stats": "ferrule.loading.statistics",
    "swapaxes": "ferrule.functions.joining",
    "testing": "",
    "thread_count": "ferrule.loading.statistics",
    "trace": "ferrule.profiling.trace",
    "unload": "ferrule.loading.load",
    "update_slice": "ferrule.functions.slicing",
    "vstack": "ferrule.functions.joining",
}


# The imports above set the name `array` to the module ferrule.array; ferrule has no public name `array`.
globals().pop("array", None)


def __getattr__(name: str) -> Any:
    module = _LATER.get(name)
    if module is None:
        advice = _import_module("ferrule.text.other_names").advice(name, __all__)
        raise AttributeError(f"module 'ferrule' has no attribute {name!r}{advice}", name=name)
    value = getattr(_import_module(module), name) if module else _import_module(f"ferrule.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)  # without the modules that the imports set here


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
    "allclose",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argwhere",
    "array_equal",
    "asarray",
    "astype",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "average",
    "backends",
    "best_device",
    "bfloat16",
    "bincount",
    "bool",
    "broadcast_to",
    "buffer_from_host_ptr",
    "complex64",
    "complex128",
    "compress",
    "concat",
    "concatenate",
    "default_roots",
    "device",
    "devices",
    "dot",
    "dstack",
    "dynamic_slice",
    "e",
    "einsum",
    "empty",
    "empty_like",
    "eval",
    "executable_dir",
    "expand_dims",
    "explain",
    "eye",
    "flatnonzero",
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
    "histogram",
    "host_empty",
    "hstack",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "interp",
    "io",
    "isclose",
    "linspace",
    "load",
    "load_all",
    "matmul",
    "matrix_transpose",
    "max",
    "mean",
    "median",
    "memory_stats",
    "min",
    "moveaxis",
    "nan",
    "nanmax",
    "nanmean",
    "nanmedian",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
    "newaxis",
    "nonzero",
    "ones",
    "ones_like",
    "outer",
    "pad",
    "percentile",
    "permute_dims",
    "pi",
    "prod",
    "profile",
    "ptp",
    "q4_0",
    "q4_K",
    "q6_K",
    "q8_0",
    "quantile",
    "random",
    "ravel",
    "refresh",
    "register_container",
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
    "swapaxes",
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
    "vstack",
    "zeros",
    "zeros_like",
]
__all__ = sorted({*__all__, *_ops.__all__})  # some names are in both lists
Array._public_names = __all__
