"""The index of a model in several safetensors files: `model.safetensors.index.json` maps tensors to files beside it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple, NoReturn

from ferrule.errors import InvalidArgumentError
from ferrule.io.regular_files import open_regular, read_into
from ferrule.io.safetensors_header import LONGEST_HEADER, json_object


class Index(NamedTuple):
    files: dict[str, Path]  # of each tensor
    metadata: dict[str, str]


def read_index(path: Path) -> Index:
    """Read an index. Its files are in its folder, whatever it says."""
    with open_regular(path) as file:
        text = bytearray(os.fstat(file.fileno()).st_size)
        if len(text) > LONGEST_HEADER:
            _refuse(path, f"it has {len(text)} bytes")
        read_into(file, path, 0, memoryview(text))
    try:
        index = json_object(bytes(text))
    except (ValueError, RecursionError) as error:
        _refuse(path, f"it is not valid JSON: {error}")
    names = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(names, dict):
        _refuse(path, "it has no weight_map")
    for tensor, name in names.items():
        if not isinstance(name, str) or name != os.path.basename(name) or name in ("", ".", "..") or "\0" in name:
            _refuse(path, f"tensor {tensor!r} is in {name!r}, which is no name of a file beside the index")
    metadata = index.get("metadata") or {}
    if not isinstance(metadata, dict):
        _refuse(path, "its metadata is not a list of names and values")
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in metadata.items()}
    return Index({tensor: path.parent / name for tensor, name in names.items()}, texts)


def _refuse(path: Path, problem: str) -> NoReturn:
    raise InvalidArgumentError(f"{path} is not an index of safetensors files: {problem}")
