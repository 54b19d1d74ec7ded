"""PyTorch with `out=` where it has it: cuBLAS for products, its own kernels for the rest. Eager, not compiled."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from numpy.typing import NDArray

from benchmarks.contenders import NotOfferedError
from benchmarks.devices.cases import DeviceCase
from benchmarks.devices.contenders import Prepared, times_between_marks
from benchmarks.devices.inputs import EPSILON, Inputs, checked_rows


class Contender:
    """The GPU of the same UUID, timed by a pair of CUDA events around each call."""

    def __init__(self, device: str, uuid: str) -> None:
        del device
        try:
            self.torch: Any = import_module("torch")
        except ImportError:
            raise NotOfferedError("PyTorch is not installed") from None
        cuda = self.torch.cuda
        numbers = range(cuda.device_count()) if cuda.is_available() else range(0)
        known = {str(getattr(cuda.get_device_properties(i), "uuid", "")).lower(): i for i in numbers}
        if uuid not in known:  # versions before 2.4 do not tell UUIDs
            raise NotOfferedError("PyTorch does not see this device")
        cuda.set_device(known[uuid])
        self.torch.set_float32_matmul_precision("highest")  # no tf32
        self.device = self.torch.device("cuda", known[uuid])

    def describe(self) -> dict[str, str]:
        return {"version": self.torch.__version__, "cuda": str(self.torch.version.cuda)}

    def prepare(self, case: DeviceCase, inputs: Inputs) -> Prepared:
        if case.blocks:
            raise NotOfferedError("PyTorch has no weights in blocks")
        if "load" in case.op:
            return self._transfer(case, inputs[0])
        sets = [[self._operand(case, x) for x in inputs] for _ in range(case.operands)]
        function = self._function(case, sets[0])
        rows = checked_rows(case)

        def output() -> NDArray[Any]:
            result = function(*sets[0])
            result = result[0, 0] if case.op in ("attention", "decode") else result
            checked: NDArray[Any] = result[:rows].float().cpu().numpy()
            return checked

        if case.method == "queue":
            return Prepared(self._graph(lambda: [function(*operands) for operands in sets]), output)
        return Prepared(lambda i: function(*sets[i % len(sets)]), output)

    def wait(self) -> None:
        self.torch.cuda.synchronize()

    def release(self) -> None:
        self.torch.cuda.empty_cache()

    def event_times(self, run: Callable[[int], object], calls: int) -> list[float]:
        event = self.torch.cuda.Event
        return times_between_marks(
            run, calls, lambda: event(enable_timing=True), self.wait, lambda begin, end: begin.elapsed_time(end)
        )

    def _operand(self, case: DeviceCase, x: NDArray[Any]) -> Any:
        return self.torch.from_numpy(x).to(self.device).to(getattr(self.torch, case.dtype))

    def _graph(self, run: Callable[[], object]) -> Callable[[int], object]:
        """Replays what `run` does, as a CUDA graph."""
        graph = self.torch.cuda.CUDAGraph()
        side = self.torch.cuda.Stream()
        side.wait_stream(self.torch.cuda.current_stream())  # which copies the operands
        with self.torch.cuda.stream(side):
            run()  # PyTorch demands a warm-up on another stream before a capture
        self.torch.cuda.current_stream().wait_stream(side)
        with self.torch.cuda.graph(graph):
            kept = run()
        return lambda _: (graph.replay(), kept)[0]

    def _transfer(self, case: DeviceCase, source: NDArray[Any]) -> Prepared:
        given = self.torch.from_numpy(source.copy())
        # Nothing is right before a call has copied it.
        is_upload, is_pinned = case.op.startswith("upload"), "pinned" in case.op
        host = given if is_upload else self.torch.zeros_like(given)
        host = host.pin_memory() if is_pinned else host
        there = self.torch.zeros_like(given, device=self.device) if is_upload else given.to(self.device)
        target, origin = (there, host) if is_upload else (host, there)

        def transfer(_: int = 0) -> Any:
            return target.copy_(origin, non_blocking=True)

        def output() -> NDArray[Any]:
            transfer()
            self.wait()
            checked: NDArray[Any] = target[: checked_rows(case)].cpu().numpy()
            return checked

        return Prepared(transfer, output)

    def _function(self, case: DeviceCase, operands: list[Any]) -> Callable[..., Any]:
        torch, x = self.torch, operands[0]
        functional = torch.nn.functional
        out = torch.empty_like(x) if case.op in ("copy", "add", "transpose") else None
        width = x.shape[-1:]

        def small_ops(x: Any) -> Any:
            for _ in range(case.chained):
                x = torch.softmax(x, -1)
            return x

        functions: dict[str, Callable[..., Any]] = {
            "copy": lambda x: torch.neg(x, out=out),
            "add": lambda x, y: torch.add(x, y, out=out),
            "gelu": functional.gelu,
            "softmax": lambda x: torch.softmax(x, -1),
            "rms_norm": lambda x: functional.rms_norm(x, width, eps=EPSILON),
            "layer_norm": lambda x: functional.layer_norm(x, width, eps=EPSILON),
            "transpose": lambda x: out.copy_(x.T),  # type: ignore[union-attr]
            "sum 0": lambda x: torch.sum(x, 0),
            "sum 1": lambda x: torch.sum(x, 1),
            "matmul": torch.matmul,
            "product of weights": lambda x, w: x @ w.T,
            "attention": lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True),
            "decode": functional.scaled_dot_product_attention,
            "small ops": small_ops,
        }
        return functions[case.op]
