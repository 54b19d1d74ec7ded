"""ferrule: one compiled graph for each case, with operands that are on the device."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import chain
from typing import Any

import ferrule as fe
import numpy as np
from numpy.typing import NDArray

from benchmarks.contenders import NotOfferedError
from benchmarks.devices.cases import DeviceCase
from benchmarks.devices.contenders import Prepared
from benchmarks.devices.inputs import EPSILON, Inputs, checked_rows

CUBLASLT = "FERRULE_CUDA_CUBLASLT"
Function = Callable[..., Any]


class Contender:
    """Kernels are timed by the events of `fe.profile`, which on a GPU are those of its queue."""

    def __init__(self, device: str, uuid: str, cublaslt: str = "0") -> None:
        del uuid
        os.environ[CUBLASLT] = cublaslt  # own kernels by default: with_cublaslt measures the library
        fe.load_all()
        self.device = fe.device(device)

    def describe(self) -> dict[str, str]:
        backend = self.device.backend
        variant = f" {backend.variant}" if backend.variant else ""
        return {"version": fe.__version__, "backend": f"{backend.name}{variant}"}

    def prepare(self, case: DeviceCase, inputs: Inputs) -> Prepared:
        if "load" in case.op:
            return self._transfer(case, inputs[0])
        sets = [[self._operand(case, x) for x in inputs] for _ in range(case.operands)]
        fe.eval(*chain(*sets))
        function = FUNCTIONS[case.op](case)
        rows = checked_rows(case)
        if case.method == "queue":
            width = len(inputs)
            every = fe.graph(lambda *x: tuple(function(*x[i : i + width]) for i in range(0, len(x), width)))
            operands = [*chain(*sets)]
            return Prepared(lambda _: every(*operands), lambda: _check(every(*operands)[0], case, rows))
        graph = fe.graph(function)
        return Prepared(lambda i: graph(*sets[i % len(sets)]), lambda: _check(graph(*sets[0]), case, rows))

    def wait(self) -> None:
        self.device.synchronize()

    def release(self) -> None:
        fe.trim()

    def event_times(self, run: Callable[[int], object], calls: int) -> list[float]:
        with fe.profile() as profile:
            for number in range(calls + 1):
                run(number)
        self.wait()  # raises if the device was lost, which the end of a profile does not
        name = self.device.name
        parts = [event for event in profile.events if event.kind == "kernel" and event.device == name]
        parts = parts or [event for event in profile.events if event.kind == "segment" and event.device == name]
        each = len(parts) // (calls + 1)
        if each == 0 or len(parts) != each * (calls + 1):
            raise RuntimeError(f"{name} reported {len(parts)} kernels for {calls + 1} calls")
        parts.sort(key=lambda event: event.begin_ns)
        # The first call is left out: its begin is not before the host submitted it, when the queue was idle.
        groups = [parts[i : i + each] for i in range(each, len(parts), each)]
        return [max((group[-1].end_ns - group[0].begin_ns) / 1e9, 1e-9) for group in groups]

    def _operand(self, case: DeviceCase, x: NDArray[Any]) -> fe.Array:
        if x.dtype == np.uint8:
            packed = fe.from_packed(x, case.blocks)
            return packed.to_device(self.device)
        there = fe.asarray(x, device=self.device, copy=True)
        return there if case.dtype == "float32" else there.astype(case.dtype)

    def _transfer(self, case: DeviceCase, source: NDArray[Any]) -> Prepared:
        host = fe.host_empty(source.shape, source.dtype, self.device) if "pinned" in case.op else source.copy()
        host[...] = source
        rows = checked_rows(case)
        if case.op.startswith("upload"):

            def upload(_: int = 0) -> fe.Array:
                array = fe.asarray(host, device=self.device, copy=True)
                fe.eval(array)
                return array

            return Prepared(upload, lambda: np.asarray(upload()[:rows]))
        if "pinned" in case.op:
            raise NotOfferedError("no function of ferrule downloads into memory that is there")
        there = fe.asarray(source, device=self.device, copy=True)
        fe.eval(there)
        return Prepared(lambda _: np.asarray(there[:]), lambda: np.asarray(there[:])[:rows])


def _check(result: fe.Array, case: DeviceCase, rows: int) -> NDArray[Any]:
    if case.op == "transpose":
        result = fe.reshape(result, case.shapes[0])
    elif case.op in ("attention", "decode"):
        result = result[0, 0]
    return np.asarray(result[:rows].astype("float32"))


def _weights(case: DeviceCase) -> Function:
    def function(x: fe.Array, w: fe.Array) -> fe.Array:
        if case.blocks:
            w = w.astype("float32").astype(case.dtype) if case.dtype != "float32" else w.astype("float32")
        return x @ w.T

    return function


def _small_ops(case: DeviceCase) -> Function:
    def function(x: fe.Array) -> fe.Array:
        for _ in range(case.chained):
            x = fe.softmax(x, axis=-1)
        return x

    return function


FUNCTIONS: dict[str, Callable[[DeviceCase], Function]] = {
    "copy": lambda case: fe.negative,  # it moves the bytes of a copy
    "add": lambda case: lambda x, y: x + y,
    "gelu": lambda case: fe.gelu,
    "softmax": lambda case: lambda x: fe.softmax(x, axis=-1),
    "rms_norm": lambda case: lambda x: fe.rms_norm(x, epsilon=EPSILON),
    "layer_norm": lambda case: lambda x: fe.layer_norm(x, epsilon=EPSILON),
    "transpose": lambda case: lambda x: fe.reshape(x.T, (-1,)),  # x.T alone is a view
    "sum 0": lambda case: lambda x: fe.sum(x, axis=0),
    "sum 1": lambda case: lambda x: fe.sum(x, axis=1),
    "matmul": lambda case: fe.matmul,
    "product of weights": _weights,
    "attention": lambda case: lambda q, k, v: fe.scaled_dot_product_attention(q, k, v, causal=True),
    "decode": lambda case: fe.scaled_dot_product_attention,
    "small ops": _small_ops,
}
