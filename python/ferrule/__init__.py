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
from ferrule.array.array import Array as Array
from ferrule.functions import methods as _methods
from ferrule.functions.asarray import array as array
from ferrule.process import startup as _startup
from ferrule.public_names import MODULES as _MODULES, PUBLIC as _PUBLIC

# The public names. They are imported when they are first used, which keeps `import ferrule` fast: the build makes
# public_names.py of these imports (cmake/python/public_names.py).
if TYPE_CHECKING:
    from ferrule import (
        fft as fft,
        io as io,
        linalg as linalg,
        random as random,
        testing as testing,
    )
    from ferrule.array.evaluation import (
        eval as eval,
        synchronize as synchronize,
        trim as trim,
    )
    from ferrule.dtypes.blocks import (
        BlockDType as BlockDType,
        q4_0 as q4_0,
        q4_K as q4_K,
        q6_K as q6_K,
        q8_0 as q8_0,
    )
    from ferrule.dtypes.default_dtypes import (
        default_dtype as default_dtype,
        set_default_dtype as set_default_dtype,
    )
    from ferrule.dtypes.narrow_floats import (
        bfloat16 as bfloat16,
        float8_e4m3fn as float8_e4m3fn,
        float8_e5m2 as float8_e5m2,
    )
    from ferrule.errors import (
        AbiMismatchError as AbiMismatchError,
        CancelledError as CancelledError,
        DeviceLostError as DeviceLostError,
        DTypeError as DTypeError,
        Error as Error,
        InternalError as InternalError,
        InvalidArgumentError as InvalidArgumentError,
        IoError as IoError,
        NotFoundError as NotFoundError,
        NumberOverflowError as NumberOverflowError,
        OutOfMemoryError as OutOfMemoryError,
        OutOfRangeError as OutOfRangeError,
        TimeoutError_ as TimeoutError_,
        TracingError as TracingError,
        UnsupportedError as UnsupportedError,
    )
    from ferrule.functions.arithmetic import fmod as fmod
    from ferrule.functions.arrangement import (
        diff as diff,
        roll as roll,
        tril as tril,
        triu as triu,
        unstack as unstack,
    )
    from ferrule.functions.asarray import (
        asarray as asarray,
        from_packed as from_packed,
        to_numpy as to_numpy,
        to_packed as to_packed,
    )
    from ferrule.functions.attention import scaled_dot_product_attention as scaled_dot_product_attention
    from ferrule.functions.closeness import (
        allclose as allclose,
        array_equal as array_equal,
        isclose as isclose,
    )
    from ferrule.functions.compaction import (
        compress as compress,
        nonzero as nonzero,
    )
    from ferrule.functions.complex_parts import (
        conj as conj,
        imag as imag,
        real as real,
    )
    from ferrule.functions.conversion import astype as astype
    from ferrule.functions.counting import (
        argwhere as argwhere,
        bincount as bincount,
        flatnonzero as flatnonzero,
        histogram as histogram,
    )
    from ferrule.functions.creation import (
        arange as arange,
        empty as empty,
        empty_like as empty_like,
        eye as eye,
        full as full,
        full_like as full_like,
        host_empty as host_empty,
        linspace as linspace,
        ones as ones,
        ones_like as ones_like,
        zeros as zeros,
        zeros_like as zeros_like,
    )
    from ferrule.functions.cumulative import (
        cumulative_prod as cumulative_prod,
        cumulative_sum as cumulative_sum,
    )
    from ferrule.functions.einsum import einsum as einsum
    from ferrule.functions.gradient import gradient as gradient
    from ferrule.functions.joining import (
        atleast_1d as atleast_1d,
        atleast_2d as atleast_2d,
        atleast_3d as atleast_3d,
        concatenate as concatenate,
        dstack as dstack,
        hstack as hstack,
        ravel as ravel,
        swapaxes as swapaxes,
        vstack as vstack,
    )
    from ferrule.functions.limits import clip as clip
    from ferrule.functions.linear_algebra import (
        matmul as matmul,
        tensordot as tensordot,
        vecdot as vecdot,
    )
    from ferrule.functions.movement import (
        broadcast_to as broadcast_to,
        concat as concat,
        expand_dims as expand_dims,
        flip as flip,
        matrix_transpose as matrix_transpose,
        moveaxis as moveaxis,
        pad as pad,
        permute_dims as permute_dims,
        reshape as reshape,
        split as split,
        squeeze as squeeze,
        stack as stack,
        take as take,
        take_along_axis as take_along_axis,
    )
    from ferrule.functions.namespace_info import __array_namespace_info__ as __array_namespace_info__

    # Generated: one function for each op whose arguments are those of its row, and the reductions.
    from ferrule.functions.ops import *  # noqa: F403
    from ferrule.functions.order_statistics import (
        median as median,
        percentile as percentile,
        quantile as quantile,
    )
    from ferrule.functions.products import (
        dot as dot,
        outer as outer,
    )
    from ferrule.functions.reduction_functions import *  # noqa: F403
    from ferrule.functions.repetition import (
        broadcast_arrays as broadcast_arrays,
        broadcast_shapes as broadcast_shapes,
        meshgrid as meshgrid,
        repeat as repeat,
        tile as tile,
    )
    from ferrule.functions.rounding import round as round
    from ferrule.functions.searching import searchsorted as searchsorted
    from ferrule.functions.selection import where as where
    from ferrule.functions.sets import (
        isin as isin,
        unique_all as unique_all,
        unique_counts as unique_counts,
        unique_inverse as unique_inverse,
        unique_values as unique_values,
    )
    from ferrule.functions.slicing import (
        dynamic_slice as dynamic_slice,
        update_slice as update_slice,
    )
    from ferrule.functions.sorting import (
        argsort as argsort,
        sort as sort,
    )
    from ferrule.functions.statistics import (
        average as average,
        interp as interp,
        ptp as ptp,
    )
    from ferrule.functions.type_information import (
        can_cast as can_cast,
        finfo as finfo,
        iinfo as iinfo,
        isdtype as isdtype,
        result_type as result_type,
    )
    from ferrule.graphs.containers import register_container as register_container
    from ferrule.graphs.graph import Graph as Graph
    from ferrule.graphs.tracing import graph as graph
    from ferrule.io.dlpack import from_dlpack as from_dlpack
    from ferrule.io.host_buffers import buffer_from_host_ptr as buffer_from_host_ptr
    from ferrule.loading.device_lookup import (
        best_device as best_device,
        default_device as default_device,
        device as device,
        devices as devices,
        set_default_device as set_default_device,
    )
    from ferrule.loading.devices import (
        Backend as Backend,
        Device as Device,
        backends as backends,
    )
    from ferrule.loading.explain import explain as explain
    from ferrule.loading.load import (
        load as load,
        load_all as load_all,
        refresh as refresh,
        reload as reload,
        shutdown as shutdown,
        unload as unload,
    )
    from ferrule.loading.load_error import LoadError as LoadError
    from ferrule.loading.load_report import LoadReport as LoadReport
    from ferrule.loading.search_folders import (
        default_roots as default_roots,
        executable_dir as executable_dir,
    )
    from ferrule.loading.statistics import (
        MemoryStats as MemoryStats,
        memory_stats as memory_stats,
        set_thread_count as set_thread_count,
        stats as stats,
        thread_count as thread_count,
    )
    from ferrule.process.log_lines import set_log_level as set_log_level
    from ferrule.profiling.profile import profile as profile
    from ferrule.profiling.trace import trace as trace

