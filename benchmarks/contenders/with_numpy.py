"""NumPy with `out=`, and SciPy's Fourier transforms: BLAS, LAPACK and these use the threads, all else runs on one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.fft  # type: ignore[import-untyped]
from numpy.typing import NDArray
from threadpoolctl import threadpool_info, threadpool_limits  # type: ignore[import-untyped]

from benchmarks.cases import APPENDED, Case, Inputs, layer_norm_parameters, product_of_factors
from benchmarks.contenders import NotOfferedError, Prepared

# These have no `out=`. Only a stable argsort gives the expected indices of equal elements.
RETURNING: dict[str, Callable[..., NDArray[Any]]] = {
    "sort": np.sort,
    "argsort": lambda x: np.argsort(x, kind="stable"),
    "searchsorted": np.searchsorted,
    "unique_counts": lambda x: np.unique_counts(x).counts,
    "pairs": lambda x, i, j: x[i, j],
    "solve": np.linalg.solve,
}
FACTORS: dict[str, Callable[..., Any]] = {
    "qr": np.linalg.qr,
    "svd": lambda x: np.linalg.svd(x, full_matrices=False),
    "eigh": np.linalg.eigh,
}
TRANSFORMS: dict[str, Callable[..., NDArray[Any]]] = {
    "fft": scipy.fft.fft,
    "fft2": scipy.fft.fftn,
    "rfft": scipy.fft.rfft,
}


class Contender:
    """The shortest code that allocates nothing in the timed call, except the statistics of rows."""

    def __init__(self, threads: int) -> None:
        self.limits = threadpool_limits(limits=threads)
        self.threads = threads

    def describe(self) -> dict[str, str]:
        pools = [f"{pool['internal_api']} {pool['version']} {pool['architecture']}" for pool in threadpool_info()]
        return {"version": np.__version__, "scipy": scipy.__version__, "blas": ", ".join(pools)}

    def prepare(self, case: Case, inputs: Inputs) -> Prepared:
        if case.op in ("minilm", "smollm2", "linear", "matmul_integer"):
            raise NotOfferedError(f"no {case.op} in NumPy")
        if case.op in FACTORS:
            factors = FACTORS[case.op]
            return Prepared(lambda: factors(*inputs), lambda: product_of_factors(case.op, factors(*inputs)))
        if case.op in TRANSFORMS:
            transform = partial(TRANSFORMS[case.op], *inputs, workers=self.threads)
            return Prepared(transform, transform)
        out = inputs[0].copy() if case.op == "append" else np.empty_like(inputs[0])
        sums = np.empty(len(inputs[0]), case.dtype)
        scale, shift = layer_norm_parameters()

        def softmax() -> None:
            x = inputs[0]
            np.subtract(x, x.max(axis=1, keepdims=True), out=out)
            np.exp(out, out=out)
            np.divide(out, out.sum(axis=1, keepdims=True), out=out)

        def layer_norm() -> None:
            x = inputs[0]
            np.subtract(x, x.mean(axis=1, keepdims=True), out=out)
            variance: NDArray[Any] = np.einsum("ij,ij->i", out, out)[:, None] / x.shape[1]
            np.divide(out, np.sqrt(variance + np.float32(1e-12)), out=out)
            np.multiply(out, scale, out=out)
            np.add(out, shift, out=out)

        def write_mask() -> None:
            np.copyto(out, inputs[0])
            out[inputs[1]] = inputs[2]

        calls = {
            "write_mask": write_mask,
            "vecdot": lambda: np.vecdot(inputs[0], inputs[1], out=sums),
            "matvec": lambda: np.matmul(inputs[0], inputs[1], out=sums),
            "matmul": lambda: np.matmul(inputs[0], inputs[1], out=out),
            "add": lambda: np.add(inputs[0], inputs[1], out=out),
            "eager add": lambda: np.add(inputs[0], inputs[1], out=out),
            "append": lambda: out.__setitem__(APPENDED, inputs[1][0]),
            "exp": lambda: np.exp(inputs[0], out=out),
            "softmax": softmax,
            "layer_norm": layer_norm,
            "cumulative_sum": lambda: np.cumsum(inputs[0], out=out),
            "take": lambda: np.take(inputs[0], inputs[1], out=out, mode="clip"),  # mode "raise" copies the result
        }
        if case.op in RETURNING:
            return Prepared(lambda: RETURNING[case.op](*inputs), lambda: RETURNING[case.op](*inputs))
        return Prepared(calls[case.op], lambda: sums if case.op in ("vecdot", "matvec") else out)
