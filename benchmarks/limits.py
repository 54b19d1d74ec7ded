"""The machine's limits, measured in the same run: copy bandwidth here, FLOP/s from the matmuls of the peers.

Medians, as in the cases: the best of many copies is sometimes twice the usual one, and not reproducible.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from statistics import median

import numpy as np

from benchmarks.cases import Case
from benchmarks.interleaving import Heat
from benchmarks.targets import PEERS

COPY_BYTES = 64 * 2**20  # as in the cases, so that a large last-level cache holds the same share in both
COPY_ROUNDS = 25


def copy_bandwidth(threads: int) -> float:
    """Bytes per second, read and written, of the median of 25 copies of 64 MB, divided among the threads.

    NumPy copies with memcpy and releases the GIL, so Python threads suffice.
    """
    source = np.ones(COPY_BYTES // 8)
    target = np.zeros_like(source)
    pieces = list(zip(np.array_split(target, threads), np.array_split(source, threads), strict=True))
    seconds = []
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(COPY_ROUNDS):
            start = time.perf_counter()
            list(pool.map(lambda piece: np.copyto(*piece), pieces))
            seconds.append(time.perf_counter() - start)
    return 2 * COPY_BYTES / median(seconds)


def peak_flops(heats: Iterable[Heat[Case]], threads: int) -> float | None:
    """The fastest float32 matmul of any peer with this number of threads; None if none was run."""
    return max(
        (
            heat.case.flops / timing.median
            for heat in heats
            if heat.case.op == "matmul" and heat.threads == threads
            for name, timing in heat.timings.items()
            if name in PEERS
        ),
        default=None,
    )
