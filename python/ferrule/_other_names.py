"""Names of other libraries for what ferrule has under another one."""

from __future__ import annotations

from collections.abc import Iterable

# From NumPy, PyTorch, JAX and TensorFlow, to how it is written here.
OTHER_NAMES = {
    "Tensor": "Array",
    "absolute": "abs",
    "amax": "max",
    "amin": "min",
    "array": "asarray",
    "cast": "astype",
    "cat": "concat",
    "compile": "graph",
    "concatenate": "concat",
    "dot": "matmul",
    "from_numpy": "asarray",
    "frombuffer": "buffer_from_host_ptr",
    "function": "graph",
    "invert": "bitwise_invert",
    "jit": "graph",
    "load_safetensors": "io.open_safetensors",
    "mm": "matmul",
    "mod": "remainder",
    "ndarray": "Array",
    "permute": "permute_dims",
    "power": "pow",
    "reduce_sum": "sum",
    "safe_open": "io.open_safetensors",
    "set_num_threads": "set_thread_count",
    "swapaxes": "moveaxis",
    "tensor": "asarray",
    "transpose": "permute_dims",
    "true_divide": "divide",
    "unsqueeze": "expand_dims",
}


def advice(name: str, public: Iterable[str]) -> str:
    """The name to use instead of one that ferrule does not have; "" when no name is near."""
    from ferrule._near_names import did_you_mean

    meant = OTHER_NAMES.get(name)
    if meant is not None:
        return f"; it is ferrule.{meant} here"
    return "" if name.startswith("_") else did_you_mean(name, public)
