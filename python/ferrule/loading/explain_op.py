"""A sentence on an op, and on the devices and dtypes that compute it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrule import _ferrule
from ferrule.errors import Error, UnsupportedError
from ferrule.loading.device_lookup import devices
from ferrule.loading.devices import Device

if TYPE_CHECKING:
    from ferrule.op_rows import OpRow

# Inputs that select or count have these dtypes when the others are tried in each dtype.
OF_INDICES = {"bool": "bool", "int32 or int64": "int64"}


def explain_op(row: OpRow) -> str:
    clauses = [_of_device(device, row) for device in devices()]
    return f"{row['name']}: an op. {row['text']} " + ("; ".join(clauses) or "There is no device to compute it") + "."


def _of_device(device: Device, row: OpRow) -> str:
    try:
        dtypes = [dtype for dtype in _ferrule.DTYPES if _supports(device, row, dtype)]
    except Error as error:
        return f"{device} cannot be asked: {error}"
    return f"{device} computes it in {', '.join(dtypes)}" if dtypes else f"{device} does not compute it"


def _supports(device: Device, row: OpRow, dtype: str) -> bool:
    needed = [entry["accepts"] for entry in row["inputs"] if not entry["optional"]]
    fixed = OF_INDICES if set(needed) - OF_INDICES.keys() else {}
    given = [fixed.get(accepts, dtype) for accepts in needed]
    takes_dtype = any(attribute["name"] == "dtype" for attribute in row["attributes"])
    try:
        return device.supports(row["name"], *given, *([dtype] if takes_dtype else []))
    except UnsupportedError:
        return False
