"""What the conformance kit cannot know of backend_name. The kit's own checks: pytest --pyargs ferrule.testing."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import ferrule as fe
import numpy as np
import pytest
from numpy.typing import NDArray

SUFFIX = ".dll" if sys.platform == "win32" else ".so"
BUILD = Path(os.environ.get("BUILD", Path(__file__).resolve().parents[1] / "build"))


@pytest.fixture(scope="module", autouse=True)
def module() -> None:
    fe.load(BUILD / f"libferrule-backend_name{SUFFIX}")


def softmax(values: NDArray[np.float32], axis: int) -> NDArray[np.float32]:
    """Computed by backend_name, or not at all."""
    graph = fe.Graph(device="backend_name")
    graph.output(fe.softmax(graph.input(values.shape, "float32"), axis=axis))
    graph.compile(fallback="error")
    return np.asarray(graph.compute(fe.asarray(values, device="backend_name")))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_softmax_is_that_of_numpy(axis: int) -> None:
    values = np.random.default_rng(0).normal(scale=30, size=(7, 33, 5)).astype(np.float32)
    powers = np.exp(values.astype(np.float64) - values.max(axis, keepdims=True))
    wanted = powers / powers.sum(axis, keepdims=True)
    np.testing.assert_allclose(softmax(values, axis), wanted, rtol=2e-7, atol=2e-45)  # the least number is 1.4e-45


def test_a_large_difference_does_not_overflow() -> None:
    values = np.array([[1e38, -1e38, 1e38]], dtype=np.float32)
    np.testing.assert_array_equal(softmax(values, -1), [[0.5, 0, 0.5]])
