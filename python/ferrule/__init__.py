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
        iq1_m as iq1_m,
        iq1_s as iq1_s,
        iq2_s as iq2_s,
        iq2_xs as iq2_xs,
        iq2_xxs as iq2_xxs,
        iq3_s as iq3_s,
        iq3_xxs as iq3_xxs,
        iq4_nl as iq4_nl,
        iq4_xs as iq4_xs,
        mxfp4 as mxfp4,
        nvfp4 as nvfp4,
        q2_K as q2_K,
        q3_K as q3_K,
        q4_0 as q4_0,
        q4_1 as q4_1,
        q4_K as q4_K,
        q5_0 as q5_0,
        q5_1 as q5_1,
        q5_K as q5_K,
        q6_K as q6_K,
        q8_0 as q8_0,
        tq1_0 as tq1_0,
        tq2_0 as tq2_0,
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
    from ferrule.functions.arithmetic import *
    from ferrule.functions.arrangement import *
    from ferrule.functions.asarray import *
    from ferrule.functions.attention import *
    from ferrule.functions.closeness import *
    from ferrule.functions.compaction import *
    from ferrule.functions.complex_parts import *
    from ferrule.functions.conversion import *
    from ferrule.functions.counting import *
    from ferrule.functions.creation import *
    from ferrule.functions.cumulative import *
    from ferrule.functions.einsum import *
    from ferrule.functions.gradient import *
    from ferrule.functions.joining import *
    from ferrule.functions.limits import *
    from ferrule.functions.linear_algebra import *
    from ferrule.functions.movement import *
    from ferrule.functions.namespace_info import *
    from ferrule.functions.ops import *
    from ferrule.functions.order_statistics import *
    from ferrule.functions.products import *
    from ferrule.functions.reduction_functions import *
    from ferrule.functions.repetition import *
    from ferrule.functions.rotary_positions import *
    from ferrule.functions.rounding import *
    from ferrule.functions.searching import *
    from ferrule.functions.selection import *
    from ferrule.functions.sets import *
    from ferrule.functions.slicing import *
    from ferrule.functions.sorting import *
    from ferrule.functions.statistics import *
    from ferrule.functions.type_information import *
    from ferrule.graphs.containers import register_container as register_container
    from ferrule.graphs.graph import Graph as Graph
    from ferrule.graphs.graph_decorator import graph as graph
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
