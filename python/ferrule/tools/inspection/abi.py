"""The binary interfaces of a module and of this core."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from ferrule.tools.inspection import abi_version
from ferrule.tools.inspection.abi_version import AbiVersion

ABI_SYMBOL = "ferrule_backend_abi"
REQUIRED = ("ferrule_backend_abi", "ferrule_backend_init")
OPTIONAL = ("ferrule_backend_score",)


def complaint(version: AbiVersion) -> str:
    """Return why this core refuses a module of that version, worded as a part of a sentence; "" if it accepts it."""
    return abi_version.complaint(version, core_abi())


@cache
def core_abi() -> AbiVersion:
    """Return the version of this core, from the headers in the package."""
    folder = Path(__file__).resolve().parents[2] / "include" / "ferrule"

    def constant(header: str, name: str) -> str:
        text = (folder / header).read_text(encoding="utf-8")
        match = re.search(rf"#define {name} (.+)", text)
        if match is None:
            raise LookupError(f"{folder / header} does not define {name}")
        return match.group(1)

    hashes = re.findall(r"0x[0-9a-f]+", constant("layout_hash.h", "FE_LAYOUT_HASHES"))
    return AbiVersion(
        int(constant("abi.h", "FE_ABI_MAJOR")),
        int(constant("abi.h", "FE_ABI_MINOR")),
        tuple(int(text, 16) for text in hashes),
    )


def as_data(version: AbiVersion) -> dict[str, object]:
    """Return the version in the form that manifests use."""
    hashes = [f"{layout_hash:#018x}" for layout_hash in version.layout_hashes]
    return {"major": version.major, "minor": version.minor, "layout_hashes": hashes}


def from_data(data: dict[str, Any]) -> AbiVersion:
    """Return the version that `as_data` wrote."""
    return AbiVersion(data["major"], data["minor"], tuple(int(text, 16) for text in data["layout_hashes"]))
