"""Differing calls leave nothing behind on the device: no shaders, executables, reasons or memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from csrc.backends.vulkan.tests.processes import Processes

# The program of tests/python/array/test_growth.py.
GROWTH = f"""
import sys
sys.path.insert(0, {str(Path(__file__).resolve().parents[4] / "tests/python")!r})
from growth import Steps, growth
"""


@pytest.mark.parametrize(("step", "count"), [("lazy", 4000), ("graphs", 4000), ("failures", 4000)])
def test_different_calls_do_not_grow_memory(start: Processes, step: str, count: int) -> None:
    program = f"print(growth(Steps('vulkan').{step}, {count}))"
    assert float(start.quiet(GROWTH + program, FERRULE_VULKAN_VALIDATE="0")) < 100


def test_unused_shaders_are_released(start: Processes) -> None:
    """A shader takes 440,000 bytes in lavapipe, which allocates and frees in large pieces."""
    program = """
functions = [fe.add, fe.subtract, fe.multiply, fe.maximum]
ones = fe.asarray(np.ones(5, np.float32), device="vulkan")
def step(number):
    graph = fe.Graph(device="vulkan")
    x = y = graph.input((5,), "float32")
    for _ in range(5):
        y, number = functions[number % 4](y, x), number // 4
    graph.output(y)
    graph.compute(ones)
print(growth(step, 100))
"""
    variables = {"FERRULE_VULKAN_VALIDATE": "0", "FERRULE_VULKAN_IDLE_PIPELINES": "5"}
    assert float(start.quiet(GROWTH + program, **variables)) < 150_000
