"""The bench of a device: structure, formulas, aims and refusals. Nothing is said about speed."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.contenders import NotOfferedError
from benchmarks.devices import worker as workers
from benchmarks.devices.aims import Aim
from benchmarks.devices.bench import DeviceRun, Setup
from benchmarks.devices.cases import DeviceCase, cases_of
from benchmarks.devices.contenders import Prepared
from benchmarks.devices.inputs import Inputs, checked_rows
from benchmarks.devices.report import as_json, limits_of
from benchmarks.devices.sizes import SCALES, fitting
from benchmarks.race import Heat
from benchmarks.timing import Timing
from csrc.backends.cuda.tests.fake_torch_and_cupy import UUID, cupy_of, torch_of
from csrc.backends.cuda.tests.fake_torch_and_cupy import Device as EmulatedDevice

ROOT = Path(__file__).resolve().parents[4]
FULL = {case.name: case for case in cases_of(SCALES["full"])}


def bench(module: Path, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "FERRULE_BACKEND_PATH": str(module), "FERRULE_PROBE": "never", **variables}
    command = [sys.executable, "-m", "benchmarks", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, check=False, timeout=120)


def test_all_cases_are_measured_and_right(module: Path, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    done = bench(module, "--device", "cuda:0", "--json", path)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(path.read_text())
    cases = cases_of(SCALES["small"])
    assert result["scale"] == "small"
    assert result["device"]["description"] == "emulated"
    assert [row["case"] for row in result["cases"]] == [case.name for case in cases]
    assert set(result["limits"]) == {"bytes", "half", "float32"}
    for row, case in zip(result["cases"], cases, strict=True):
        assert row["case"] in done.stdout
        assert row["failures"] == {}
        assert (row["flops"], row["bytes"], row["ops_per_call"]) == (case.flops, case.bytes, case.ops)
        assert row["aim"] is None  # of other sizes
        if row["op"] == "download pinned":
            assert "no function" in row["absent"]["ferrule"]
            continue
        ours = row["contenders"]["ferrule"]
        assert ours["min_seconds"] > 0
        assert ours["bytes_per_second"] == pytest.approx(case.bytes / ours["median_seconds"])
        assert (row["share_of_limit"] is None) == (case.limit == "none")


def test_a_part_is_measured_with_its_limits(module: Path, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    done = bench(module, "--device=cuda:0", "--only", "TRANSPOSE", "--json", path)
    assert done.returncode == 0, done.stderr
    ops = [row["op"] for row in json.loads(path.read_text())["cases"]]
    assert ops == ["copy", "matmul", "matmul", "transpose", "transpose"]


def test_own_kernels_and_cublaslt_are_shown_beside_each_other(module: Path, tmp_path: Path) -> None:
    library = module.parents[4] / "tests" / "emulation" / "libemulated-cublaslt.so"
    path = tmp_path / "result.json"
    done = bench(module, "--device", "cuda:0", "--only", "gemv", "--json", path, FERRULE_CUDA_CUBLASLT=str(library))
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(path.read_text())
    assert str(library) in result["contenders"]["ferrule+cuBLASLt"]["library"]
    for row in result["cases"]:
        assert "ferrule" in row["contenders"]
        assert ("ferrule+cuBLASLt" in row["contenders"]) == (row["op"] in ("matmul", "product of weights"))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--device", "cuda:7"], "there is no device 'cuda:7'; there is cpu:0, cuda:0"),
        (["--device", "cuda:0", "--scale", "full"], "--scale full needs 24 GB, and cuda:0 has 4.29 GB"),
        (["--device", "cuda:0", "--threads", "2"], "--threads is not for --device: set FERRULE_THREADS"),
        (["--scale", "small"], "--scale needs --device"),
    ],
)
def test_what_cannot_be_measured_is_refused(module: Path, arguments: list[str], sentence: str) -> None:
    done = bench(module, *arguments)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == f"python -m benchmarks: error: {sentence}"


def test_a_lost_device_fails_the_run_and_the_result_says_so(module: Path, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    done = bench(module, "--device", "cuda:0", "--only", "softmax", "--json", path, FERRULE_CUDA_DEVICE_LOST_AT="12")
    assert done.returncode == 1
    failures = [row["failures"] for row in json.loads(path.read_text())["cases"]]
    assert any("DeviceLostError" in reasons.get("ferrule", "") for reasons in failures), failures
    assert "ferrule failed in" in done.stdout


def test_the_work_of_full_sizes_is_that_of_their_formulas() -> None:
    gigabyte, weights = 2**30, 4096 * 14336
    assert FULL["add 1 GB f32"].bytes == 3 * gigabyte
    assert FULL["gelu 1 GB f32"].bytes == 2 * gigabyte
    assert FULL["softmax rows of 4096 f16"].bytes == gigabyte
    assert FULL["transpose 16384 f32"].bytes == 2 * gigabyte
    assert FULL["sum axis 0 of 65536x4096 f32"].bytes == gigabyte + 4 * 4096
    assert FULL["sum axis 1 of 65536x4096 f32"].bytes == gigabyte + 4 * 65536
    assert FULL["matmul bf16 8192"].flops == 2 * 8192**3
    assert FULL["gemv bf16 4096x14336"].bytes == 2 * (weights + 4096 + 14336)
    assert FULL["product q4_0 4096x14336 n=1 f32"].bytes == weights * 18 // 32 + 4 * (4096 + 14336)
    assert FULL["product q4_K 4096x14336 n=512 f16"].flops == 2 * 512 * weights
    assert FULL["attention causal f16 S=4096"].flops == 4 * 32 * 128 * (4096 * 4097 // 2)
    assert FULL["decode over 16384 keys f16"].bytes == 2 * 32 * 128 * (2 * 16384 + 2)
    assert FULL["200 small ops in a graph"].ops == 200


def test_what_a_cache_could_hold_is_read_in_turn_from_512_mb() -> None:
    for case in FULL.values():
        if case.limit == "bytes":
            assert case.bytes * case.operands >= 2**29, case.name


def test_the_largest_sizes_that_fit_are_taken() -> None:
    assert fitting(80 * 10**9, is_simulated=False).name == "full"
    assert fitting(8 * 10**9, is_simulated=False).name == "medium"
    assert fitting(10**9, is_simulated=False).name == "small"
    assert fitting(80 * 10**9, is_simulated=True).name == "small"


def test_an_aim_is_a_share_of_the_best_peer_or_of_the_best_on_an_h200() -> None:
    rate = Aim("bytes per second", 2e12, 1.3)
    assert rate.value({"ferrule": 1.0, "torch": 1.5, "cupy": 2.0}, 1e12) == (1.5, "torch")
    assert rate.value({"ferrule": 0.5}, 1e12) == (1.0, "H200")
    assert rate.value({"torch": 1.0}, 1e12) is None
    assert rate.reached(1.3)
    assert not rate.reached(1.29)
    time = Aim("seconds", 14.4e-6, 10 / 14.4)
    assert time.value({"ferrule": 7.2e-6}, 0.0) == (0.5, "H200")
    assert time.reached(0.69)
    assert not time.reached(0.7)
    assert (str(rate), str(time)) == ("≥ 1.3x 2000 GB/s", "≤ 10 us")


@pytest.mark.parametrize(
    ("kind", "capability", "reached"), [("gpu", "9.0", True), ("gpu", "8.0", None), ("software", "9.0", None)]
)
def test_aims_are_judged_on_a_hopper_only(kind: str, capability: str, reached: bool | None) -> None:
    copy, add = FULL["copy 1 GB f32"], FULL["add 1 GB f32"]
    heats = [timed(copy, ferrule=0.6e-3, torch=0.5e-3), timed(add, ferrule=0.75e-3, torch=0.78e-3)]
    info = {"kind": kind, "detail": f"compute capability {capability}, driver for CUDA 13.0"}
    run = DeviceRun({}, Setup("cuda:0", info, SCALES["full"]), {"ferrule": {}, "torch": {}}, {}, heats)
    assert limits_of(run)["bytes"].by == "torch"
    assert limits_of(run)["bytes"].rate == pytest.approx(copy.bytes / 0.5e-3)
    row = as_json(run)["cases"][1]
    assert row["aim"]["reached"] is reached
    assert row["aim"]["value"] == pytest.approx(0.78 / 0.75)
    assert row["share_of_limit"] == pytest.approx(1.5 * 0.5 / 0.75)


def timed(case: DeviceCase, **seconds: float) -> Heat[DeviceCase]:
    timings = {name: Timing([time]) for name, time in seconds.items()}
    return Heat(case, 1, timings, dict.fromkeys(seconds, 0.0))


class Fake:
    """A contender whose results are off by `error`."""

    def __init__(self, error: float) -> None:
        self.error = error
        self.calls: list[int] = []

    def describe(self) -> dict[str, str]:
        return {}

    def prepare(self, case: DeviceCase, inputs: Inputs) -> Prepared:
        right: NDArray[Any] = inputs[0][: checked_rows(case)] + inputs[1][: checked_rows(case)]
        return Prepared(self.calls.append, lambda: right + np.float32(self.error))

    def wait(self) -> None:
        pass

    def release(self) -> None:
        pass

    def event_times(self, run: Callable[[int], object], calls: int) -> list[float]:
        for number in range(calls):
            run(number)
        return [3.0] * calls


@pytest.fixture
def worker_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[Fake], workers.DeviceWorker]:
    def make(contender: Fake) -> workers.DeviceWorker:
        monkeypatch.setattr(workers, "open_contender", lambda *_: contender)
        return workers.DeviceWorker("fake", "fake:0", "")

    return make


ADD = next(case for case in cases_of(SCALES["small"]) if case.op == "add")


def test_a_wrong_result_is_not_timed(worker_of: Callable[[Fake], workers.DeviceWorker]) -> None:
    with pytest.raises(ValueError, match=r"add 64 KB f32: wrong by 1\.0e-02"):
        worker_of(Fake(0.01)).prepare(ADD)
    worker_of(Fake(0.0)).prepare(ADD)


def test_events_time_each_call_and_a_queue_all_of_them(worker_of: Callable[[Fake], workers.DeviceWorker]) -> None:
    worker = worker_of(fake := Fake(0.0))
    worker.prepare(ADD)
    worker.seconds = 0.5
    assert worker.turn(2.0) == [3.0] * 4
    worker.prepare(dataclasses.replace(ADD, method="queue", operands=5, chained=2))
    worker.seconds = 0.5
    fake.calls.clear()
    [sample] = worker.turn(2.0)
    assert fake.calls == [0, 0, 1, 2, 3]  # one to warm up
    assert 0 < sample < 0.1


# ---- PyTorch and CuPy, of which the tests have imitations

CUPY_HAS = ("copy", "add", "transpose", "sum 0", "sum 1", "matmul")


def peer(name: str, monkeypatch: pytest.MonkeyPatch, uuid: str = UUID) -> workers.DeviceWorker:
    made = torch_of(EmulatedDevice()) if name == "torch" else cupy_of()
    monkeypatch.setitem(sys.modules, name, made)
    return workers.DeviceWorker(name, "cuda:0", uuid)


@pytest.mark.parametrize("name", ["torch", "cupy"])
@pytest.mark.parametrize("case", cases_of(SCALES["small"]), ids=lambda case: case.name)
def test_peers_compute_and_time_each_row_or_say_why_not(
    name: str, case: DeviceCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = peer(name, monkeypatch)
    offered = "torch cupy" if case.op in CUPY_HAS and case.dtype != "bfloat16" else "torch"
    if case.blocks or name not in offered:
        with pytest.raises(NotOfferedError):
            worker.prepare(case)
        return
    worker.prepare(case)
    samples = worker.turn(0.0)
    assert samples
    assert all(sample > 0 for sample in samples)
    worker.finish()


@pytest.mark.parametrize("name", ["torch", "cupy"])
def test_a_peer_that_sees_another_device_is_left_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for uuid in ("None", UUID.replace("6c", "6d")):
        with pytest.raises(NotOfferedError, match="does not see this device"):
            peer(name, monkeypatch, uuid)
    assert "version" in peer(name, monkeypatch).describe()
