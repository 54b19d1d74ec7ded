"""CuPy: what it has without further libraries of kernels."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from numpy.typing import NDArray

from benchmarks.contenders import NotOfferedError
from benchmarks.devices.cases import DeviceCase
from benchmarks.devices.contenders import Prepared, times_between_marks
from benchmarks.devices.inputs import Inputs, checked_rows


class Contender:
    """The GPU of the same UUID, timed by a pair of CUDA events around each call."""

    def __init__(self, device: str, uuid: str) -> None:
        del device
        try:
            self.cupy: Any = import_module("cupy")
        except ImportError:
            raise NotOfferedError("CuPy is not installed") from None
        runtime = self.cupy.cuda.runtime
        try:
            count = runtime.getDeviceCount()
        except runtime.CUDARuntimeError:
            count = 0
        known = {_first_bytes(runtime.getDeviceProperties(i)["uuid"]): i for i in range(count)}
        try:
            wanted = _first_bytes(bytes.fromhex(uuid.replace("-", "")))
        except ValueError:
            wanted = b"none"
        if wanted not in known:
            raise NotOfferedError("CuPy does not see this device")
        self.cupy.cuda.Device(known[wanted]).use()

    def describe(self) -> dict[str, str]:
        return {"version": self.cupy.__version__}

    def prepare(self, case: DeviceCase, inputs: Inputs) -> Prepared:
        functions = self._functions()
        if case.op not in functions or case.blocks or case.dtype == "bfloat16" or case.method != "events":
            raise NotOfferedError(f"CuPy has no {case.op} of {case.dtype}")
        operands = [self.cupy.asarray(x).astype(case.dtype) for x in inputs]
        function, rows = functions[case.op](operands), checked_rows(case)

        def output() -> NDArray[Any]:
            checked: NDArray[Any] = self.cupy.asnumpy(function(*operands)[:rows].astype("float32"))
            return checked

        return Prepared(lambda _: function(*operands), output)

    def wait(self) -> None:
        self.cupy.cuda.Device().synchronize()

    def release(self) -> None:
        self.cupy.get_default_memory_pool().free_all_blocks()

    def event_times(self, run: Callable[[int], object], calls: int) -> list[float]:
        cuda = self.cupy.cuda
        return times_between_marks(run, calls, cuda.Event, self.wait, cuda.get_elapsed_time)

    def _functions(self) -> dict[str, Callable[[list[Any]], Callable[..., Any]]]:
        cupy = self.cupy

        def into(function: Callable[..., Any]) -> Callable[[list[Any]], Callable[..., Any]]:
            def bind(operands: list[Any]) -> Callable[..., Any]:
                out = cupy.empty_like(operands[0])
                return lambda *x: function(*x, out=out)

            return bind

        return {
            "copy": into(cupy.negative),
            "add": into(cupy.add),
            "transpose": lambda operands: lambda x: cupy.ascontiguousarray(x.T),
            "sum 0": lambda operands: lambda x: x.sum(axis=0),
            "sum 1": lambda operands: lambda x: x.sum(axis=1),
            "matmul": into(cupy.matmul),
        }


def _first_bytes(uuid: bytes) -> bytes:
    """The bytes of a UUID before the first 0: CuPy converts them like the characters of a C string."""
    return bytes(uuid)[:16].split(b"\0")[0]
