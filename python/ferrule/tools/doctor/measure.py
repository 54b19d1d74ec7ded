"""The test of one device: whether its results are correct, and how fast it is. Runs in a process of its own."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import ferrule as fe

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Problem sizes grow until one takes long enough to be timed, so that a slow device is not busy for minutes.
SIZES = (1 << 20, 8 << 20, 64 << 20)  # bytes of the arrays for the bandwidth
LARGEST = SIZES[-1]
SIDES = (128, 256, 512, 1024, 2048, 4096)  # rows and columns of the matrices
LONG, SECONDS = 0.05, 0.2  # seconds: a call that is long enough, and the time for one problem
TOLERANCE = 1e-4  # for values around 1; float32 has seven digits

Compute = Callable[[Any], Any]
At = Callable[[str], None]


class Wrong(Exception):  # noqa: N818 - a verdict
    """A result differs from NumPy's."""


class NothingOffered(Exception):  # noqa: N818 - no fault of the device's
    """The device supports none of the ops that are tried."""


def measure(device: fe.Device, at: At) -> dict[str, Any]:
    """Return `state` (works, wrong, unjudged or fails) and the findings up to then."""
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
        # A test device may compute anything.
        is_test = device.kind == "test"
        found.update(state="unjudged" if is_test else "wrong", message=str(error))
    except NothingOffered as error:
        found.update(state="unjudged", message=str(error))
    except Exception as error:
        found.update(state="fails", message=f"{type(error).__name__}: {error}")
    return found


def _check(device: fe.Device, at: At) -> str:
    """Compute on the device and compare with NumPy; return what was computed. Raises Wrong, NothingOffered."""
    rng = np.random.default_rng(0)
    # Steps of 1/16, which are the same numbers in tf32: a device that was asked to round products to it is not wrong.
    x, w, b = (rng.integers(-48, 49, shape).astype("float32") / 16 for shape in ((48, 64), (64, 32), (32,)))
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
    raise NothingOffered(f"it supports none of {', '.join(tried)} in float32")


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
    """Compile for this device only: an unsupported op is an error."""
    return fe.graph(function, device=device, fallback="error")


def _bandwidth(device: fe.Device) -> float | None:
    """Return GB/s read and written by a simple op on an array larger than caches; None if it is not supported."""
    most = LARGEST
    for bound in (device.memory[0], device.memory[1], device.info.get("max_allocation")):
        most = min(most, bound // 8) if bound else most
    lengths = [size // 4 for size in SIZES if size <= max(most, SIZES[0])]
    for simple in (lambda x: -x, lambda x: x + x):
        problems = ((np.ones(length, "float32"), 2 * 4 * length / 1e9) for length in lengths)
        rate = _rate(device, simple, problems)
        if rate is not None:
            return rate
    return None


def _matmul(device: fe.Device) -> float | None:
    """Return GFLOP/s of a float32 matrix product; None if it is not supported."""
    problems = ((np.full((side, side), 1 / side, "float32"), 2 * side**3 / 1e9) for side in SIDES)
    return _rate(device, lambda x: x @ x, problems)


def _rate(device: fe.Device, function: Compute, problems: Iterable[tuple[NDArray[Any], float]]) -> float | None:
    """Return the work per second on the first problem that takes long enough to be timed, or on the last one.

    The shortest of several calls counts: other load on the machine only adds time.
    """
    compute, rate = _on(device, function), None
    for source, work in problems:
        array = fe.asarray(source, device=device)
        try:
            shortest = _shortest(partial(compute, array))
        except fe.UnsupportedError:
            return None
        rate = work / shortest
        if shortest >= LONG:
            break
    return rate


def _shortest(call: Callable[[], Any]) -> float:
    """Return the time of the shortest call in seconds."""

    def timed() -> float:
        start = time.perf_counter()
        result = call()
        np.asarray(result[tuple(slice(1) for _ in result.shape)])  # waits until the device is done
        return time.perf_counter() - start

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that another device computes the slice
        timed()  # compiles
        shortest, end = timed(), time.perf_counter() + SECONDS
        while shortest < LONG and time.perf_counter() < end:
            shortest = min(shortest, timed())
    return shortest
