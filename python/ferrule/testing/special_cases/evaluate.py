"""Results of a function against its rows."""

from __future__ import annotations

import cmath
import itertools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ferrule.testing.model.dtypes import Values
from ferrule.testing.special_cases.conditions import agrees, covered
from ferrule.testing.special_cases.notation import Entry, Row, entries

Parts = tuple[Values, ...]


@dataclass(frozen=True)
class Outcome:
    """The results of a function for some operands.

    `operands` and `results` are float64 arrays of one axis: real numbers, or the parts of complex ones one after the
    other. `allowed` gives the distance that an approximate part may have from its value. `wrong` takes a mask, judges
    these elements by the oracle of the case, and returns the mask of elements that are wrong.
    """

    operands: Parts
    results: Parts
    least_normal: float
    allowed: Callable[[Values], Values]
    wrong: Callable[[Values], Values]


@dataclass(frozen=True)
class Violation:
    """A row, and an element that is not as it says. `how` says which symmetry or other function led to the row."""

    row: Row
    index: int
    how: str = ""


@dataclass(frozen=True)
class Frame:
    """The rows of an entry together with operands and results that they apply to."""

    entry: Entry
    outcome: Outcome
    how: str = ""


def violations(entry: Entry, outcome: Outcome) -> Iterator[Violation]:
    """The first violation of each row."""
    for frame in frames(entry, outcome):
        for row in frame.entry.rows:
            found = _find_violation(frame.entry, row, frame.outcome)
            if found is not None:
                yield Violation(row, found, frame.how)
    for row in entry.cuts:
        found = _find_violation(entry, row, outcome)
        if found is not None:
            yield Violation(row, found, "a branch cut")


def witnesses(entry: Entry, outcome: Outcome) -> list[tuple[Frame, Row, Values]]:
    """For each row and frame, the indices of the operands that it covers."""
    rows = [(frame, row) for frame in frames(entry, outcome) for row in frame.entry.rows]
    rows += [(Frame(entry, outcome), row) for row in entry.cuts]
    return [
        (frame, row, np.flatnonzero(covered(frame.entry, row, frame.outcome.operands, outcome.least_normal)))
        for frame, row in rows
    ]


def _find_violation(entry: Entry, row: Row, outcome: Outcome) -> int | None:
    with np.errstate(all="ignore"):
        mask = covered(entry, row, outcome.operands, outcome.least_normal)
        bad = _not_as_it_says(entry, row, outcome, mask)
    return int(np.argmax(bad)) if bad.any() else None


def _not_as_it_says(entry: Entry, row: Row, outcome: Outcome, mask: Values) -> Values:
    if not mask.any():
        return mask
    if row.results == ("oracle",):
        return outcome.wrong(mask)
    if row.results == ("cmath",):
        return np.asarray(mask & ~_agrees_with_cmath(entry.name, mask, outcome))
    assert len(row.results) == len(outcome.results), row.text
    good = [
        agrees(what, got, entry, outcome.operands, outcome.allowed)
        for what, got in zip(row.results, outcome.results, strict=True)
    ]
    return np.asarray(mask & ~np.logical_and.reduce(good))


def frames(entry: Entry, outcome: Outcome) -> Iterator[Frame]:
    """The rows that hold for the outcome: the entry's own, those by its symmetries, those of other functions."""
    if entry.by_parts:
        yield Frame(entry, outcome)
        real = entries()[entry.name, False]
        for part, name in enumerate(("real parts", "imaginary parts")):
            own = replace(outcome, operands=outcome.operands[part::2], results=outcome.results[part::2])
            yield from (replace(frame, how=f"{name} {frame.how}".strip()) for frame in frames(real, own))
    elif entry.same_as:
        for frame in frames(*_other(entry, outcome)):
            yield replace(frame, how=f"as {entry.same_as} {frame.how}".strip())
    else:
        yield Frame(entry, outcome)
        for signs_in, signs_out, how in _symmetries(entry):
            turned = replace(
                outcome,
                operands=tuple(sign * x for sign, x in zip(signs_in, outcome.operands, strict=True)),
                results=tuple(sign * x for sign, x in zip(signs_out, outcome.results, strict=False)),
            )
            yield Frame(entry, turned, how)


def _symmetries(entry: Entry) -> Iterator[tuple[Sequence[int], Sequence[int], str]]:
    """The signs of operands and results."""
    conjugate, negative = (1, -1), (-1, -1)
    if not entry.is_complex:
        if len(entry.operands) == 1 and entry.symmetries & {"odd", "even"}:
            yield (-1,), (-1 if "odd" in entry.symmetries else 1,), "of -x"
        return
    if "conj" in entry.symmetries:
        yield conjugate, conjugate, "of the conjugate"
    if entry.symmetries & {"odd", "even"}:
        out = negative if "odd" in entry.symmetries else (1, 1)
        yield negative, out, "of -z"
        yield (-1, 1), (out[0], -out[1]), "of the conjugate of -z"


