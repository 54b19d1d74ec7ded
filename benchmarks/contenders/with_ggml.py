"""ggml's CPU backend, of the package llama-cpp-python 0.3.36 where that is installed: products with weights in blocks,
and a language model. It rounds rows to 8 bits in any case, also beside ferrule's float32.

pip compiles the package for ten minutes. Where its code for AMX does not run, CMAKE_ARGS="-DGGML_NATIVE=OFF
-DGGML_AVX512=ON -DGGML_AVX512_VNNI=ON" leaves that out.
"""

from __future__ import annotations

import ctypes
import importlib.util
from ctypes import POINTER, c_bool, c_char_p, c_int, c_int64, c_size_t, c_void_p
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from chat import find_model

from benchmarks.cases import ROUNDED_PRODUCT, ROUNDED_SCORE, WIDTH, Case, Inputs
from benchmarks.contenders import NotOfferedError, Prepared


class Contender:
    """Reads the scores of llama.cpp, and computes single products by a graph of ggml."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def describe(self) -> dict[str, str]:
        if importlib.util.find_spec("llama_cpp") is None:
            return {"version": "none: pip install llama-cpp-python"}
        # It is no requirement, as pip compiles it, so mypy does not find it.
        import llama_cpp  # type: ignore[import-not-found]

        return {"version": llama_cpp.__version__, "system": llama_cpp.llama_print_system_info().decode()}

    def prepare(self, case: Case, inputs: Inputs) -> Prepared:
        if case.op not in ("linear", "smollm2"):
            raise NotOfferedError(f"no {case.op} in ggml")
        if importlib.util.find_spec("llama_cpp") is None:
            raise NotOfferedError("llama-cpp-python is not installed")
        return self._language_model(*inputs) if case.op == "smollm2" else self._product(case, *inputs)

    def _language_model(self, before: Any, ids: Any) -> Prepared:
        import llama_cpp

        model = llama_cpp.Llama(
            str(find_model()),
            n_ctx=2048,
            n_batch=512,
            n_threads=self.threads,
            n_threads_batch=self.threads,
            verbose=False,
        )
        model.eval(before.tolist())

        def call() -> None:
            model.n_tokens = len(before)  # what is behind them is forgotten
            model.eval(ids.tolist())

        def output() -> Any:
            scores = llama_cpp.llama_get_logits_ith(model.ctx, -1)
            return np.ctypeslib.as_array(scores, shape=(1, model.n_vocab())).copy()

        return Prepared(call, output, absolute=ROUNDED_SCORE)

    def _product(self, case: Case, x: Any, blocks: Any) -> Prepared:
        product = Product(getattr(gguf.GGMLQuantizationType, case.weights.upper()), x, blocks, self.threads)
        return Prepared(product.compute, product.result, absolute=ROUNDED_PRODUCT)


class Product:
    """x @ w.T in the way of llama.cpp: weights are repacked where ggml has a kernel for that."""

    def __init__(self, weights: int, x: Any, blocks: Any, threads: int) -> None:
        self._ggml = ggml = library()
        self._shape = (len(x), len(blocks))
        self._backend = ggml.ggml_backend_cpu_init()
        ggml.ggml_backend_cpu_set_n_threads(self._backend, threads)
        device = ggml.ggml_backend_get_device(self._backend)
        values = ggml.ggml_init(Parameters(1 << 24, None, True))
        rows = ggml.ggml_new_tensor_2d(values, 0, WIDTH, len(x))
        for kind in [*repacking_buffers(ggml, device), ggml.ggml_backend_cpu_buffer_type()]:
            constants = ggml.ggml_init(Parameters(1 << 24, None, True))
            w = ggml.ggml_new_tensor_2d(constants, weights, WIDTH, len(blocks))
            self._out = ggml.ggml_mul_mat(values, w, rows)
            buffer = ggml.ggml_backend_alloc_ctx_tensors_from_buft(constants, kind)
            if ggml.ggml_backend_dev_supports_op(device, self._out):
                break
            ggml.ggml_backend_buffer_free(buffer)
        else:
            raise NotOfferedError("ggml has no kernel for these weights")
        ggml.ggml_backend_alloc_ctx_tensors(values, self._backend)
        for tensor, data in ((w, blocks), (rows, x)):
            ggml.ggml_backend_tensor_set(tensor, data.ctypes.data, 0, data.nbytes)
        self._graph = ggml.ggml_new_graph(ggml.ggml_init(Parameters(1 << 24, None, False)))
        ggml.ggml_build_forward_expand(self._graph, self._out)

    def compute(self) -> None:
        if self._ggml.ggml_backend_graph_compute(self._backend, self._graph) != 0:
            raise RuntimeError("ggml could not compute the product")

    def result(self) -> Any:
        out = np.empty(self._shape, np.float32)
        self._ggml.ggml_backend_tensor_get(self._out, out.ctypes.data, 0, out.nbytes)
        return out


class Parameters(ctypes.Structure):
    """ggml_init_params: bytes, memory, and whether tensors get theirs later."""

    _fields_ = (("mem_size", c_size_t), ("mem_buffer", c_void_p), ("no_alloc", c_bool))


def library() -> Any:
    """The functions of ggml with their types, in one namespace."""
    spec = importlib.util.find_spec("llama_cpp")
    assert spec is not None
    folder = Path(str(spec.origin)).parent / "lib"
    libraries = [ctypes.CDLL(str(next(folder.glob(f"*ggml-{name}.*")))) for name in ("base", "cpu")]
    found = type("Ggml", (), {})()
    for name, result, arguments in FUNCTIONS:
        function = next(getattr(one, name) for one in libraries if hasattr(one, name))
        function.restype, function.argtypes = result, arguments
        setattr(found, name, function)
    return found


FUNCTIONS: list[tuple[str, Any, list[Any]]] = [
    ("ggml_init", c_void_p, [Parameters]),
    ("ggml_new_tensor_2d", c_void_p, [c_void_p, c_int, c_int64, c_int64]),
    ("ggml_mul_mat", c_void_p, [c_void_p, c_void_p, c_void_p]),
    ("ggml_new_graph", c_void_p, [c_void_p]),
    ("ggml_build_forward_expand", None, [c_void_p, c_void_p]),
    ("ggml_backend_cpu_init", c_void_p, []),
    ("ggml_backend_cpu_buffer_type", c_void_p, []),
    ("ggml_backend_cpu_set_n_threads", None, [c_void_p, c_int]),
    ("ggml_backend_get_device", c_void_p, [c_void_p]),
    ("ggml_backend_dev_backend_reg", c_void_p, [c_void_p]),
    ("ggml_backend_dev_supports_op", c_bool, [c_void_p, c_void_p]),
    ("ggml_backend_reg_get_proc_address", c_void_p, [c_void_p, c_char_p]),
    ("ggml_backend_alloc_ctx_tensors", c_void_p, [c_void_p, c_void_p]),
    ("ggml_backend_alloc_ctx_tensors_from_buft", c_void_p, [c_void_p, c_void_p]),
    ("ggml_backend_buffer_free", None, [c_void_p]),
    ("ggml_backend_tensor_set", None, [c_void_p, c_void_p, c_size_t, c_size_t]),
    ("ggml_backend_tensor_get", None, [c_void_p, c_void_p, c_size_t, c_size_t]),
    ("ggml_backend_graph_compute", c_int, [c_void_p, c_void_p]),
]


def repacking_buffers(ggml: Any, device: int) -> list[int]:
    """The types of buffers for repacked weights, the preferred first."""
    registry = ggml.ggml_backend_dev_backend_reg(device)
    address = ggml.ggml_backend_reg_get_proc_address(registry, b"ggml_backend_dev_get_extra_bufts")
    if not address:
        return []
    found = ctypes.CFUNCTYPE(POINTER(c_void_p), c_void_p)(address)(device)
    kinds: list[int] = []
    while found and (kind := found[len(kinds)]):
        kinds.append(kind)
    return kinds
