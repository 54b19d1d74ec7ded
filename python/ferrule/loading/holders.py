"""The variables that hold objects of a backend: those of the running program, and what IPython keeps of its cells."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator

from ferrule.loading.devices import Device

MOST = 8  # names in a message


def advice(backend: str) -> str:
    """Say which variables hold arrays of a backend, and what to do; "" if none of this program's own does."""
    names = list(dict.fromkeys(_names(backend)))
    if not names:
        return ""
    shown = ", ".join(names[:MOST]) + (f" and {len(names) - MOST} more" if len(names) > MOST else "")
    out = "; `%reset -f out` empties Out" if any(name.startswith(("Out[", "_")) for name in names) else ""
    return f". Such are in {shown}{out}. reload({backend!r}, force=True) leaves them unusable"


def _names(backend: str) -> Iterator[str]:
    program = vars(sys.modules.get("__main__", builtins))
    for name, value in list(program.items()):
        if name == "Out" and isinstance(value, dict):  # IPython's results
            yield from (f"Out[{number}]" for number, result in list(value.items()) if _holds(result, backend))
        elif name != "_oh" and _holds(value, backend):  # that is Out
            yield name
    if _holds(vars(builtins).get("_"), backend):  # the last result in Python's own shell
        yield "_"


def _holds(value: object, backend: str) -> bool:
    """Whether it is an array or a graph of the backend, or a collection with one."""
    if isinstance(value, (list, tuple, dict)):
        parts = list(value.values()) if isinstance(value, dict) else value
        return any(not isinstance(part, (list, tuple, dict)) and _holds(part, backend) for part in parts)
    if isinstance(value, Device) or type(value).__module__.partition(".")[0] != "ferrule":
        return False
    device = getattr(value, "device", None)
    return isinstance(device, Device) and device.backend.name == backend
