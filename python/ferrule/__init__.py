"""ferrule: a tensor runtime. A small core, and backends that plug into it as separate shared objects."""

from __future__ import annotations

import sys as _sys
from importlib import import_module as _import_module
from typing import TYPE_CHECKING, Any

import numpy as _np

from ferrule import own_library as _own_library

try:
    _own_library.open_library(__path__[0])
    from ferrule import _ferrule
except (ImportError, OSError) as _error:
    _explanation = _import_module("ferrule.missing_extension").explanation(__path__[0], _error)
    raise ImportError(_explanation, name="ferrule._ferrule") from _error
from ferrule.array.array import Array
from ferrule.array.evaluation import eval, synchronize, trim
from ferrule.dtypes.default_dtypes import default_dtype, set_default_dtype
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

# One function for each op whose arguments are those of its row.
from ferrule.functions.ops import *  # noqa: F403

# isort: split
from ferrule.functions import methods as _methods
from ferrule.functions.arithmetic import divide, fmod
from ferrule.functions.asarray import array, asarray, from_packed, to_numpy, to_packed
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
from ferrule.functions.limits import clip
from ferrule.functions.linear_algebra import matmul, tensordot, vecdot
from ferrule.functions.logical import logical_and, logical_not, logical_or, logical_xor
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
    take_along_axis,
)
from ferrule.functions.reduction import all, any, argmax, argmin, count_nonzero, max, mean, min, prod, std, sum, var
from ferrule.functions.rounding import round
from ferrule.functions.selection import where
from ferrule.loading.device_lookup import best_device, default_device, device, devices, set_default_device
from ferrule.loading.devices import Backend, Device, backends
from ferrule.process import startup as _startup

if TYPE_CHECKING:
    from ferrule import fft, io, linalg, random, testing
    from ferrule import lib as lib
    from ferrule.dtypes.blocks import BlockDType, q4_0, q4_K, q6_K, q8_0
    from ferrule.dtypes.narrow_floats import bfloat16, float8_e4m3fn, float8_e5m2
    from ferrule.functions.arrangement import diff, roll, tril, triu, unstack
    from ferrule.functions.attention import scaled_dot_product_attention
    from ferrule.functions.closeness import allclose, array_equal, isclose
    from ferrule.functions.compaction import compress, nonzero
    from ferrule.functions.complex_parts import conj, imag, real
    from ferrule.functions.counting import argwhere, bincount, flatnonzero, histogram
    from ferrule.functions.cumulative import cumulative_prod, cumulative_sum
    from ferrule.functions.einsum import einsum
    from ferrule.functions.gradient import gradient
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
    from ferrule.functions.joining import transpose as transpose
    from ferrule.functions.namespace_info import __array_namespace_info__
    from ferrule.functions.nan_reductions import nanmax, nanmean, nanmedian, nanmin, nanprod, nanstd, nansum, nanvar
    from ferrule.functions.order_statistics import median, percentile, quantile
    from ferrule.functions.products import dot, outer
    from ferrule.functions.repetition import broadcast_arrays, broadcast_shapes, meshgrid, repeat, tile
    from ferrule.functions.searching import searchsorted
    from ferrule.functions.sets import isin, unique_all, unique_counts, unique_inverse, unique_values
    from ferrule.functions.slicing import dynamic_slice, update_slice
    from ferrule.functions.sorting import argsort, sort
    from ferrule.functions.statistics import average, interp, ptp
    from ferrule.functions.type_information import can_cast, finfo, iinfo, isdtype, result_type
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

