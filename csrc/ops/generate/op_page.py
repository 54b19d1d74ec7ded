"""The cells of the tables in docs/use/ops.md."""

from __future__ import annotations

import json
from itertools import groupby
from typing import Any

Row = dict[str, Any]

WORDS = {"plain": "any but block dtypes", "stored": "any"}
# The dtype of an output, if it is not that of the inputs.
DTYPES = {"same": "", "real": "real", "complex": "complex", "widened": "64 bits if integer", "attribute": "`dtype`"}


def inputs(row: Row) -> str:
    """ "x1, x2: numeric; weights?: real" """
    parts = []
    for accepts, alike in groupby(row["inputs"], lambda x: "plain" if x["truth"] else x["accepts"]):
        names = ", ".join(x["name"] + "..." * x["variadic"] + "?" * x["optional"] for x in alike)
        parts.append(f"{names}: {WORDS.get(accepts, accepts)}{' or integer' if row['casts_integers'] else ''}")
    return "; ".join(parts)


def attributes(row: Row) -> str:
    """ "k: int, axis: int = -1" """
    return ", ".join(f"{a['name']}: {_values(a)}{_default(a)}" for a in row["attributes"])


def _values(attribute: Row) -> str:
    if attribute["choices"]:
        return " or ".join(f'"{choice}"' for choice in attribute["choices"].split("|"))
    return str(attribute["type"])


def _default(attribute: Row) -> str:
    return "" if attribute["required"] else f" = {json.dumps(attribute['default'])}"


def outputs(row: Row) -> str:
    """ "values, indices: int64" """
    parts = []
    for output in row["outputs"]:
        dtype = output["fixed_dtype"] or DTYPES[output["dtype"]]
        parts.append(f"{output['name']}: {dtype}" if dtype else output["name"])
    return ", ".join(parts)
