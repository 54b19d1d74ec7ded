"""The distance of a result from the truth in units in the last place (Muller et al. 2018, definition 2.6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ferrule.testing.model.dtypes import FORMATS, PARTS, Values, is_floating, name_of, parts_of


@dataclass(frozen=True)
class Tolerance:
    """The allowed distance of an element from the truth, and the reason for it.

    `ulp` is in units in the last place of the true value. `bound` computes absolute distances of the result's shape
    from the widened inputs and the attributes; half a unit is added for the final rounding. Where both are given, the
    larger applies. With `nearest`, only the nearest number is right, and of two equally near ones the even one.
    """

    reason: str
    ulp: float = 0.0
    nearest: bool = False
    bound: Any = None  # (inputs, attributes, truth, dtype) -> distances

    def distances(self, inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values | None:
        if self.bound is None:
            return None
        with np.errstate(all="ignore"):
            return np.asarray(self.bound(inputs, attributes, truth, dtype))


EXACT = Tolerance("the result is a selection or a comparison of the inputs, or integer arithmetic")
ROUNDED = Tolerance("one operation, which IEEE 754 wants correctly rounded, ties to even", ulp=0.5, nearest=True)


def normwise(units: float, reason: str) -> Tolerance:
    """A distance of each part of a complex number from the truth, in units of the roundoff times its magnitude."""

    def distances(inputs: list[Values], attributes: dict[str, Any], truth: Values, dtype: str) -> Values:
        return np.asarray(units * FORMATS[PARTS[dtype]].unit_roundoff * np.abs(truth))

    return Tolerance(reason, bound=distances)


@dataclass(frozen=True)
class Verdict:
    """The worst element of a result. `ok` says whether every element is within its tolerance."""

    ok: bool
    ulp: float  # of the worst element; infinite where the difference is no distance, as for a lost NaN
    index: tuple[int, ...] = ()
    got: str = ""
    wanted: str = ""
    allowed: float = 0.0
    wrong: int = 0  # elements out of bounds
    count: int = 0
    why: str = ""

    @property
    def exact(self) -> bool:
        """Whether every element equals the truth or is the nearest number to it."""
        return self.ok and self.ulp <= 0.5


def spacing(truth: Values, dtype: str) -> Values:
    """One unit in the last place of `dtype` at the true values."""
    form = FORMATS[dtype]
    _, exponent = np.frexp(truth)
    exponent = np.clip(exponent - 1, form.low, form.high - 1)
    exponent = np.where(truth == 0, form.low, exponent)
    unit: Values = np.ldexp(np.ones((), truth.dtype), exponent - (form.digits - 1))
    return unit


def compare(
    got: Values,
    truth: Values,
    dtype: str,
    tolerance: Tolerance = EXACT,
    distances: Values | None = None,
    signed_zeros: bool = True,
    nearest: Values | None = None,
    exact: Values | None = None,
) -> Verdict:
    """Compare a result with the truth, which is wider where `dtype` is floating-point.

    `distances` are the absolute distances that `tolerance.distances` allows. `nearest` holds the numbers nearest to the
    truth, where `tolerance.nearest` is set and rounding the truth would round twice. Elements where `exact` holds must
    equal the truth.
    """
    if name_of(got.dtype) != dtype or got.shape != truth.shape:
        return Verdict(
            False, np.inf, (), f"{name_of(got.dtype)}{got.shape}", f"{dtype}{truth.shape}", why="another dtype or shape"
        )
    if got.size == 0:
        return Verdict(True, 0.0)
    if dtype == "bool":
        return _bytes_of_bools(got, truth)
    if dtype in PARTS:
        both = None if distances is None else np.stack([distances, distances], axis=-1)
        parts = None if nearest is None else parts_of(nearest)
        verdict = compare(parts_of(got), parts_of(truth), PARTS[dtype], tolerance, both, signed_zeros, parts)
        return replace(verdict, index=verdict.index[:-1], count=int(got.size))
    if not is_floating(dtype):
        off = np.where(np.asarray(got == truth), 0.0, np.inf)
        return _verdict(off, np.zeros_like(off), got, truth, "another value")
    with np.errstate(all="ignore"):
        off, allowed, why = _floating(got, truth, dtype, tolerance, distances, signed_zeros)
        if tolerance.nearest:
            other = got.astype(truth.dtype) != (round_to(truth, dtype) if nearest is None else nearest)
            ties = other & (off == 0.5)
            allowed = np.where(other & ~np.isnan(truth), np.minimum(allowed, np.nextafter(0.5, 0)), allowed)
            if ties.any() and not (off > 0.5).any():
                why = "a tie is not rounded to even"
        if exact is not None:
            allowed = np.where(exact, 0.0, allowed)
    return _verdict(off, allowed, got, truth, why)


def _bytes_of_bools(got: Values, truth: Values) -> Verdict:
    """Compare the bytes: True must be the byte 1, since kernels that count add up the bytes."""
    seen, wanted = (np.ascontiguousarray(x).view(np.uint8).reshape(x.shape) for x in (got, truth))
    off = np.where(seen == wanted, 0.0, np.inf)
    why = "a bool that is neither the byte 0 nor 1" if (seen > 1).any() else "another value"
    return _verdict(off, np.zeros_like(off), seen, wanted, why)


def round_to(truth: Values, dtype: str) -> Values:
    """Round the truth to `dtype`, ties to even; the result keeps the dtype of the truth."""
    form, finite = FORMATS[dtype], np.isfinite(truth)
    unit = spacing(np.where(finite, truth, 0), dtype)
    rounded = np.rint(np.where(finite, truth, 0) / unit) * unit
    rounded = np.where(np.abs(rounded) > form.greatest, np.copysign(np.inf, truth), rounded)
    return np.where(finite, rounded, truth)


def _floating(
    got: Values, truth: Values, dtype: str, tolerance: Tolerance, distances: Values | None, signed_zeros: bool
) -> tuple[Values, Values, str]:
    form = FORMATS[dtype]
    wide = got.astype(truth.dtype)
    edge = np.ldexp(np.ones((), truth.dtype), form.high) if form.high < 1024 or truth.dtype.itemsize > 8 else np.inf
    # An infinite result counts as the number after the greatest finite one, so that its distance is finite.
    near = np.where(np.isinf(wide), np.copysign(edge, wide), wide)
    target = np.clip(truth, -edge, edge)
    unit = spacing(target, dtype)
    off = np.abs(near - target) / unit
    allowed = np.full(truth.shape, float(tolerance.ulp))
    if distances is not None:
        allowed = np.maximum(allowed, distances / unit + 0.5)
    allowed = np.where(np.isnan(allowed), np.inf, allowed)
    # For subnormal results the unit is that of the least normal number, so that flushing to zero is an error.
    off = np.where(np.isnan(truth) != np.isnan(wide), np.inf, np.where(np.isnan(truth), 0.0, off))
    allowed = np.where(np.isnan(truth), 0.0, allowed)
    endless = np.isinf(truth)
    off = np.where(endless, np.where(wide == truth, 0.0, np.inf), off)
    allowed = np.where(endless, 0.0, allowed)
    why = "too far from the truth"
    if signed_zeros:
        zeros = (truth == 0) & (wide == 0) & (np.signbit(truth) != np.signbit(wide))
        if zeros.any() and not (off > allowed).any():
            why = "the zero has the other sign"
        off = np.where(zeros, np.inf, off)
    if (np.isnan(truth) & ~np.isnan(wide)).any():
        why = "a NaN is lost"
    return off.astype(np.float64), allowed.astype(np.float64), why


def _verdict(off: Values, allowed: Values, got: Values, truth: Values, why: str) -> Verdict:
    wrong = off > allowed
    count = int(wrong.sum())
    # The worst of the wrong elements, or of all elements if none is wrong.
    ranked = np.where(wrong, off - allowed, -1.0) if count else off
    place = np.unravel_index(int(np.argmax(np.where(np.isnan(ranked), np.inf, ranked))), got.shape)
    return Verdict(
        ok=count == 0,
        ulp=float(off[place]),
        index=tuple(int(i) for i in place),
        got=_text(got[place]),
        wanted=_text(truth[place]),
        allowed=float(allowed[place]),
        wrong=count,
        count=int(got.size),
        why=why if count else "",
    )


def _text(value: Any) -> str:
    if isinstance(value, np.longdouble):
        return np.format_float_scientific(value, precision=21, unique=False)
    if isinstance(value, np.void):
        return value.tobytes().hex()
    if value.dtype.kind in "fV":
        return f"{float(value)!r} ({float(value).hex()})"
    return str(value)
