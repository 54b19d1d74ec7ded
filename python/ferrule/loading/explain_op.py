"""A sentence on an op, and on the devices and dtypes that compute it."""

from __future__ import annotations

import json
from typing import Any

from ferrule import _ferrule
from ferrule.errors import Error, UnsupportedError
from ferrule.loading.device_lookup import devices
from ferrule.loading.devices import Device

# Inputs that select or count have these dtypes when the others are tried in each dtype.
OF_INDICES = {"bool": "bool", "int32 or int64": "int64"}


def row_of(name: str) -> dict[str, Any] | None:
    """Return the row of an op; None if there is no op of that name."""
    return next((row for row in json.loads(_ferrule.ops()) if row["name"] == name), None)


def op_names() -> list[str]:
    return [row["name"] for row in json.loads(_ferrule.ops())]


def explain_op(row: dict[str, Any]) -> str:
    clauses = [_of_device(device, row) for device in devices()]
    return f"{row['name']}: an op. {row['doc']} " + ("; ".join(clauses) or "There is no device to compute it") + "."


def _of_device(device: Device, row: dict[str, Any]) -> str:
    try:
        dtypes = [dtype for dtype in _ferrule.DTYPES if _supports(device, row, dtype)]
    except Error as error:
        return f"{device} cannot be asked: {error}"
    return f"{device} computes it in {', '.join(dtypes)}" if dtypes else f"{device} does not compute it"


def _supports(device: Device, row: dict[str, Any], dtype: str) -> bool:
    needed = [entry["accepts"] for entry in row["inputs"] if not entry["optional"]]
    fixed = OF_INDICES if set(needed) - OF_INDICES.keys() else {}
    given = [fixed.get(accepts, dtype) for accepts in needed]
    takes_dtype = any(attribute["name"] == "dtype" for attribute in row["attributes"])
    try:
        return device.supports(row["name"], *given, *([dtype] if takes_dtype else []))
    except UnsupportedError:
        return False
