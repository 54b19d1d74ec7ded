"""Constants that the CPU packs for its products: one copy for all graphs, in allocations that they share."""

from __future__ import annotations

import gc

import ferrule as fe
import numpy as np


def prepared() -> int:
    gc.collect()
    return fe.memory_stats("cpu").prepared


def test_graphs_share_copies_and_find_those_of_a_dropped_graph_again() -> None:
    generator = np.random.default_rng(0)
    values = [generator.random((64, size), np.float32) for size in (64, 100, 31, 257)]
    weights = [fe.asarray(value, device="cpu", copy=True) for value in values]
    x = generator.random((9, 64), np.float32)
    before = prepared()

    def every(x: fe.Array) -> list[fe.Array]:
        return [x @ weights[0], *(x @ weight for weight in weights)]

    first, every_product = fe.graph(lambda x: x @ weights[0]), fe.graph(every)
    for product, value in zip(every_product(x), [values[0], *values], strict=True):
        np.testing.assert_allclose(np.asarray(product), x @ value, rtol=1e-5)
    needed = prepared() - before
    assert needed >= sum(value.nbytes for value in values)
    np.testing.assert_allclose(np.asarray(first(x)), x @ values[0], rtol=1e-5)
    assert prepared() - before == needed
    del every_product
    every_product = fe.graph(every)
    for product, value in zip(every_product(x), [values[0], *values], strict=True):
        np.testing.assert_allclose(np.asarray(product), x @ value, rtol=1e-5)
    assert prepared() - before == needed
    del every_product, first, product
    assert prepared() == before
