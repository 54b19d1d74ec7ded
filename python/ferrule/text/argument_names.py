"""Advice on calls that Python refuses: arguments by position that need names, and names that other libraries have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ferrule.text.near_names import did_you_mean

# From arguments of NumPy, PyTorch, JAX and TensorFlow to those of ferrule; the first that the function has is meant.
_OTHER_NAMES = {
    "a_max": ("max",),
    "a_min": ("min",),
    "attn_mask": ("mask",),
    "axes": ("axis",),
    "axis": ("axes",),
    "ddof": ("correction",),
    "dim": ("axis", "axes"),
    "dims": ("axis", "axes"),
    "eps": ("epsilon",),
    "is_causal": ("causal",),
    "keep_dims": ("keepdims",),
    "keepdim": ("keepdims",),
    "pad_width": ("widths",),
    "size": ("shape",),
    "unbiased": ("correction",),
}
# Arguments of other libraries that no function of ferrule has.
_LACKING = {
    "order": "elements are in C order",
    "out": "the result is always a new array",
    "where": "ferrule.where selects elements",
}
_SHOWN_TYPES = (bool, int, float, str, type(None))


def advice(function: Callable[..., Any], args: Sequence[object], names: Iterable[str]) -> str:
    """Return advice on a call that does not fit the function's signature; "" if there is none.

    `args` are the arguments by position, `names` those by name.
    """
    code = function.__code__
    if not args and code.co_varnames[:1] == ("key",) and "key" not in names:
        return "; ferrule.random.key(seed) makes a key"
    named = code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]
    for name in names:
        if name not in named:
            return _of_unknown(name, named)
    extra = args[code.co_argcount :]
    only_named = named[len(named) - code.co_kwonlyargcount :]
    if not extra or len(extra) > code.co_kwonlyargcount:
        return ""
    pairs = zip(only_named, extra, strict=False)
    return "; write " + ", ".join(f"{name}={value!r}" if _is_short(value) else f"{name}=..." for name, value in pairs)


def _of_unknown(name: str, named: Sequence[str]) -> str:
    for meant in _OTHER_NAMES.get(name, ()):
        if meant in named:
            return f"; it is {meant}= here"
    return f"; {_LACKING[name]}" if name in _LACKING else did_you_mean(name, named)


def _is_short(value: object) -> bool:
    elements = value if isinstance(value, (tuple, list)) else (value,)
    return len(elements) < 9 and all(type(element) in _SHOWN_TYPES for element in elements)
