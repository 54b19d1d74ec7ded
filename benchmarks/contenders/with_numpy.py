"""NumPy with `out=`: BLAS uses the threads, everything else runs on one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_info, threadpool_limits  # type: ignore[import-untyped]

from benchmarks.cases import APPENDED, Case, Inputs, layer_norm_parameters
from benchmarks.contenders import NotOfferedError, Prepared

# These have no `out=`. Only a stable argsort gives the expected indices of equal elements.
RETURNING: dict[str, Callable[..., NDArray[Any]]] = {
    "sort": np.sort,
    "argsort": lambda x: np.argsort(x, kind="stable"),
    "searchsorted": np.searchsorted,
    "unique_counts": lambda x: np.unique_counts(x).counts,
}


class Contender:
    """The shortest code that allocates nothing in the timed call, except the statistics of rows."""

    def __init__(self, threads: int) -> None:
        self.limits = threadpool_limits(limits=threads)
        self.threads = threads

    def describe(self) -> dict[str, str]:
        pools = [f"{pool['internal_api']} {pool['version']} {pool['architecture']}" for pool in threadpool_info()]
        return {"version": np.__version__, "blas": ", ".join(pools)}

    def prepare(self, case: Case, inputs: Inputs) -> Prepared:
        if case.op == "minilm":
            raise NotOfferedError("no fused model in NumPy")
        out = inputs[0].copy() if case.op == "append" else np.empty_like(inputs[0])
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

        calls = {
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
        return Prepared(calls[case.op], lambda: out)
