"""The manifest beside a module, and its comparison with the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ferrule.tools.inspection.abi import as_data
from ferrule.tools.inspection.abi_version import AbiVersion

LARGEST = 1 << 20  # bytes, the loader's limit


def read_manifest(path: Path) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the manifest of a module, or None, and problems of its text."""
    beside = path.with_suffix(".json")
    if not beside.exists():
        return None, []
    if not beside.is_file():
        return None, [f"its manifest {beside.name} is not a file"]
    size = beside.stat().st_size
    if size > LARGEST:
        return None, [f"its manifest {beside.name} has {size} bytes, and must not have more than {LARGEST}"]
    repeated: list[str] = []

    def with_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        repeated.extend(key for key in dict.fromkeys(keys) if keys.count(key) > 1)
        return dict(pairs)

    try:
        data = json.loads(beside.read_bytes().decode("utf-8"), object_pairs_hook=with_repeated)
    except UnicodeDecodeError as error:
        return None, [f"its manifest {beside.name} is not UTF-8: {error.reason} at byte {error.start}"]
    except ValueError as error:
        return None, [f"its manifest {beside.name} is not JSON: {error}"]
    except RecursionError:
        return None, [f"its manifest {beside.name} is nested too deeply to be read"]
    if not isinstance(data, dict):
        return None, [f"its manifest {beside.name} is not an object"]
    return data, [f"its manifest has '{key}' more than once" for key in repeated]


def disagreements(
    manifest: dict[str, Any], name: dict[str, str] | None, size: int, sha256: str, abis: list[AbiVersion]
) -> list[str]:
    """Return the statements of the manifest about the file that are wrong."""
    found: dict[str, Any] = {"size": size, "sha256": sha256, **(name or {})}
    problems = [
        f"its manifest says that {key} is {manifest.get(key)!r}, but it is {value!r}"
        for key, value in found.items()
        if manifest.get(key) != value
    ]
    for abi in dict.fromkeys(abis):
        found = as_data(abi)
        if manifest.get("abi") != found:
            problems.append(f"its manifest names the interface {manifest.get('abi')}, but the file has {found}")
    return problems