__array_api_version__ = "2024.12"  # of the Python array API standard, whose names this module has

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
    "argsort": "ferrule.functions.sorting",
    "__array_namespace_info__": "ferrule.functions.namespace_info",
    "bfloat16": "ferrule.dtypes.narrow_floats",
    "broadcast_arrays": "ferrule.functions.repetition",
    "broadcast_shapes": "ferrule.functions.repetition",
    "allclose": "ferrule.functions.closeness",
    "argwhere": "ferrule.functions.counting",
    "array_equal": "ferrule.functions.closeness",
    "atleast_1d": "ferrule.functions.joining",
    "atleast_2d": "ferrule.functions.joining",
    "atleast_3d": "ferrule.functions.joining",
    "average": "ferrule.functions.statistics",
    "bincount": "ferrule.functions.counting",
    "buffer_from_host_ptr": "ferrule.io.host_buffers",
    "can_cast": "ferrule.functions.type_information",
    "compress": "ferrule.functions.compaction",
    "conj": "ferrule.functions.complex_parts",
    "cumulative_prod": "ferrule.functions.cumulative",
    "cumulative_sum": "ferrule.functions.cumulative",
    "default_roots": "ferrule.loading.search_folders",
    "diff": "ferrule.functions.arrangement",
    "concatenate": "ferrule.functions.joining",
    "dot": "ferrule.functions.products",
    "dstack": "ferrule.functions.joining",
    "dynamic_slice": "ferrule.functions.slicing",
    "einsum": "ferrule.functions.einsum",
    "executable_dir": "ferrule.loading.search_folders",
    "explain": "ferrule.loading.explain",
    "finfo": "ferrule.functions.type_information",
    "flatnonzero": "ferrule.functions.counting",
    "fft": "",
    "float8_e4m3fn": "ferrule.dtypes.narrow_floats",
    "float8_e5m2": "ferrule.dtypes.narrow_floats",
    "from_dlpack": "ferrule.io.dlpack",
    "gradient": "ferrule.functions.gradient",
    "graph": "ferrule.graphs.tracing",
    "imag": "ferrule.functions.complex_parts",
    "iinfo": "ferrule.functions.type_information",
    "io": "",
    "isin": "ferrule.functions.sets",
    "isdtype": "ferrule.functions.type_information",
    "histogram": "ferrule.functions.counting",
    "hstack": "ferrule.functions.joining",
    "interp": "ferrule.functions.statistics",
    "isclose": "ferrule.functions.closeness",
    "lib": "",  # for xarray; it is no public name
    "linalg": "",
    "load": "ferrule.loading.load",
    "load_all": "ferrule.loading.load",
    "median": "ferrule.functions.order_statistics",
    "memory_stats": "ferrule.loading.statistics",
    "meshgrid": "ferrule.functions.repetition",
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
    "real": "ferrule.functions.complex_parts",
    "quantile": "ferrule.functions.order_statistics",
    "random": "",
    "ravel": "ferrule.functions.joining",
    "refresh": "ferrule.loading.load",
    "register_container": "ferrule.graphs.containers",
    "reload": "ferrule.loading.load",
    "repeat": "ferrule.functions.repetition",
    "result_type": "ferrule.functions.type_information",
    "roll": "ferrule.functions.arrangement",
    "scaled_dot_product_attention": "ferrule.functions.attention",
    "searchsorted": "ferrule.functions.searching",
    "set_log_level": "ferrule.process.log_lines",
    "set_thread_count": "ferrule.loading.statistics",
    "shutdown": "ferrule.loading.load",
    "sort": "ferrule.functions.sorting",
    "stats": "ferrule.loading.statistics",
    "swapaxes": "ferrule.functions.joining",
    "testing": "",
    "thread_count": "ferrule.loading.statistics",
    "tile": "ferrule.functions.repetition",
    "trace": "ferrule.profiling.trace",
    "transpose": "ferrule.functions.joining",  # for xarray; it is no public name
    "unique_all": "ferrule.functions.sets",
    "unique_counts": "ferrule.functions.sets",
    "unique_inverse": "ferrule.functions.sets",
    "unique_values": "ferrule.functions.sets",
    "tril": "ferrule.functions.arrangement",
    "triu": "ferrule.functions.arrangement",
    "unload": "ferrule.loading.load",
    "unstack": "ferrule.functions.arrangement",
    "update_slice": "ferrule.functions.slicing",
    "vstack": "ferrule.functions.joining",
}


if not TYPE_CHECKING:  # a type checker would accept any name

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
    "__array_api_version__",
    "__array_namespace_info__",
    "__version__",
    "all",
    "allclose",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "argwhere",
    "array",
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
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "buffer_from_host_ptr",
    "can_cast",
    "clip",
    "complex64",
    "complex128",
    "compress",
    "concat",
    "concatenate",
    "conj",
    "count_nonzero",
    "cumulative_prod",
    "cumulative_sum",
    "default_device",
    "default_dtype",
    "default_roots",
    "device",
    "devices",
    "diff",
    "divide",
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
    "fft",
    "finfo",
    "flatnonzero",
    "flip",
    "float8_e4m3fn",
    "float8_e5m2",
    "float16",
    "float32",
    "float64",
    "fmod",
    "from_dlpack",
    "from_packed",
    "full",
    "full_like",
    "gradient",
    "graph",
    "histogram",
    "host_empty",
    "hstack",
    "iinfo",
    "imag",
    "inf",
    "int8",
    "int16",
    "int32",
    "int64",
    "interp",
    "io",
    "isclose",
    "isdtype",
    "isin",
    "linalg",
    "linspace",
    "load",
    "load_all",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "matrix_transpose",
    "max",
    "mean",
    "median",
    "memory_stats",
    "meshgrid",
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
    "real",
    "refresh",
    "register_container",
    "reload",
    "repeat",
    "reshape",
    "result_type",
    "roll",
    "round",
    "scaled_dot_product_attention",
    "searchsorted",
    "set_default_device",
    "set_default_dtype",
    "set_log_level",
    "set_thread_count",
    "shutdown",
    "sort",
    "split",
    "squeeze",
    "stack",
    "stats",
    "std",
    "sum",
    "swapaxes",
    "synchronize",
    "take",
    "take_along_axis",
    "tensordot",
    "testing",
    "thread_count",
    "tile",
    "to_numpy",
    "to_packed",
    "trace",
    "tril",
    "trim",
    "triu",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
    "unload",
    "unstack",
    "update_slice",
    "var",
    "vecdot",
    "vstack",
    "where",
    "zeros",
    "zeros_like",
]
__all__ = sorted({*__all__, *_ops.__all__})  # some names are in both lists
Array._public_names = __all__
Array._namespace = _sys.modules[__name__]
