"""Reads the metadata and the list of tensors of a GGUF or safetensors file, without loading a backend."""

from __future__ import annotations

import math
import os
from collections import Counter
from pathlib import Path
from typing import Any, BinaryIO

from ferrule.errors import InvalidArgumentError
from ferrule.io import gguf_header, safetensors_header
from ferrule.io.gguf_header import ARRAY, MAGIC, SCALARS
from ferrule.io.regular_files import open_regular


def is_model(path: Path) -> bool:
    """Return whether a file begins as GGUF, or with a length and JSON as safetensors."""
    try:
        with open_regular(path) as file:
            start = file.read(9)
    except OSError:
        return path.suffix in (".gguf", ".safetensors")  # whoever reads it whole says why
    return start.startswith(MAGIC) or start[8:] == b"{" or path.suffix in (".gguf", ".safetensors")


def read_model(path: Path) -> dict[str, Any]:
    """Return the format, metadata and tensors of a file; `problems` are sentences."""
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            is_gguf = file.read(len(MAGIC)) == MAGIC or path.suffix == ".gguf"
            found = (_read_gguf if is_gguf else _read_safetensors)(file, path, size)
    except (InvalidArgumentError, OSError) as error:
        return {"path": str(path), "problems": [str(error)]}
    return {"path": str(path), "size": size, **found, "problems": []}


def _read_safetensors(file: BinaryIO, path: Path, size: int) -> dict[str, Any]:
    header = safetensors_header.read_header(file, path, size)
    return {
        "format": "safetensors",
        "metadata": header.metadata,
        "types": dict.fromkeys(header.metadata, "string"),
        "tensors": [_tensor(name, one, one.dtype) for name, one in header.tensors.items()],
    }


def _read_gguf(file: BinaryIO, path: Path, size: int) -> dict[str, Any]:
    header = gguf_header.read_header(file, path, size)
    return {
        "format": f"GGUF {header.version}",
        "alignment": header.alignment,
        "metadata": {key: _of_json(value) for key, value in header.metadata.items()},
        "types": {key: _type_name(code) for key, code in header.types.items()},
        "tensors": [_tensor(name, one, one.type.name) for name, one in header.tensors.items()],
    }


def _of_json(value: Any) -> Any:
    """Give numbers that JSON lacks as "nan", "inf" and "-inf"."""
    if isinstance(value, list):
        return [_of_json(one) for one in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _tensor(name: str, tensor: gguf_header.Tensor | safetensors_header.Tensor, kind: str) -> dict[str, Any]:
    size = max(tensor.end - tensor.begin, 0)  # 0 of a type that is not known
    return {"name": name, "type": kind, "shape": tensor.shape, "offset": tensor.begin, "bytes": size}


def _type_name(code: int) -> str:
    return SCALARS[code][0] if code in SCALARS else "list" if code == ARRAY else "string"


def totals(model: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """The number of tensors and bytes by type, the largest first."""
    counts, sizes = Counter[str](), Counter[str]()
    for tensor in model["tensors"]:
        counts[tensor["type"]] += 1
        sizes[tensor["type"]] += tensor["bytes"]
    return {kind: (counts[kind], size) for kind, size in sizes.most_common()}
