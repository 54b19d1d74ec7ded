"""ferrule as an application uses it: arrays that borrow NumPy's memory, and one compiled graph, called repeatedly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ferrule as fe
import numpy as np
from chat import find_model
from llama import PART, Llama, Sizes, room_for
from minilm import MiniLM
from model_files import find_model_files

from benchmarks.cases import APPENDED, Case, Inputs, layer_norm_parameters, product_of_factors
from benchmarks.contenders import Prepared


class Contender:
    """Uses the CPU device, because the peers have only that."""

    def __init__(self, threads: int) -> None:
        fe.load_all()
        fe.set_thread_count(threads)
        self.device = fe.device("cpu")

    def describe(self) -> dict[str, str]:
        backend = self.device.backend
        return {"version": fe.__version__, "backend": f"{backend.name} {backend.variant}"}

    def prepare(self, case: Case, inputs: Inputs) -> Prepared:
        if case.op == "minilm":
            inputs = (inputs[0], inputs[1].astype(np.bool_))
        if case.op == "append":
            return appending(*(fe.asarray(x, device=self.device) for x in inputs))
        if case.op == "linear":
            weights = fe.from_packed(inputs[1], case.weights, device=self.device)
            product = fe.graph(lambda x: fe.linear(x, weights, activation=case.activation))
            x = fe.asarray(inputs[0], device=self.device)
            return Prepared(lambda: fe.eval(product(x)), lambda: np.asarray(product(x)))
        if case.op == "smollm2":
            return self._language_model(case.activation, *inputs)
        function = self._function(case)
        arrays = [fe.asarray(x, device=self.device) for x in inputs]
        if case.op in ("qr", "svd", "eigh"):
            return Prepared(
                lambda: fe.eval(function(*arrays)),
                lambda: product_of_factors(case.op, [np.asarray(factor) for factor in function(*arrays)]),
            )
        return Prepared(lambda: fe.eval(function(*arrays)), lambda: np.asarray(function(*arrays)))

    def _language_model(self, activation: str, before: Any, ids: Any) -> Prepared:
        file = fe.io.open_gguf(find_model(), device=self.device)
        model = Llama(file, Sizes.of(file.metadata), 1024, self.device, activation)
        empty = fe.zeros(1, dtype="int64", device=self.device)
        state = (empty, *model.caches(1, room_for(1024)))

        def read(ids: Any, position: int) -> None:
            nonlocal state
            for begin in range(0, len(ids), PART):
                part = fe.asarray(ids[None, begin : begin + PART], device=self.device)
                _, keys, values = state
                state = model.read(part, keys, values, position + begin, part.shape[1] - 1, empty)
            fe.eval(state[0])

        read(before, 0)
        return Prepared(lambda: read(ids, len(before)), lambda: np.asarray(state[0]))

    def _function(self, case: Case) -> Callable[..., Any]:
        if case.op == "minilm":
            encode: Callable[..., fe.Array] = MiniLM(find_model_files().weights, self.device).encode
            return encode
        if case.op == "eager add":
            return lambda x, y: x + y
        if case.op == "write_mask":  # the arrays are those of a caller: it keeps x
            return written
        if case.op == "pairs":
            return lambda x, i, j: x[i, j]
        if case.op == "unique_counts":  # the length of its result depends on values, which a graph does not allow
            return lambda x: fe.unique_counts(x).counts
        function = layer_norm(self.device) if case.op == "layer_norm" else FUNCTIONS[case.op]
        compiled: Callable[..., Any] = fe.graph(function)
        return compiled


def written(x: fe.Array, mask: fe.Array, values: fe.Array) -> fe.Array:
    result = fe.asarray(x)
    result[mask] = values
    return result


def appending(x: fe.Array, row: fe.Array) -> Prepared:
    """Appends as a decoder does: the cache is donated to each call, and is its result."""
    append = fe.graph(lambda cache, row, i: fe.update_slice(cache, row, (i, 0)), donate=0)
    caches = [x * 1]

    def call() -> None:
        caches.append(append(caches.pop(), row, APPENDED))

    return Prepared(call, lambda: np.asarray(caches[0] * 1))


def layer_norm(device: fe.Device) -> Callable[..., fe.Array]:
    """Scale and shift are arrays from before the trace, and so constants of the graph."""
    scale, shift = (fe.asarray(x, device=device) for x in layer_norm_parameters())
    return lambda x: fe.layer_norm(x, scale, shift, epsilon=1e-12)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "matmul": fe.matmul,
    "matmul_integer": lambda x, y: fe.matmul(x, y, dtype="int32"),
    "add": lambda x, y: x + y,
    "exp": fe.exp,
    "softmax": lambda x: fe.softmax(x, axis=-1),
    "sort": fe.sort,
    "argsort": fe.argsort,
    "take": fe.take,
    "cumulative_sum": fe.cumulative_sum,
    "searchsorted": fe.searchsorted,
    "vecdot": fe.vecdot,
    "matvec": fe.matmul,
    "solve": fe.linalg.solve,
    "qr": fe.linalg.qr,
    "svd": lambda x: fe.linalg.svd(x, full_matrices=False),
    "eigh": fe.linalg.eigh,
    "fft": fe.fft.fft,
    "fft2": fe.fft.fftn,
    "rfft": fe.fft.rfft,
}
