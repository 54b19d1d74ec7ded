"""Embeds the paragraphs, and ranks them for a query."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import ferrule as fe
import numpy as np
from batches import Batch, batches_by_length
from corpus import Paragraph
from minilm import MiniLM
from numpy.typing import NDArray

BEST = 5


@dataclass(frozen=True)
class Index:
    """Embeddings (sentences, 384) in the order of the sentences, and the time in seconds, including compilation."""

    embeddings: NDArray[np.float32]
    seconds: float


@dataclass(frozen=True)
class Result:
    """A paragraph and its cosine with the query."""

    score: float
    paragraph: Paragraph


def embed_all(
    model: MiniLM,
    sentences: Sequence[Sequence[int]],
    progress: Callable[[Iterable[Batch], int], Iterable[Batch]] = lambda batches, count: batches,
) -> Index:
    """Embeds token ids batch by batch; `progress(batches, number of sentences)` may wrap the batches to watch them."""
    embeddings = np.empty((len(sentences), model.width), dtype=np.float32)
    start = time.perf_counter()
    for batch in progress(batches_by_length(sentences), len(sentences)):
        token_ids, mask = (fe.asarray(x, device=model.device) for x in (batch.token_ids, batch.mask))
        embeddings[batch.rows] = np.asarray(model.encode(token_ids, mask))
    return Index(embeddings, time.perf_counter() - start)


def score(queries: Index, paragraphs: Index, device: fe.Device) -> NDArray[np.float32]:
    """Cosines (queries, paragraphs); all vectors have norm 1."""
    left, right = (fe.asarray(index.embeddings, device=device) for index in (queries, paragraphs))
    return np.asarray(fe.matmul(left, right.T))


def best_of(paragraphs: Sequence[Paragraph], scores: NDArray[np.float32]) -> list[Result]:
    """The best paragraphs of one query, in order."""
    return [Result(float(scores[row]), paragraphs[row]) for row in np.argsort(-scores, kind="stable")[:BEST]]
