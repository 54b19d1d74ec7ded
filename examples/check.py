"""Compares the search with NumPy float64: embeddings and rankings of every query and a fixed sample of paragraphs."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from reference import Reference

SAMPLE_SIZE = 256
# Bounds for cosine distances, and for score differences that a ranking may swap. The distance grows with the square of
# an error: it reveals a missing mask, but hardly the tanh gelu or a wrong epsilon. Scores grow with the error itself,
# and those two errors change a ranking (change them in minilm.py and run `search_docs.py --limit 200 --check` to see
# it).
TOLERANCE = 1e-5


@dataclass(frozen=True)
class Verdict:
    """The numbers compared, the greatest cosine distance, and a sentence for each problem."""

    compared: int
    greatest_distance: float
    failures: list[str]


def sample_rows(count: int) -> list[int]:
    """Selects rows, the same in every run over the same corpus, longest and shortest alike."""
    return sorted(random.Random(SAMPLE_SIZE).sample(range(count), min(SAMPLE_SIZE, count)))


def check(
    reference: Reference,
    sentences: Iterable[Sequence[int]],
    embeddings: NDArray[np.float32],
    query_count: int,
) -> Verdict:
    """Compares `embeddings` with those of `reference` for the same `sentences`; the last sentences are the queries."""
    expected = reference.embed(sentences)
    actual = embeddings.astype(np.float64)
    lengths = np.linalg.norm(actual, axis=1) * np.linalg.norm(expected, axis=1)
    distances = 1.0 - np.sum(actual * expected, axis=1) / lengths
    failures = []
    if not np.all(distances <= TOLERANCE):  # NaN fails this comparison, too
        worst = int(np.argmax(np.nan_to_num(distances, nan=np.inf)))
        failures.append(f"embedding {worst} of the sample is {distances[worst]:.1e} from float64, limit {TOLERANCE:g}")
    first_query = len(expected) - query_count
    for query in range(first_query, len(expected)):
        swap = wrong_order(actual[:first_query] @ actual[query], expected[:first_query] @ expected[query])
        if swap > TOLERANCE:
            number = query - first_query + 1
            failures.append(f"query {number} ranks two paragraphs against float64, whose scores differ by {swap:.1e}")
    return Verdict(len(expected), float(np.max(distances, initial=0.0)), failures)


def wrong_order(actual: NDArray[np.float64], expected: NDArray[np.float64]) -> float:
    """The widest gap of expected scores between two paragraphs that `actual` ranks the other way round; 0 if none."""
    in_our_order = expected[np.argsort(-actual, kind="stable")]
    lowest_so_far = np.minimum.accumulate(in_our_order)
    return float(np.max(in_our_order - lowest_so_far, initial=0.0))
