"""Flags, numbers and axes are checked in the same way by all functions."""

from __future__ import annotations

import decimal
from collections.abc import Callable
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

FE: Any = fe  # arguments of wrong types are what is tested
X = fe.asarray([[3.0, 1.0], [4.0, 1.0]])
ROW = fe.asarray([3.0, 1.0, 2.0])

FLAGS: dict[str, Callable[[Any], Any]] = {
    "sort.descending": lambda flag: FE.sort(ROW, descending=flag),
    "sort.stable": lambda flag: FE.sort(ROW, stable=flag),
    "argsort.descending": lambda flag: FE.argsort(ROW, descending=flag),
    "cumulative_sum.include_initial": lambda flag: FE.cumulative_sum(ROW, include_initial=flag),
    "cumulative_prod.include_initial": lambda flag: FE.cumulative_prod(ROW, include_initial=flag),
    "linspace.endpoint": lambda flag: FE.linspace(0, 1, 5, endpoint=flag),
    "linalg.cholesky.upper": lambda flag: FE.linalg.cholesky(fe.eye(2), upper=flag),
    "median.keepdims": lambda flag: FE.median(X, keepdims=flag),
    "sum.keepdims": lambda flag: FE.sum(X, keepdims=flag),
    "astype.copy": lambda flag: FE.astype(X, "float32", copy=flag),
}
COPIES: dict[str, Callable[[Any], Any]] = {
    "asarray": lambda copy: FE.asarray(X, copy=copy),
    "from_dlpack": lambda copy: FE.from_dlpack(np.ones(3), copy=copy),
    "reshape": lambda copy: FE.reshape(X, (4,), copy=copy),
    "from_packed": lambda copy: FE.to_packed(FE.from_packed(np.zeros((1, 34), "uint8"), "q8_0", copy=copy)),
    "__dlpack__": lambda copy: (FE.ones(3).__dlpack__(max_version=(1, 0), copy=copy), 0)[1],
}


@each("name", FLAGS)
def test_flags_are_bools_or_0_or_1(name: str) -> None:
    function, _, argument = name.rpartition(".")
    for true, false in ((np.True_, np.False_), (1, 0)):
        for flag, plain in ((true, True), (false, False)):
            np.testing.assert_array_equal(np.asarray(FLAGS[name](flag)), np.asarray(FLAGS[name](plain)))
    for wrong in ("a", 2, None, 1.0):
        with pytest.raises(fe.InvalidArgumentError, match=f"^{function}: {argument} must be True or False, not"):
            FLAGS[name](wrong)


@each("name", COPIES)
def test_copy_is_a_flag_or_none(name: str) -> None:
    for copy in (None, True, False, np.True_, np.False_, 1, 0):
        plain = None if copy is None else bool(copy)
        np.testing.assert_array_equal(np.asarray(COPIES[name](copy)), np.asarray(COPIES[name](plain)))
    for wrong in ("a", 2, 1.0):
        with pytest.raises(fe.InvalidArgumentError, match=f"^{name}: copy must be True, False or None, not {wrong!r}$"):
            COPIES[name](wrong)


NUMBERS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "var": ("correction", lambda number: FE.var(ROW, correction=number)),
    "std": ("correction", lambda number: FE.std(ROW, correction=number)),
    "var of an array": ("ddof", lambda number: ROW.var(ddof=number)),
    "std of an array": ("correction", lambda number: ROW.std(correction=number)),
    "nanvar": ("ddof", lambda number: FE.nanvar(ROW, ddof=number)),
    "fft.fftfreq": ("d", lambda number: FE.fft.fftfreq(5, d=number)),
    "fft.rfftfreq": ("d", lambda number: FE.fft.rfftfreq(5, d=number)),
    "linalg.pinv": ("rtol", lambda number: FE.linalg.pinv(X, rtol=number)),
    "linalg.matrix_rank": ("rtol", lambda number: FE.linalg.matrix_rank(X, rtol=number)),
}


@each("name", NUMBERS)
def test_numbers_are_those_of_python_and_numpy(name: str) -> None:
    argument, call = NUMBERS[name]
    for number in (1, np.int64(1), np.float32(1), np.float16(1), decimal.Decimal(1)):
        np.testing.assert_array_equal(np.asarray(call(number)), np.asarray(call(1.0)))
    np.testing.assert_array_equal(np.asarray(call(np.float32(0.5))), np.asarray(call(0.5)))
    for wrong in (True, np.True_, "a", 1j, [1.0]):
        with pytest.raises(fe.InvalidArgumentError, match=f"^{name.split()[0]}: {argument} must be a number, not"):
            call(wrong)


@pytest.mark.parametrize("function", [fe.fft.fftfreq, fe.fft.rfftfreq])
def test_distances_of_samples_are_finite_and_not_zero(function: Any) -> None:
    for wrong in (float("nan"), float("inf"), np.float32("nan")):
        with pytest.raises(fe.InvalidArgumentError, match=f"^fft.{function.__name__}: d must be finite, not"):
            function(4, d=wrong)
    with pytest.raises(fe.InvalidArgumentError, match=f"^fft.{function.__name__}: d must not be zero"):
        function(4, d=0)


AXES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "median": ("axis", lambda axes: FE.median(X, axis=axes)),
    "quantile": ("axis", lambda axes: FE.quantile(X, 0.5, axis=axes)),
    "nanmedian": ("axis", lambda axes: FE.nanmedian(X, axis=axes)),
    "gradient": ("axis", lambda axes: FE.stack(FE.gradient(X, axis=axes))),
    "linalg.vector_norm": ("axis", lambda axes: FE.linalg.vector_norm(X, axis=axes)),
    "std": ("axis", lambda axes: FE.std(X, axis=axes)),
    "count_nonzero": ("axis", lambda axes: FE.count_nonzero(X, axis=axes)),
    "flip": ("axis", lambda axes: FE.flip(X, axis=axes)),
    "squeeze": ("axis", lambda axes: FE.squeeze(FE.ones((1, 1)), axis=axes)),
    "moveaxis": ("source", lambda axes: FE.moveaxis(X, axes, (0, 1))),
    "tensordot": ("axes", lambda axes: FE.tensordot(X, X, axes=(axes, (0, 1)))),
    "fft.fftn": ("axes", lambda axes: FE.fft.fftn(X, axes=axes)),
    "fft.irfftn": ("axes", lambda axes: FE.fft.irfftn(X, axes=axes)),
}


@each("name", AXES)
def test_axes_are_distinct_integers_in_range(name: str) -> None:
    argument, call = AXES[name]
    for axes in ([0, 1], (0, -1), range(2), (np.int8(0), np.int64(-1))):
        np.testing.assert_array_equal(np.asarray(call(axes)), np.asarray(call((0, 1))))
    with pytest.raises(fe.InvalidArgumentError, match=rf"^{name}: an axis is named twice in {argument}=\(0, -2\)$"):
        call((0, -2))
    with pytest.raises(fe.OutOfRangeError, match=f"^{name}: axis -3 is out of range for 2 dimensions$"):
        call((0, -3))
    with pytest.raises(fe.InvalidArgumentError, match=f"^{name}: {argument} must be an integer or a tuple of integers"):
        call((0, 1.0))
