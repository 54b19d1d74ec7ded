"""The bench of a device runs, and its results are right. Nothing is said about speed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.devices.cases import cases_of
from benchmarks.devices.sizes import SCALES

ROOT = Path(__file__).resolve().parents[4]


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
        assert row["target"] is None  # of other sizes
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
