"""Packs texts into the rectangular batches of token ids that the model takes.
 A graph is compiled for each shape, so there should be few shapes: sentences are sorted by length, cut into batches of
one size, and each batch is padded to the next multiple of 16 tokens. That is at most 16 shapes and one for the short
last batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

BATCH_SIZE = 32
LENGTH_STEP = 16
LONGEST = 256  # tokens, as the model's authors use it; it was trained on 128 and accepts 512


@dataclass(frozen=True)
class Batch:
    """Sentences of similar length: `rows` are their indices, `mask` is True at real tokens and False at padding."""

    rows: NDArray[np.int64]
    token_ids: NDArray[np.int32]
    mask: NDArray[np.bool_]


def tokenise(tokenizer_file: Path, texts: Sequence[str]) -> list[list[int]]:
    """Token ids of each text, at most 256 and unpadded; overrides the padding to 128 that the file specifies."""
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    tokenizer.no_padding()
    tokenizer.enable_truncation(LONGEST)
    return [encoding.ids for encoding in tokenizer.encode_batch(list(texts))]


def batches_by_length(sentences: Sequence[Sequence[int]]) -> Iterator[Batch]:
    """All sentences, shortest first."""
    order = np.argsort([len(sentence) for sentence in sentences], kind="stable")
    for start in range(0, len(order), BATCH_SIZE):
        rows = order[start : start + BATCH_SIZE]
        yield _padded(rows, [sentences[row] for row in rows])


def _padded(rows: NDArray[np.int64], sentences: Sequence[Sequence[int]]) -> Batch:
    longest = max(len(sentence) for sentence in sentences)
    length = -(-longest // LENGTH_STEP) * LENGTH_STEP
    token_ids = np.zeros((len(sentences), length), dtype=np.int32)
    mask = np.zeros((len(sentences), length), dtype=np.bool_)
    for row, sentence in enumerate(sentences):
        token_ids[row, : len(sentence)] = sentence
        mask[row, : len(sentence)] = True
    return Batch(rows, token_ids, mask)
