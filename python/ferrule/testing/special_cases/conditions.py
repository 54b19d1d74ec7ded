"""Conditions and results of rows, for operands and results that are float64 arrays."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from ferrule.testing.model.dtypes import Values
from ferrule.testing.special_cases.notation import Entry, Row

NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
ANGLE = re.compile(r"([+-]?)(\d*)pi(?:/(\d))?")


def covered(entry: Entry, row: Row, operands: Sequence[Values], least_normal: float) -> Values:
    """The elements for which one of the row's conditions holds. `least_normal` is that of the operands' dtype."""
    if row.is_rest:
        others = [covered(entry, other, operands, least_normal) for other in entry.rows if not other.is_rest]
        return np.asarray(~np.logical_or.reduce(others))
    with np.errstate(all="ignore"):
        held = [_alternative(entry, text, operands, least_normal) for text in row.conditions]
    return np.asarray(np.logical_or.reduce(held))


def _alternative(entry: Entry, text: str, operands: Sequence[Values], least_normal: float) -> Values:
    names = dict(zip(entry.operands, operands, strict=True))
    quantifier, _, pattern = text.partition(" ")
    if quantifier in ("some", "all"):
        combine = np.logical_or if quantifier == "some" else np.logical_and
        return np.asarray(combine.reduce([_holds(pattern, x, names, least_normal) for x in operands]))
    patterns = [pattern.strip() for pattern in text.split(",")]
    assert len(patterns) == len(operands), text
    held = [_holds(pattern, x, names, least_normal) for pattern, x in zip(patterns, operands, strict=True)]
    return np.asarray(np.logical_and.reduce(held))


def _holds(pattern: str, x: Values, names: dict[str, Values], least_normal: float) -> Values:
    parts = [
        ~_is(part[1:], x, names, least_normal) if part.startswith("!") else _is(part, x, names, least_normal)
        for part in pattern.split("&")
    ]
    return np.asarray(np.logical_and.reduce(parts))


def _is(what: str, x: Values, names: dict[str, Values], least_normal: float) -> Values:
    negative, finite, size = np.signbit(x), np.isfinite(x), np.abs(x)
    if what.removeprefix("-") in names:
        return np.asarray(x == (-names[what[1:]] if what.startswith("-") else names[what]))
    if what.startswith(("like ", "unlike ")):
        same = negative == np.signbit(names[what.split()[1]])
        return np.asarray(same if what.startswith("like") else ~same)
    if what.startswith("magnitude"):
        return compared(what[len("magnitude")], size, float(what[len("magnitude") + 1 :]))
    if what[0] in "<>":
        return compared(what[0], x, float(what[1:]))
    whole = finite & (x == np.floor(x))
    unsigned: dict[str, Values] = {
        "nan": np.isnan(x),
        "inf": np.isinf(x),
        "0": x == 0,
        "any": np.ones(x.shape, bool),
        "fin": finite,
        "nonzero": finite & (x != 0),
        "int": whole,
        "odd": whole & (np.fmod(x, 2) != 0),
        "halfway": finite & (size < 2.0**52) & (size - np.floor(size) == 0.5),
        "subnormal": (x != 0) & (size < least_normal),
    }
    if what in unsigned:
        return unsigned[what]
    sign = negative if what.startswith("-") else ~negative
    if what in ("+fin", "-fin"):
        return np.asarray(unsigned["nonzero"] & sign)
    if what[0] in "+-" and what[1:] in ("nan", "inf", "0"):
        return np.asarray(unsigned[what[1:]] & sign)
    assert NUMBER.fullmatch(what), what
    return np.asarray(x == float(what))


def compared(sign: str, x: Values, bound: float) -> Values:
    return np.asarray({"<": x < bound, ">": x > bound, "=": x == bound}[sign])


def agrees(
    what: str, got: Values, entry: Entry, operands: Sequence[Values], allowed: Callable[[Values], Values]
) -> Values:
    """The elements that are the result `what` of the operands. `allowed` has the distance that a number may have."""
    with np.errstate(all="ignore"):
        alternatives = [_agrees(one, got, entry, operands, allowed) for one in what.split(" or ")]
    return np.asarray(np.logical_or.reduce(alternatives))


def _agrees(
    what: str, got: Values, entry: Entry, operands: Sequence[Values], allowed: Callable[[Values], Values]
) -> Values:
    names = dict(zip(entry.operands, operands, strict=True))
    if what == "any":
        return np.ones(got.shape, bool)
    if what in ("positive", "negative"):
        return np.asarray((np.signbit(got) == (what == "negative")) & ~np.isnan(got))
    if what in ("nan", "inf", "0"):
        return _is(what, got, {}, 0)
    if what in ("+nan", "-nan"):
        return _is(what, got, {}, 0)
    if found := ANGLE.fullmatch(what):
        angle = float(found[2] or 1) * np.pi / float(found[3] or 1)
        wanted = np.full(got.shape, -angle if found[1] == "-" else angle)
        seen = got if found[1] else np.abs(got)
        return np.asarray(np.abs(seen - wanted) <= allowed(wanted))
    return same(got, _wanted(what, got.shape, names, operands))


def _wanted(what: str, shape: tuple[int, ...], names: dict[str, Values], operands: Sequence[Values]) -> Values:
    if what in ("true", "false"):
        return np.full(shape, float(what == "true"))
    if what == "even":
        return np.rint(operands[0])
    if what == "truncated":
        return np.asarray(np.trunc(operands[0]) + 0.0)  # integers have no -0
    if what == "inf*sign":
        return np.asarray(np.copysign(np.inf, np.copysign(1, operands[0]) * np.copysign(1, operands[1])))
    if found := re.fullmatch(r"(inf|0)\*(cos|sin)\((\w+)\)", what):
        function = np.cos if found[2] == "cos" else np.sin
        return np.asarray(np.copysign(float(found[1]), function(names[found[3]])))
    if found := re.fullmatch(r"(-?)(abs\()?([a-z]\d?)\)?", what):
        value = np.abs(names[found[3]]) if found[2] else names[found[3]]
        return np.asarray(-value if found[1] else value)
    return np.full(shape, float(what))


def same(x: Values, y: Values) -> Values:
    """Whether elements are equal, with the same sign if they are zero, or both NaN."""
    return np.asarray(((x == y) & (np.signbit(x) == np.signbit(y))) | (np.isnan(x) & np.isnan(y)))
