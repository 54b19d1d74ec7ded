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
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "array": "asarray",
    "bitwise_not": "bitwise_invert",
    "cast": "astype",
    "cat": "concat",
    "cholesky": "linalg.cholesky",
    "compile": "graph",
    "conjugate": "conj",
    "cross": "linalg.cross",
    "cumprod": "cumulative_prod",
    "cumsum": "cumulative_sum",
    "cumulative_product": "cumulative_prod",
    "det": "linalg.det",
    "eigh": "linalg.eigh",
    "fabs": "abs",
    "fix": "trunc",
    "fliplr": "flip",
    "flipud": "flip",
    "float_power": "pow",
    "from_numpy": "asarray",
    "frombuffer": "buffer_from_host_ptr",
    "function": "graph",
    "gather": "take_along_axis",
    "identity": "eye",
    "in1d": "isin",
    "index_select": "take",
    "inner": "vecdot",
    "inv": "linalg.inv",
    "invert": "bitwise_invert",
    "jit": "graph",
    "left_shift": "bitwise_left_shift",
    "load_safetensors": "io.open_safetensors",
    "manual_seed": "random.key",
    "mm": "matmul",
    "mod": "remainder",
    "multinomial": "random.categorical",
    "ndarray": "Array",
    "norm": "linalg.vector_norm",
    "permute": "permute_dims",
    "pinv": "linalg.pinv",
    "power": "pow",
    "qr": "linalg.qr",
    "reduce_sum": "sum",
    "repeat_interleave": "repeat",
    "rfft": "fft.rfft",
    "right_shift": "bitwise_right_shift",
    "rint": "round",
    "row_stack": "vstack",
    "safe_open": "io.open_safetensors",
    "set_num_threads": "set_thread_count",
    "solve": "linalg.solve",
    "svd": "linalg.svd",
    "take_along_dim": "take_along_axis",
    "tensor": "asarray",
    "transpose": "permute_dims",
    "true_divide": "divide",
    "unique": "unique_values",
    "unsqueeze": "expand_dims",
}


# The same in ferrule.linalg, ferrule.fft and ferrule.random.
_OTHER_NAMES_OF_MODULES = {
    "linalg": {
        "cond": "svdvals(x)[0] / svdvals(x)[-1]",
        "eigvals": "eigvalsh(x), if x is symmetric",
        "eig": "eigh(x), if x is symmetric",
        "lstsq": "pinv(a) @ b",
        "multi_dot": "ferrule.einsum",
        "norm": "vector_norm or matrix_norm",
    },
    "fft": {"fft2": "fftn(x, axes=(-2, -1))", "ifft2": "ifftn(x, axes=(-2, -1))", "rfft2": "rfftn(x, axes=(-2, -1))"},
    "random": {
        "default_rng": "key(seed)",
        "multinomial": "categorical",
        "rand": "uniform(key, shape)",
        "randint": "integers(key, shape, low, high)",
        "randn": "normal(key, shape)",
        "random": "uniform(key, shape)",
        "seed": "key(seed)",
        "shuffle": "permutation(key, x)",
    },
}


def missing_name(module: str, name: str, public: Iterable[str]) -> AttributeError:
    """Return the error for a name that ferrule.linalg, ferrule.fft or ferrule.random does not have."""
    meant = _OTHER_NAMES_OF_MODULES[module].get(name)
    instead = f"; use {meant}" if meant else "" if name.startswith("_") else did_you_mean(name, public)
    return AttributeError(f"module 'ferrule.{module}' has no attribute {name!r}{instead}", name=name)


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
