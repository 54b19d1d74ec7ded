"""The models for ONNX Runtime: single ops, and MiniLM written in ONNX Runtime's fused ops.

MiniLM comes from the same safetensors file. ONNX Runtime's transformer optimiser rewrites an exported BERT into
EmbedLayerNormalization, Attention, SkipLayerNormalization and BiasGelu; that result is written directly here, so the
fusions are certain to take place, and no framework is needed for an export.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

MICROSOFT = "com.microsoft"
EPSILON = 1e-12
LAYERS, HEADS = 6, 12


def single_op_model(op: str, inputs: Sequence[NDArray[Any]], attributes: Mapping[str, Any]) -> bytes:
    """One node; the result is of float32, or of int32 for MatMulInteger, and has the shape of the first input or is
    (M, N) for products."""
    names = [f"input{index}" for index in range(len(inputs))]
    shape = inputs[0].shape
    if op.startswith("MatMul"):
        shape = (shape[0], inputs[1].shape[1])
    node = helper.make_node(op, names, ["output"], **attributes)
    declared = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for name, x in zip(names, inputs, strict=True)
    ]
    result = TensorProto.INT32 if op == "MatMulInteger" else TensorProto.FLOAT
    return _serialise(helper.make_graph([node], op, declared, [helper.make_tensor_value_info("output", result, shape)]))


def linear_model(rows: int, blocks: NDArray[np.uint8], bits: int, *, rounds: bool) -> bytes:
    """x @ w.T with rows of blocks of q4_0 or q8_0 as w; `rounds`: the product may round x to 8 bits."""
    columns, size = len(blocks), 2 + 4 * bits
    of_blocks = blocks.reshape(columns, -1, size)
    scales = np.ascontiguousarray(of_blocks[..., :2]).view(np.float16)[..., 0].astype(np.float32)
    numbers: NDArray[Any] = of_blocks[..., 2:]
    if bits == 4:  # in pairs of elements that follow each other; ggml's pairs are 16 apart
        elements = np.concatenate([numbers & 15, numbers >> 4], axis=-1)
        numbers = elements[..., 0::2] | elements[..., 1::2] << 4
    else:
        numbers = numbers ^ 128  # without a sign
    k = 32 * of_blocks.shape[1]
    weights = [numpy_helper.from_array(np.ascontiguousarray(numbers), "w"), numpy_helper.from_array(scales, "scales")]
    node = helper.make_node(
        "MatMulNBits",
        ["x", "w", "scales"],
        ["output"],
        domain=MICROSOFT,
        K=k,
        N=columns,
        bits=bits,
        block_size=32,
        accuracy_level=4 if rounds else 1,
    )
    x, output = _float_info("x", (rows, k)), _float_info("output", (rows, columns))
    return _serialise(helper.make_graph([node], "linear", [x], [output], weights))


def minilm_model(tensors: Mapping[str, NDArray[Any]]) -> bytes:
    """`token_ids` and `mask` (B, L), both int32, to `embeddings` (B, 384) of norm 1."""
    builder = _Builder(tensors)
    x = builder.embedding()
    for index in range(LAYERS):
        x = builder.layer(x, f"encoder.layer.{index}")
    builder.pooling(x)
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT32, ["B", "L"]) for name in ("token_ids", "mask")]
    outputs = [_float_info("embeddings", ("B", 384))]
    return _serialise(helper.make_graph(builder.nodes, "MiniLM", inputs, outputs, builder.initializers))


class _Builder:
    """Collects nodes and initializers; every method returns the name of the value it adds."""

    def __init__(self, tensors: Mapping[str, NDArray[Any]]) -> None:
        self.tensors = tensors
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def node(self, op: str, inputs: list[str], domain: str = "", outputs: int = 1, **attributes: Any) -> str:
        names = [f"{op}_{len(self.nodes)}_{index}" for index in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, domain=domain, **attributes))
        return names[0]

    def constant(self, name: str, value: NDArray[Any]) -> str:
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def weight(self, name: str) -> str:
        return self.constant(name, self.tensors[name])

    def transposed(self, name: str) -> str:
        """A weight as (in, out) for MatMul, which ONNX Runtime packs at load time; the file has (out, in)."""
        return self.constant(f"{name}.transposed", self.tensors[name].T)

    def embedding(self) -> str:
        """Only texts of kind 0 occur: its row is added to the positions, which saves a lookup per token."""
        names = [f"embeddings.{name}" for name in ("word_embeddings.weight", "LayerNorm.weight", "LayerNorm.bias")]
        word, scale, shift = (self.weight(name) for name in names)
        kind = self.tensors["embeddings.token_type_embeddings.weight"][0]
        position = self.constant("positions", self.tensors["embeddings.position_embeddings.weight"] + kind)
        inputs = ["token_ids", "", word, position, "", scale, shift]
        return self.node("EmbedLayerNormalization", inputs, MICROSOFT, outputs=2, epsilon=EPSILON)

    def layer(self, x: str, name: str) -> str:
        parts = [f"{name}.attention.self.{part}" for part in ("query", "key", "value")]
        weights = np.concatenate([self.tensors[f"{part}.weight"].T for part in parts], axis=1)
        biases = np.concatenate([self.tensors[f"{part}.bias"] for part in parts])
        inputs = [x, self.constant(f"{name}.qkv", weights), self.constant(f"{name}.qkv.bias", biases), "mask"]
        attended = self.node("Attention", inputs, MICROSOFT, num_heads=HEADS)
        mixed = self.node("MatMul", [attended, self.transposed(f"{name}.attention.output.dense.weight")])
        x = self.add_and_normalise(mixed, x, f"{name}.attention.output")
        wide = self.node("MatMul", [x, self.transposed(f"{name}.intermediate.dense.weight")])
        wide = self.node("BiasGelu", [wide, self.weight(f"{name}.intermediate.dense.bias")], MICROSOFT)
        narrow = self.node("MatMul", [wide, self.transposed(f"{name}.output.dense.weight")])
        return self.add_and_normalise(narrow, x, f"{name}.output")

    def add_and_normalise(self, x: str, skipped: str, name: str) -> str:
        """layer_norm(x + bias + skipped) in one op."""
        parameters = [self.weight(f"{name}.{part}") for part in ("LayerNorm.weight", "LayerNorm.bias", "dense.bias")]
        return self.node("SkipLayerNormalization", [x, skipped, *parameters], MICROSOFT, epsilon=EPSILON)

    def pooling(self, x: str) -> str:
        """Mean over the real tokens, normalised to length 1."""
        tokens = self.constant("axis_of_tokens", np.array([1], dtype=np.int64))
        last = self.constant("last_axis", np.array([-1], dtype=np.int64))
        real = self.node("Cast", ["mask"], to=TensorProto.FLOAT)
        weighted = self.node("Mul", [x, self.node("Unsqueeze", [real, last])])
        total = self.node("ReduceSum", [weighted, tokens], keepdims=0)
        mean = self.node("Div", [total, self.node("ReduceSum", [real, tokens], keepdims=1)])
        norm = self.node("ReduceL2", [mean, last], keepdims=1)
        self.nodes.append(helper.make_node("Div", [mean, norm], ["embeddings"]))
        return "embeddings"


def _float_info(name: str, shape: tuple[int | str, ...]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, list(shape))


def _serialise(graph: onnx.GraphProto) -> bytes:
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    data: bytes = model.SerializeToString()
    return data
