"""`to_device` in traced functions, which span devices by it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import ferrule as fe
import numpy as np

from tests.python.late_devices import error_of, in_own_process, open_devices

BASE = np.arange(6, dtype=np.float32).reshape(2, 3)


@in_own_process
def test_ops_behind_to_device_are_computed_there() -> None:
    one, other = open_devices()

    def function(x: Any, y: Any, number: float) -> Any:
        there = fe.sum(x.to_device(other) * number, axis=0) + np.float32(1)  # numbers and constants go anywhere
        return there.to_device(x.device) - y, fe.asarray(x.T, device=other).to_device(one)

    x, y = fe.asarray(BASE, device=one), fe.asarray(BASE[0], device=one)
    traced = fe.graph(function)
    for results in (function(x, y, 2.0), traced(x, y, 2.0)):
        np.testing.assert_array_equal(np.asarray(results[0]), BASE.sum(axis=0) * 2 + 1 - BASE[0])
        np.testing.assert_array_equal(np.asarray(results[1]), BASE.T)
        assert all(result.device == one for result in results)
    graph = traced.trace(x, y, 2.0)
    with tempfile.TemporaryDirectory() as folder:
        graph.save(Path(folder) / "graph.npz")
        graph = fe.Graph.load(Path(folder) / "graph.npz", device=one)
    np.testing.assert_array_equal(np.asarray(graph.compute(x, y, 2.0)[0]), BASE.sum(axis=0) * 2 + 1 - BASE[0])
    devices = {node["op"]: node["device"] for node in graph.placement()["nodes"]}
    assert devices["sum"] == str(other)
    assert devices["subtract"] == str(one)


@in_own_process
def test_mixed_devices_and_results_elsewhere_are_errors() -> None:
    one, other = open_devices()
    x = fe.asarray(BASE, device=one)
    mixed = error_of(lambda: fe.graph(lambda x: x.to_device(other) + x)(x))
    assert type(mixed) is fe.InvalidArgumentError
    assert str(mixed) == "add: its inputs lie on null:1 and null:0; bring them together with to_device"
    elsewhere = error_of(lambda: fe.graph(lambda x: x.to_device(other) + 1)(x))
    assert type(elsewhere) is fe.InvalidArgumentError
    assert "lies on null:1, and the results of this graph lie on null:0; bring it back with to_device" in str(elsewhere)
