"""One device: whether it computes rightly, and how fast it is. Runs in a process of its own."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    import ferrule as fe

LARGEST = 64 << 20  # bytes of the array that is streamed
LEAST = 1 << 20
SECONDS = 0.4  # for each figure
SIDES = (128, 256, 512, 1024, 2048, 4096)  # of the matrices, until one takes long enough to be timed
LONG = 0.05  # seconds
TOLERANCE = 1e-4  # of values around one; float32 has seven digits

Compute = Callable[[Any], Any]
At = Callable[[str], None]


class Wrong(Exception):  # noqa: N818 - a verdict
    """A result is not NumPy's."""


class NothingOffered(Exception):  # noqa: N818 - no fault of the device's
    """The device has none of the ops that are tried."""


def measure(device: fe.Device, at: At) -> dict[str, Any]:
    """`state` is works, wrong, unjudged or fails; with it whatever else came out before that was known."""
    found: dict[str, Any] = {"state": "works", "message": ""}
    at("opening it")
    try:
        device.open()
        found["free"], found["total"] = device.memory
        found["computation"] = _check(device, at)
        at("measuring its bandwidth")
        found["bandwidth"] = _bandwidth(device)
        at("measuring a matrix product")
        found["matmul"] = _matmul(device)
    except Wrong as error:
        # What a test device computes is its own affair.
        is_test = device.kind == "test"
        found.update(state="unjudged" if is_test else "wrong", message=str(error))
    except NothingOffered as error:
        found.update(state="unjudged", message=str(error))
    except Exception as error:
        found.update(state="fails", message=f"{type(error).__name__}: {error}")
    return found


def _check(device: fe.Device, at: At) -> str:
    """What was computed. Raises Wrong, NothingOffered."""
    import ferrule as fe

    rng = np.random.default_rng(0)
    x, w, b = (rng.standard_normal(shape).astype("float32") for shape in ((48, 64), (64, 32), (32,)))
    wide = x.astype("float64")
    tried: dict[str, tuple[Callable[..., Any], NDArray[Any]]] = {
        "softmax(x @ w + b)": (lambda x, w, b: fe.softmax(x @ w + b, axis=-1), _softmax(wide @ w + b)),
        "x * x + x": (lambda x, w, b: x * x + x, wide * wide + wide),
        "x + x": (lambda x, w, b: x + x, wide + wide),
        "softmax(x)": (lambda x, w, b: fe.softmax(x, axis=-1), _softmax(wide)),
    }
    for text, (function, truth) in tried.items():
        at(f"computing {text}")
        try:
            got = np.asarray(_on(device, function)(x, w, b))
        except fe.UnsupportedError:
            continue
        _compare(text, got, truth)
        return text
    raise NothingOffered(f"it offers none of {', '.join(tried)} in float32, which is what is tried here")


def _softmax(x: NDArray[Any]) -> NDArray[Any]:
    raised = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def _compare(text: str, got: NDArray[Any], truth: NDArray[Any]) -> None:
    if got.shape != truth.shape:
        raise Wrong(f"{text} has the shape {got.shape}, and NumPy's {truth.shape}")
    distance = np.abs(got.astype("float64") - truth)
    worst = np.unravel_index(int(np.argmax(np.where(np.isnan(distance), np.inf, distance))), truth.shape)
    if not distance[worst] <= TOLERANCE:
        index = tuple(int(i) for i in worst)
        raise Wrong(f"element {index} of {text} is {got[worst]:.7g}, and NumPy's is {truth[worst]:.7g}")


def _on(device: fe.Device, function: Callable[..., Any]) -> Callable[..., Any]:
    """Compiled for the device, and for no other: what it lacks is an error."""
    import ferrule as fe

    return fe.graph(function, device=device, fallback="error")


def _bandwidth(device: fe.Device) -> float | None:
    """GB/s read and written by the simplest op over an array that no cache holds; None where it is not offered."""
    import ferrule as fe

    size = LARGEST
    for bound in (device.memory[0], device.memory[1], device.info.get("max_allocation")):
        size = min(size, bound // 8) if bound else size
    array = fe.asarray(np.ones(max(size, LEAST) // 4, "float32"), device=device)
    simple: tuple[Compute, ...] = (lambda x: -x, lambda x: x + x)
    rates = (_rate(_on(device, compute), 2 * array.nbytes / 1e9, array) for compute in simple)
    return next((rate for rate in rates if rate is not None), None)


def _matmul(device: fe.Device) -> float | None:
    """GFLOP/s of a float32 product whose size is what the device does in a twentieth of a second."""
    import ferrule as fe

    best: float | None = None
    for side in SIDES:
        x = fe.asarray(np.full((side, side), 1 / side, "float32"), device=device)
        work = 2 * side**3 / 1e9
        best = _rate(_on(device, lambda x: x @ x), work, x)
        if best is None or work / best >= LONG:
            break
    return best


def _rate(compute: Callable[..., Any], work: float, array: fe.Array) -> float | None:
    """Of the shortest of several calls: whatever else the machine does only adds to them."""
    import ferrule as fe

    def call() -> None:
        result = compute(array)
        np.asarray(result[tuple(slice(1) for _ in result.shape)])  # there when the device is done

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call()
        except fe.UnsupportedError:
            return None
        shortest, end = float("inf"), time.perf_counter() + SECONDS
        while (start := time.perf_counter()) < end:
            call()
            shortest = min(shortest, time.perf_counter() - start)
    return work / shortest
