"""The parts of PyTorch and CuPy that the bench uses, over NumPy. The device does nothing until somebody waits for it,
and a stream that reads what another one writes must wait for it, as with a GPU."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np

UUID = "6c3f0a00-1234-5678-9abc-def012345678"  # with a byte that is 0
DTYPES = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


class Stream:
    """Work that is done when somebody waits, and the streams that it waits for."""

    def __init__(self) -> None:
        self.work: list[Callable[[], None]] = []
        self.knows: set[Stream] = {self}

    def wait_stream(self, other: Stream) -> None:
        self.knows |= other.knows


class Device:
    """The state of the emulated GPU."""

    def __init__(self) -> None:
        self.default = self.current = Stream()
        self.work: list[Callable[[], None]] = []  # of all streams, in the order of the calls
        self.captured: list[Callable[[], None]] | None = None
        self.ticks = 0  # the clock of its events

    def give(self, work: Callable[[], None]) -> None:
        (self.work if self.captured is None else self.captured).append(work)

    def synchronize(self) -> None:
        assert self.captured is None, "a wait during a capture"
        while self.work:
            self.work.pop(0)()

    @contextmanager
    def on(self, stream: Stream) -> Iterator[None]:
        before, self.current = self.current, stream
        yield
        self.current = before


class Tensor:
    """Elements on the host, or on the device: then they are there after the work of the device."""

    def __init__(self, device: Device | None, shape: Any, dtype: Any, values: Any = None) -> None:
        self.device, self.shape, self.dtype = device, tuple(shape), np.dtype(dtype)
        self.values = np.full(shape, 77, dtype) if values is None else values
        self.is_pinned = False
        self.writer = device.current if device else None

    def _check_reader(self) -> None:
        if self.device is not None:
            assert self.writer in self.device.current.knows, "a stream reads what another one may be writing"

    def _then(self, function: Callable[[Any], Any], shape: Any, dtype: Any = None) -> Tensor:
        return call(lambda: function(self.values), [self], shape, self.dtype if dtype is None else dtype)

    def to(self, target: Any) -> Tensor:
        if isinstance(target, Device):
            made = Tensor(target, self.shape, self.dtype)
            return made.copy_(self)
        return self._then(lambda x: x.astype(target), self.shape, target)

    def copy_(self, source: Tensor, non_blocking: bool = False) -> Tensor:
        device = self.device or source.device
        assert device is not None
        source._check_reader()
        is_slow = not non_blocking or not (source if source.device is None else self).is_pinned
        values = np.array(source.values) if source.device is None and is_slow else None

        def copy() -> None:
            self.values[...] = source.values if values is None else values

        device.give(copy)
        self.writer = device.current
        if self.device is None and is_slow:
            device.synchronize()
        return self

    def pin_memory(self) -> Tensor:
        assert self.device is None
        made = Tensor(None, self.shape, self.dtype, self.values.copy())
        made.is_pinned = True
        return made

    def float(self) -> Tensor:
        return self.to(np.float32)

    def cpu(self) -> Tensor:
        if self.device is not None:
            self.device.synchronize()
        return Tensor(None, self.shape, self.dtype, self.values.copy())

    def numpy(self) -> Any:
        assert self.device is None, "TypeError of PyTorch: copy the tensor to host memory first"
        return self.values

    def __getitem__(self, key: Any) -> Tensor:
        if self.device is None:
            return Tensor(None, self.values[key].shape, self.dtype, self.values[key])
        return self._then(lambda x: x[key], self.values[key].shape)

    @property
    def T(self) -> Tensor:  # noqa: N802 (PyTorch's name)
        return self._then(lambda x: x.T, self.shape[::-1])

    def __matmul__(self, other: Tensor) -> Tensor:
        return matmul(self, other)


def call(
    function: Callable[[], Any], inputs: list[Tensor], shape: Any, dtype: Any, out: Tensor | None = None
) -> Tensor:
    device = inputs[0].device
    if device is None:
        return Tensor(None, shape, dtype, np.asarray(function()).astype(dtype))
    for x in inputs:
        x._check_reader()
    result = Tensor(device, shape, dtype) if out is None else out

    def work() -> None:
        result.values[...] = np.asarray(function()).astype(dtype)

    device.give(work)
    result.writer = device.current
    return result


def matmul(x: Tensor, y: Tensor) -> Tensor:
    return call(lambda: wide(x) @ wide(y), [x, y], (x.shape[0], y.shape[1]), x.dtype)


def wide(x: Tensor) -> Any:
    return x.values.astype(np.float64)


def softmax(x: Any) -> Any:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def attention(q: Tensor, k: Tensor, v: Tensor, is_causal: bool = False) -> Tensor:
    def compute() -> Any:
        scores = wide(q) @ np.swapaxes(wide(k), -1, -2) / math.sqrt(q.shape[-1])
        if is_causal:
            scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
        return softmax(scores) @ wide(v)

    return call(compute, [q, k, v], q.shape, q.dtype)


def centred(x: Any) -> Any:
    return x - x.mean(-1, keepdims=True)


def normalised(x: Any, eps: float) -> Any:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps)


def torch_of(device: Device, uuid: str = UUID) -> Any:
    """A module `torch` with one GPU."""

    def elementwise(function: Callable[..., Any]) -> Callable[..., Tensor]:
        return lambda *x, out=None: call(lambda: function(*map(wide, x)), list(x), x[0].shape, x[0].dtype, out)

    def summed(x: Tensor, axis: int) -> Tensor:
        return call(lambda: wide(x).sum(axis), [x], (x.shape[1 - axis],), x.dtype)

    class Graph:
        def __init__(self) -> None:
            self.work: list[Callable[[], None]] = []

        def replay(self) -> None:
            for one in self.work:
                device.give(one)

    @contextmanager
    def capture(graph: Graph) -> Iterator[None]:
        device.synchronize()
        assert device.default.knows != {device.default}, "PyTorch demands a warm-up on another stream"
        device.captured = graph.work
        yield
        device.captured = None

    class Event:
        def __init__(self, enable_timing: bool = False) -> None:
            assert enable_timing
            self.time = -1

        def record(self) -> None:
            def mark() -> None:
                device.ticks = self.time = device.ticks + 1

            device.give(mark)

        def elapsed_time(self, other: Event) -> float:
            assert 0 < self.time < other.time, "an event that is not recorded yet"
            return float(other.time - self.time)

    cuda = SimpleNamespace(
        is_available=lambda: True,
        device_count=lambda: 1,
        get_device_properties=lambda number: SimpleNamespace(uuid=uuid),
        set_device=lambda number: None,
        synchronize=device.synchronize,
        empty_cache=lambda: None,
        Event=Event,
        CUDAGraph=Graph,
        Stream=Stream,
        stream=device.on,
        current_stream=lambda: device.current,
        graph=capture,
    )
    functional = SimpleNamespace(
        gelu=elementwise(lambda x: 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))),
        rms_norm=lambda x, width, eps: elementwise(lambda x: normalised(x, eps))(x),
        layer_norm=lambda x, width, eps: elementwise(lambda x: normalised(centred(x), eps))(x),
        scaled_dot_product_attention=attention,
    )
    return SimpleNamespace(
        __version__="0",
        version=SimpleNamespace(cuda="13.0"),
        cuda=cuda,
        nn=SimpleNamespace(functional=functional),
        set_float32_matmul_precision=lambda precision: None,
        device=lambda kind, number: device,
        from_numpy=lambda x: Tensor(None, x.shape, x.dtype, x),
        empty_like=lambda x: Tensor(x.device, x.shape, x.dtype),
        zeros_like=lambda x, device=None: Tensor(device or x.device, x.shape, x.dtype, np.zeros(x.shape, x.dtype)),
        neg=elementwise(np.negative),
        add=elementwise(np.add),
        softmax=lambda x, axis: elementwise(softmax)(x),
        sum=summed,
        matmul=matmul,
        **DTYPES,
    )


def cupy_of(uuid: str = UUID) -> Any:
    """A module `cupy` with one GPU, which has done each call when it returns."""
    properties = {"uuid": bytes.fromhex(uuid.replace("-", "")).split(b"\0")[0]}
    runtime = SimpleNamespace(
        getDeviceCount=lambda: 1, getDeviceProperties=lambda number: properties, CUDARuntimeError=RuntimeError
    )
    device = SimpleNamespace(use=lambda: None, synchronize=lambda: None)
    cuda = SimpleNamespace(
        runtime=runtime,
        Device=lambda number=0: device,
        Event=lambda: SimpleNamespace(record=lambda: None),
        get_elapsed_time=lambda begin, end: 1.0,
    )
    pool = SimpleNamespace(free_all_blocks=lambda: None)
    names = ("asarray", "negative", "add", "ascontiguousarray", "matmul", "empty_like")
    functions = {name: getattr(np, name) for name in names}
    return SimpleNamespace(
        __version__="0", cuda=cuda, asnumpy=np.asarray, get_default_memory_pool=lambda: pool, **functions
    )
