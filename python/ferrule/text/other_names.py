"""The names that other libraries have for functions and methods of ferrule."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ferrule.text.near_names import did_you_mean

# From names in NumPy, PyTorch, JAX and TensorFlow to those in ferrule.
OTHER_NAMES = {
    "PRNGKey": "random.key",
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
    "diagonal": "linalg.diagonal",
    "eig": "linalg.eig",
    "eigh": "linalg.eigh",
    "eigvals": "linalg.eigvals",
    "fabs": "abs",
    "fix": "trunc",
    "float_power": "pow",
    "from_numpy": "asarray",
    "frombuffer": "buffer_from_host_ptr",
    "function": "graph",
    "gather": "take_along_axis",
    "identity": "eye",
    "in1d": "isin",
    "index_select": "take",
    "inv": "linalg.inv",
    "invert": "bitwise_invert",
    "jit": "graph",
    "left_shift": "bitwise_left_shift",
    "load_safetensors": "io.open_safetensors",
    "manual_seed": "random.key",
    "seed": "random.key",
    "mm": "matmul",
    "mod": "remainder",
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
    "save_file": "io.save_safetensors",
    "set_num_threads": "set_thread_count",
    "solve": "linalg.solve",
    "svd": "linalg.svd",
    "take_along_dim": "take_along_axis",
    "tensor": "asarray",
    "true_divide": "divide",
    "unique": "unique_values",
    "unsqueeze": "expand_dims",
}

# Functions of those libraries that other code replaces.
_REPLACED = {
    "Generator": "ferrule.random.key(seed)",
    "diag": "ferrule.linalg.diagonal(x) of a matrix, ferrule.eye(len(v)) * v of a vector",
    "dropout": "ferrule.where(ferrule.random.bernoulli(key, 1 - p, x.shape), x / (1 - p), 0)",
    "embedding": "ferrule.take(weights, indices, axis=0)",
    "empty_cache": "ferrule.trim()",
    "fliplr": "ferrule.flip(x, axis=1)",
    "flipud": "ferrule.flip(x, axis=0)",
    "inner": "ferrule.vecdot(x, y) of vectors, x @ y.mT of matrices",
    "loadtxt": "ferrule.asarray(numpy.loadtxt(path))",
    "linear": "x @ weight.T + bias",
    "multinomial": "ferrule.random.choice(key, n, shape, p=probabilities)",
    "normal": "ferrule.random.normal(key, shape)",
    "one_hot": "indices[..., None] == ferrule.arange(n)",
    "rand": "ferrule.random.uniform(key, shape)",
    "randint": "ferrule.random.integers(key, shape, low, high)",
    "randn": "ferrule.random.normal(key, shape)",
    "randperm": "ferrule.random.permutation(key, n)",
    "save": "ferrule.io.save_safetensors(path, {name: x}), and graph.save(path) of a graph",
    "savez": "ferrule.io.save_safetensors(path, {name: x})",
    "set_printoptions": "numpy.set_printoptions",
}

# Names that ferrule does not have. The value says what it has instead, or why there is nothing.
_LACKING = {
    **dict.fromkeys(
        (
            "autograd",
            "backward",
            "grad",
            "jacfwd",
            "jacrev",
            "no_grad",
            "requires_grad",
            "stop_gradient",
            "value_and_grad",
        ),
        "ferrule computes no derivatives",
    ),
    **dict.fromkeys(
        (
            *("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "convolve"),
            *("correlate", "fold", "unfold"),
        ),
        "ferrule has no convolutions",
    ),
    **dict.fromkeys(
        [f"{kind}_pool{rank}d" for kind in ("avg", "max", "adaptive_avg", "adaptive_max") for rank in (1, 2, 3)],
        "ferrule has no pooling; windows that do not overlap are axes of x.reshape(n, c, h // 2, 2, w // 2, 2)",
    ),
    **dict.fromkeys(
        ("binary_cross_entropy", "cross_entropy", "l1_loss", "mse_loss", "nll_loss"),
        "ferrule has no losses, but functions such as ferrule.log_softmax and ferrule.mean",
    ),
    **dict.fromkeys(
        ("Conv1d", "Conv2d", "Conv3d", "Linear", "Module", "nn"),
        "ferrule has no layers, but functions such as ferrule.softmax",
    ),
    "vmap": "ferrule has none; its functions take any number of leading axes",
}


# Names of other libraries in ferrule.linalg, ferrule.fft and ferrule.random.
_OTHER_NAMES_OF_MODULES = {
    "linalg": {
        "cond": "svdvals(x)[..., 0] / svdvals(x)[..., -1]",
        "lstsq": "pinv(a) @ b",
        "multi_dot": "ferrule.einsum",
        "norm": "vector_norm or matrix_norm",
    },
    "fft": {"fft2": "fftn(x, axes=(-2, -1))", "ifft2": "ifftn(x, axes=(-2, -1))", "rfft2": "rfftn(x, axes=(-2, -1))"},
    "random": {
        "PRNGKey": "key(seed)",
        "default_rng": "key(seed)",
        "multinomial": "choice(key, n, shape, p=probabilities)",
        "rand": "uniform(key, shape)",
        "randint": "integers(key, shape, low, high)",
        "randn": "normal(key, shape)",
        "randperm": "permutation(key, n)",
        "random": "uniform(key, shape)",
        "seed": "key(seed)",
        "shuffle": "permutation(key, x)",
        "standard_normal": "normal(key, shape)",
    },
}


def missing_name(module: str, name: str, public: Iterable[str]) -> AttributeError:
    """Return the error for a name that ferrule.linalg, ferrule.fft or ferrule.random does not have."""
    meant = _OTHER_NAMES_OF_MODULES[module].get(name)
    instead = f"; use {meant}" if meant else "" if name.startswith("_") else did_you_mean(name, public)
    return AttributeError(f"module 'ferrule.{module}' has no attribute {name!r}{instead}", name=name)


def advice(name: str, public: Iterable[str]) -> str:
    """Return what to use instead of a name that ferrule does not have; "" if there is nothing."""
    meant = f"ferrule.{OTHER_NAMES[name]}" if name in OTHER_NAMES else None
    return _advice(name, meant or _REPLACED.get(name), public)


def _advice(name: str, meant: str | None, near: Iterable[str]) -> str:
    if meant is not None:
        return f"; it is {meant} here"
    if name in _LACKING:
        return f"; {_LACKING[name]}"
    return "" if name.startswith("_") else did_you_mean(name, near)


# From methods of other libraries' arrays to the equivalent code with ferrule.
_METHODS = {
    "at": "x[key] = value",
    "clone": "ferrule.asarray(x, copy=True)",
    "contiguous": "x",
    "cpu": 'x.to_device("cpu")',
    "cuda": "x.to_device(device)",
    "detach": "x",
    "dot": "x @ y",
    "double": 'x.astype("float64")',
    "fill": "x[...] = value",
    "float": 'x.astype("float32")',
    "half": 'x.astype("float16")',
    "mm": "x @ y",
    "strides": "numpy.asarray(x).strides",
    "to": "x.to_device(device) or x.astype(dtype)",
    "tobytes": "bytes(x)",
    "view": "x.reshape(shape)",
}


def method_advice(name: str, attributes: Iterable[str], public: Collection[str]) -> str:
    """Return advice on a public attribute that arrays do not have.

    `attributes` are those that they have, `public` the public names of ferrule.
    """
    function = OTHER_NAMES.get(name, name if name in public else None)
    meant = _METHODS.get(name) or (f"ferrule.{function}(x)" if function else _REPLACED.get(name))
    return _advice(name, meant, filter(_is_public, attributes))


def _is_public(name: str) -> bool:
    return not name.startswith("_")