def _other(entry: Entry, outcome: Outcome) -> tuple[Entry, Outcome]:
    """The other function, and its operands and results."""
    expression = entry.same_as
    if found := re.fullmatch(r"log\(z\) / log\((\d+)\)", expression):
        factor = math.log(float(found[1]))
        return entries()["log", True], replace(outcome, results=tuple(factor * x for x in outcome.results))
    if found := re.fullmatch(r"(-1j \* )?(\w+)\(1j \* z\)", expression):
        a, b = outcome.operands
        real, imaginary = outcome.results
        results = (-imaginary, real) if found[1] else (real, imaginary)
        return entries()[found[2], True], replace(outcome, operands=(-b, a), results=results)
    found = re.fullmatch(r"(\w+)\((.*)\)", expression)
    assert found, expression
    own = dict(zip(entry.operands, outcome.operands, strict=True))
    operands: list[Values] = []
    for text in found[2].split(", "):
        if text == "z":
            operands += outcome.operands
        elif text.lstrip("-") in own:
            operands.append(-own[text[1:]] if text.startswith("-") else own[text])
        else:
            operands.append(np.full(outcome.operands[0].shape, float(text)))
            if entry.is_complex:
                operands.append(np.zeros(outcome.operands[0].shape))
    return entries()[found[1], entry.is_complex], replace(outcome, operands=tuple(operands))


CMATH: dict[str, Callable[[complex], complex]] = {
    "log2": lambda z: complex(*(part / math.log(2) for part in _parts(cmath.log(z)))),
    "log1p": lambda z: cmath.log(complex(1 + z.real, z.imag)),
    **{name: getattr(cmath, name) for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh")},
    **{name: getattr(cmath, name) for name in ("log", "log10", "sqrt")},
}


def _parts(z: complex) -> tuple[float, float]:
    return z.real, z.imag


def _agrees_with_cmath(name: str, mask: Values, outcome: Outcome) -> Values:
    """Elements whose parts are near those of Python's function, and have the same signs."""
    truth = [np.zeros(mask.shape), np.zeros(mask.shape)]
    for i in np.flatnonzero(mask):
        truth[0][i], truth[1][i] = _parts(CMATH[name](complex(*(float(x[i]) for x in outcome.operands))))
    size = outcome.allowed(np.hypot(*truth))
    good = np.ones(mask.shape, bool)
    for got, wanted in zip(outcome.results, truth, strict=True):
        near = np.where(wanted == 0, got == 0, np.abs(got - wanted) <= size)
        good &= near & (np.signbit(got) == np.signbit(wanted))
    return good


def asymmetric(entry: Entry, outcome: Outcome, shape: tuple[int, ...]) -> Violation | None:
    """An element that has not the bits that the symmetries of the function demand, if there is one.

    The operands are a grid of `shape`. Along each axis, the numbers of the second half are those of the first half
    with the other sign. Only finite operands are compared: the sign of other results may be unspecified.
    """
    base = entry
    while base.same_as and base.is_complex:
        base, _ = _other(base, outcome)
    finite = np.logical_and.reduce([np.isfinite(x) for x in outcome.operands]).reshape(shape)
    grids = [x.reshape(shape) for x in outcome.results]
    turns = [turn for turn in itertools.product((0, 1), repeat=len(shape)) if any(turn)]
    for turn in turns:
        signs = _signs_of(base, turn)
        if signs is None:
            continue
        turned = [np.roll(x, [t * n // 2 for t, n in zip(turn, shape, strict=True)], range(len(shape))) for x in grids]
        bad = _other_bits(grids, [sign * x for sign, x in zip(signs, turned, strict=False)], finite)
        if bad is not None:
            return Violation(Row(f"{' and '.join(sorted(base.symmetries))}: other bits", (), ()), bad)
    if "commutes" in entry.symmetries:
        bad = _other_bits(grids, [x.T for x in grids], finite)
        if bad is not None:
            return Violation(Row("commutes: other bits", (), ()), bad)
    return None


def _signs_of(entry: Entry, turn: tuple[int, ...]) -> tuple[int, ...] | None:
    """The signs of the results where the signs of some operands change. None: nothing is known of them."""
    if not entry.is_complex:
        if "even" in entry.symmetries:
            return (1,)
        return (-1,) if "odd" in entry.symmetries else None
    sign = {"odd": -1, "even": 1}.get(next(iter(entry.symmetries & {"odd", "even"}), ""))
    if turn == (0, 1):
        return (1, -1) if "conj" in entry.symmetries else None
    if sign is None or turn not in ((1, 1), (1, 0)):
        return None
    return (sign, sign) if turn == (1, 1) else (sign, -sign)


def _other_bits(grids: list[Values], wanted: list[Values], finite: Values) -> int | None:
    equal = [
        ((x == y) & (np.signbit(x) == np.signbit(y))) | (np.isnan(x) & np.isnan(y))
        for x, y in zip(grids, wanted, strict=True)
    ]
    bad = finite & ~np.logical_and.reduce(equal)
    return int(np.argmax(bad)) if bad.any() else None
