"""The names that other libraries have for functions and methods of ferrule."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ferrule.text.near_names import did_you_mean

# From names in NumPy, PyTorch, JAX and TensorFlow to those in ferrule.
OTHER_NAMES = {
    "Tensor": "Array",
    "absolute": "abs",
    "amax": "max",
    "amin": "min",
    "array": "asarray",
    "cast": "astype",
    "cat": "concat",
    "compile": "graph",
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
    "tensor": "asarray",
    "transpose": "permute_dims",
    "true_divide": "divide",
    "unsqueeze": "expand_dims",
}


def advice(name: str, public: Iterable[str]) -> str:
    """Return the name to use instead of one that ferrule does not have; "" if there is none."""
    meant = OTHER_NAMES.get(name)
    if meant is not None:
        return f"; it is ferrule.{meant} here"
    return "" if name.startswith("_") else did_you_mean(name, public)


# From methods of other libraries' arrays to the equivalent code with ferrule.
_METHODS = {
    "clone": "ferrule.asarray(x, copy=True)",
    "cpu": 'x.to_device("cpu")',
    "cuda": "x.to_device(device)",
    "detach": "x",
    "dot": "x @ y",
    "double": 'x.astype("float64")',
    "fill": "x[...] = value",
    "float": 'x.astype("float32")',
    "half": 'x.astype("float16")',
    "mm": "x @ y",
    "numpy": "numpy.asarray(x)",
    "to": "x.to_device(device) or x.astype(dtype)",
    "tobytes": "numpy.asarray(x).tobytes()",
    "view": "x.reshape(shape)",
}


def method_advice(name: str, attributes: Iterable[str], public: Collection[str]) -> str:
    """Return advice on a public attribute that arrays do not have.

    `attributes` are those that they have, `public` the public names of ferrule.
    """
    function = OTHER_NAMES.get(name, name)
    meant = _METHODS.get(name, f"ferrule.{function}(x)" if function in public else None)
    return f"; it is {meant} here" if meant else did_you_mean(name, filter(_is_public, attributes))


def _is_public(name: str) -> bool:
    return not name.startswith("_")
