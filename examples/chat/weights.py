"""The weights of a GGUF file as a graph takes them: norms as they are, matrices in float32.

Products take no block weights yet, so these are decoded once, which takes eight times the memory of a file with 4 bits
for each weight.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import ferrule as fe
import gguf
import numpy as np


class Weights(Mapping[str, fe.Array]):
    """Decodes a tensor when it is looked up: by ferrule, or by the package gguf if ferrule lacks the type."""

    def __init__(self, file: fe.io.Gguf, device: fe.Device) -> None:
        self._file, self._device = file, device
        self._others: dict[str, gguf.gguf_reader.ReaderTensor] = {}
        if any(not tensor.type.dtype for tensor in file.tensors.values()):
            self._others = {one.name: one for one in gguf.GGUFReader(file.path).tensors}

    def __getitem__(self, name: str) -> fe.Array:
        if self._file.tensors[name].type.dtype:
            return fe.astype(self._file[name], "float32", copy=False)
        tensor = self._others[name]
        values = np.ascontiguousarray(gguf.quants.dequantize(tensor.data, tensor.tensor_type), np.float32)
        values.flags.writeable = False  # so that ferrule borrows it
        return fe.asarray(values, device=self._device)

    def __iter__(self) -> Iterator[str]:
        return iter(self._file)

    def __len__(self) -> int:
        return len(self._file)
