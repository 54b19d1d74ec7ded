"""Exchange of device memory with other libraries, on a simulated device that another library also knows."""

from __future__ import annotations

import gc
import threading
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.late_devices import held_device, in_own_process, open_devices

PACES = ["late", "threaded"]


class Tensor:
    """Another library's tensor: it exports what the array exports, and records the requests."""

    def __init__(self, array: fe.Array, place: tuple[int, int] | None = None) -> None:
        self.array, self.place = array, place
        self.asked: list[dict[str, Any]] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.place or self.array.__dlpack_device__()

    def __dlpack__(self, **arguments: Any) -> object:
        self.asked.append(arguments)
        return self.array.__dlpack__(**arguments)


@in_own_process
def test_device_memory_is_shared_without_waiting() -> None:
    with held_device() as (device, release):
        made = fe.asarray(np.arange(1000, dtype=np.float32), device=device) * 2
        fe.eval(made, wait=False)
        assert made.__dlpack_device__()[0] != 1
        tensor = Tensor(made)
        x = fe.from_dlpack(tensor)
        assert tensor.asked[0]["stream"] > 2
        assert x.placement == "borrowed"
        assert x.device == device
        assert not made.is_ready
        release()
        y = x + 1
        del made, tensor, x
        assert np.asarray(y).tolist() == (np.arange(1000) * 2 + 1).tolist()


@pytest.mark.parametrize("pace", PACES)
@in_own_process
def test_layouts_and_dtypes_match_the_source(pace: str) -> None:
    device, _ = open_devices(pace)
    for dtype in ("bool", "int8", "float16", "float32", "float64", "complex64", "uint64"):
        host = (np.arange(60) % 2 if dtype == "bool" else np.arange(60)).astype(dtype).reshape(3, 4, 5)
        whole = fe.asarray(host, device=device)
        for cut in (np.s_[...], np.s_[::-1, 1:, ::2], np.s_[1, 2], np.s_[1, 2, 3], np.s_[:0]):
            view = whole[cut]
            x = fe.from_dlpack(Tensor(view))
            assert x.dtype == host.dtype
            assert np.array_equal(np.asarray(x), host[cut]), (dtype, cut)
            assert np.array_equal(np.asarray(fe.from_dlpack(Tensor(view), copy=True)), host[cut]), (dtype, cut)


@in_own_process
def test_bools_are_imported_by_copy() -> None:
    device, _ = open_devices()
    x = fe.from_dlpack(Tensor(fe.asarray(np.array([True, False]), device=device)))
    assert x.dtype == bool
    with pytest.raises(fe.InvalidArgumentError, match="bools are copied"):
        fe.from_dlpack(Tensor(fe.asarray(np.array([True]), device=device)), copy=False)


@in_own_process
def test_request_for_host_memory_gives_a_copy() -> None:
    device, _ = open_devices()
    made = fe.asarray(np.arange(5.0), device=device) + 1
    tensor = Tensor(made)
    x = fe.from_dlpack(tensor, device="cpu")
    assert x.device.name == "cpu:0"
    assert tensor.asked[0]["dl_device"] == (1, 0)
    assert np.asarray(x).tolist() == [1, 2, 3, 4, 5]
    with pytest.raises(fe.InvalidArgumentError, match="copy=False forbids"):
        fe.from_dlpack(tensor, device="cpu", copy=False)
    with pytest.raises(BufferError, match="copy is needed"):
        made.__dlpack__(dl_device=(1, 0), max_version=(1, 0), copy=False)
    with pytest.raises(BufferError, match=r"not of \(2, 0\)"):
        made.__dlpack__(dl_device=(2, 0), max_version=(1, 0))


@in_own_process
def test_memory_of_a_device_that_is_not_loaded_is_refused() -> None:
    device, other = open_devices()
    made = fe.asarray(np.arange(5.0), device=device)
    with pytest.raises(fe.UnsupportedError, match=r"DLPack's device \(2, 3\), which no loaded device has"):
        fe.from_dlpack(Tensor(made, (2, 3)))
    assert fe.from_dlpack(Tensor(made), device=other).tolist() == made.tolist()  # copied through the host
    with pytest.raises(fe.InvalidArgumentError, match="a copy is needed"):
        fe.from_dlpack(Tensor(made), device=other, copy=False)


@in_own_process
def test_stream_argument_decides_who_waits() -> None:
    with held_device() as (device, release):
        nobody, host = fe.ones(100, device=device) + 1, fe.ones(100, device=device) + 2
        fe.eval(nobody, host, wait=False)
        nobody.__dlpack__(stream=-1, max_version=(1, 0))
        assert not nobody.is_ready
        threading.Timer(0.05, release).start()
        host.__dlpack__(max_version=(1, 0))
        assert host.is_ready
    for stream in ("1", 1.5, True, -2, 2**64, 0):
        with pytest.raises(BufferError, match="stream"):
            nobody.__dlpack__(stream=stream, max_version=(1, 0))


@pytest.mark.parametrize("pace", PACES)
@in_own_process
def test_shared_memory_lives_as_long_as_its_users(pace: str) -> None:
    device, _ = open_devices(pace)
    before = fe.memory_stats(device)
    for _ in range(20):
        made = fe.asarray(np.arange(1000.0), device=device) + 1
        x = fe.from_dlpack(Tensor(made))
        y = x * 2
        z = fe.from_dlpack(Tensor(y))
        del made, x, y
        fe.trim(device)
        filled = fe.zeros(1000, dtype="float64", device=device) + 7  # may take memory that was freed
        fe.eval(filled)
        assert np.asarray(z)[:3].tolist() == [2, 4, 6]
        unused = z.__dlpack__(max_version=(1, 0))
        del z, filled, unused
    gc.collect()
    fe.trim(device)
    after = fe.memory_stats(device)
    assert (after.live, after.borrowed) == (before.live, before.borrowed)


@in_own_process
def test_threads_exchange_what_they_compute() -> None:
    device, _ = open_devices("threaded")
    errors: list[BaseException] = []

    def work(number: int) -> None:
        try:
            x = fe.asarray(np.full(500, number, np.int64), device=device)
            for turn in range(40):
                x = fe.from_dlpack(Tensor(x + 1))
                if turn % 10 == 9:
                    assert np.asarray(x).tolist() == [number + turn + 1] * 500
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors
