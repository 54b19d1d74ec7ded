"""Checks of the module: pytest checks.py --ferrule-backend build/libferrule-row_sums.so"""

from __future__ import annotations

import ferrule as fe
import numpy as np
import pytest
from numpy.typing import NDArray


def row_sums(values: NDArray[np.float32], device: fe.Device) -> NDArray[np.float32]:
    """Sums along the last axis on that device; raises instead of falling back to another one."""
    graph = fe.Graph(device)
    graph.output(fe.sum(graph.input(values.shape, values.dtype), axis=-1))
    graph.compile(fallback="error")
    return np.asarray(graph.compute(fe.asarray(values, device=device)))


@pytest.mark.parametrize("order", ["forward", "reverse", "7"])
@pytest.mark.parametrize("shape", [(1,), (5, 31), (2, 3, 128), (3, 5000)])
def test_sums_of_rows_are_those_of_numpy_in_each_order_of_threads(
    shape: tuple[int, ...], order: str, ferrule_device: fe.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FERRULE_EMULATION_ORDER", order)
    values = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    wanted = values.astype(np.float64).sum(-1)
    np.testing.assert_allclose(row_sums(values, ferrule_device), wanted, rtol=1e-5, atol=1e-5)