_startup.prepare_extension()
_methods.attach()
array = _ferrule.public(array, "ferrule")  # at once: there is a package of this name, too

__version__ = _ferrule.version()  # of libferrule and of this package: "major.minor.patch"

__array_api_version__ = "2024.12"  # of the Python array API standard, whose names this module has

# Dtypes are NumPy's; bfloat16 and the float8 dtypes (below) are those of ml_dtypes.
bool = _np.dtype("bool")
int8, int16, int32, int64 = map(_np.dtype, ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = map(_np.dtype, ("uint8", "uint16", "uint32", "uint64"))
float16, float32, float64 = map(_np.dtype, ("float16", "float32", "float64"))
complex64, complex128 = map(_np.dtype, ("complex64", "complex128"))
newaxis, inf, nan, pi, e = None, _np.inf, _np.nan, _np.pi, _np.e

# Names that other libraries look up here; they are not public.
_FOR_LIBRARIES = {"lib": "ferrule", "transpose": "ferrule.functions.joining"}  # xarray

if not TYPE_CHECKING:  # a type checker would accept any name

    def __getattr__(name: str) -> Any:
        module = _MODULES.get(name) or _FOR_LIBRARIES.get(name)
        if module is None:
            advice = _import_module("ferrule.text.other_names").advice(name, __all__)
            raise AttributeError(f"module 'ferrule' has no attribute {name!r}{advice}", name=name)
        value = _import_module(f"ferrule.{name}") if module == "ferrule" else getattr(_import_module(module), name)
        globals()[name] = value = _ferrule.public(value, "ferrule")
        return value


def __dir__() -> list[str]:
    return __all__  # without the modules that the imports set here


__all__ = _PUBLIC
Array._public_names = __all__
Array._namespace = _sys.modules[__name__]
