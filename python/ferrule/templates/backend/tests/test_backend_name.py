"""Tests that the conformance kit does not cover: pytest tests --ferrule-backend <the module>."""

from __future__ import annotations

from collections.abc import Callable

import ferrule as fe
import numpy as np
import pytest
from ferrule.testing.case import Case, Problem
from numpy.typing import NDArray


@pytest.fixture
def device(ferrule_device: fe.Device) -> fe.Device:
    """The kit's fixture, which without --ferrule-backend is the best device, of any backend."""
    assert ferrule_device.backend.name == "backend_name", "name the module by --ferrule-backend"
    return ferrule_device


def softmax(values: NDArray[np.float32], axis: int, device: fe.Device) -> NDArray[np.float32]:
    """Softmax on that device; raises instead of falling back to another one."""
    graph = fe.Graph(device)
    graph.output(fe.softmax(graph.input(values.shape, values.dtype), axis=axis))
    graph.compile(fallback="error")
    return np.asarray(graph.compute(fe.asarray(values, device=device)))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_softmax_is_that_of_numpy(axis: int, device: fe.Device) -> None:
    values = np.random.default_rng(0).normal(scale=30, size=(7, 33, 5)).astype(np.float32)
    powers = np.exp(values.astype(np.float64) - values.max(axis, keepdims=True))
    wanted = powers / powers.sum(axis, keepdims=True)
    np.testing.assert_allclose(softmax(values, axis, device), wanted, rtol=2e-7, atol=2e-45)


def test_a_large_difference_does_not_overflow(device: fe.Device) -> None:
    values = np.array([[1e38, -1e38, 1e38]], dtype=np.float32)
    np.testing.assert_array_equal(softmax(values, -1, device), [[0.5, 0, 0.5]])


def test_a_row_of_a_million_is_as_exact_as_the_kit_asks(device: fe.Device, ferrule_case: Callable[..., Case]) -> None:
    """Uses the kit's oracle and tolerance for a shape that is larger than the kit's own."""
    case = ferrule_case("softmax", "float32")
    problem = Problem(((2, 1_000_000),), {"axis": 1})
    inputs = case.inputs(problem, np.random.default_rng(0))
    verdict = case.judge(problem, inputs, softmax(inputs[0], 1, device))
    assert verdict.ok, verdict
