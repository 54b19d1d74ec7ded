"""ONNX Runtime's CPU provider, with all optimisations, inputs and outputs bound so that no call copies them."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime as ort  # type: ignore[import-untyped]
from model_files import find_model_files
from reference import read_safetensors

from benchmarks.cases import RESULTS, Case, Inputs, layer_norm_parameters
from benchmarks.contenders import NotOfferedError, Prepared
from benchmarks.onnx_models import linear_model, minilm_model, single_op_model

OPS: dict[str, tuple[str, dict[str, Any]]] = {
    "matmul": ("MatMul", {}),
    "matmul_integer": ("MatMulInteger", {}),
    "add": ("Add", {}),
    "exp": ("Exp", {}),
    "softmax": ("Softmax", {"axis": -1}),
    "layer_norm": ("LayerNormalization", {"axis": -1, "epsilon": 1e-12}),
}


class Contender:
    """One session per case."""

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def describe(self) -> dict[str, str]:
        return {"version": ort.__version__, "provider": "CPUExecutionProvider"}

    def prepare(self, case: Case, inputs: Inputs) -> Prepared:
        if case.op not in {*OPS, "minilm", "linear"} or case.weights not in ("", "q4_0", "q8_0"):
            raise NotOfferedError(f"no {case.op} in onnxruntime")
        if case.op == "layer_norm":
            inputs = (*inputs, *layer_norm_parameters())
        session = self._session(case, inputs)
        inputs = inputs[:1] if case.op == "linear" else inputs
        values = [ort.OrtValue.ortvalue_from_numpy(x, "cpu") for x in inputs]
        shape = (len(inputs[0]), 384) if case.op == "minilm" else inputs[0].shape
        dtype = RESULTS.get(case.op, "float32")
        result = ort.OrtValue.ortvalue_from_shape_and_type(list(shape), np.dtype(dtype), "cpu")
        binding = session.io_binding()
        for declared, value in zip(session.get_inputs(), values, strict=True):
            binding.bind_ortvalue_input(declared.name, value)
        binding.bind_ortvalue_output(session.get_outputs()[0].name, result)
        return Prepared(lambda: session.run_with_iobinding(binding), result.numpy)

    def _session(self, case: Case, inputs: Inputs) -> ort.InferenceSession:
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        if case.op == "linear":
            model = linear_model(len(inputs[0]), inputs[1], bits=int(case.weights[1]), rounds=case.activation == "q8")
        elif case.op == "minilm":
            model = minilm_model(read_safetensors(find_model_files().weights))
        else:
            op, attributes = OPS[case.op]
            model = single_op_model(op, inputs, attributes)
        return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
