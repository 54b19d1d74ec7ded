"""A case: everything the kit knows of one op for one set of dtypes. All checks, the matrix and the benchmark use it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ferrule.op_rows import OP_ROWS
from ferrule.testing.model.dtypes import PARTS, Values, is_floating, name_of, numpy_dtype, widen
from ferrule.testing.model.exactness import EXACT, Tolerance, Verdict, compare
from ferrule.testing.model.problem import Family, Problem
from ferrule.testing.model.values import ANY, Domain, Shape

Oracle = Callable[..., Values]
Draw = Callable[["np.random.Generator", Shape, str], Values]


@dataclass(frozen=True)
class Case:
    """One op for one set of dtypes.

    Parameters
    ----------
    op : str
        The op's name.
    dtypes : tuple of str
        The dtype of each input; the last one applies to all further inputs.
    result : str
        The dtype of the output under test.
    family : Family
        The shapes and attributes to test.
    oracle : callable
        Computes the truth from the inputs, floating-point ones widened (`dtypes.wide_of`), and the attributes as
        keyword arguments. A floating-point truth is as wide; others have the dtype `result`. It uses no code of
        ferrule.
    tolerance : Tolerance
        The allowed distance from the truth.
    domains : tuple of Domain
        The values of each input; the last one applies to all further inputs.
    variant : str
        Tells cases of the same op and dtypes apart, such as "tanh".
    output : str
        For an op with several outputs, the one that `result`, `oracle` and `tolerance` describe. Each output has its
        own case.
    signed_zeros : bool
        Whether the sign of a zero is defined, and so compared.
    fill : callable, optional
        `fill(rng, number, problem, drawn)` returns the values of input `number` in place of the drawn ones: a mask,
        indices, values with infinities.
    arrange : callable, optional
        `arrange(number, values)` returns the values of input `number` in the order that the op requires, such as
        ascending. It applies to all inputs, also after a check has replaced some of their values.
    measured : callable, optional
        `measured(inputs, attributes, result)`, of widened values, returns what is compared with the truth in place of
        the result: where several results are right, a property that all of them have, such as Q^H @ Q.
    ordinary_only : bool
        Whether only ordinary values, or those of `fill`, have a defined result: the checks leave out infinities, NaN,
        other edge values and matrices of equal rows.
    left_out : mapping of str to str
        The fills of checks/ranges.py for which the truth is undefined, with the reason.
    errors : callable, optional
        Returns inputs for which the op must raise an error.
    """

    op: str
    dtypes: tuple[str, ...]
    result: str
    family: Family
    oracle: Oracle
    tolerance: Tolerance = EXACT
    domains: tuple[Domain, ...] = (ANY,)
    variant: str = ""
    output: str = ""
    signed_zeros: bool = True
    fill: Callable[[np.random.Generator, int, Problem, Values], Values] | None = None
    arrange: Callable[[int, Values], Values] | None = None
    measured: Callable[[list[Values], dict[str, Any], Values], Values] | None = None
    ordinary_only: bool = False
    left_out: Mapping[str, str] = field(default_factory=dict)
    errors: Callable[[Case], Iterable[Failing]] | None = None

    @property
    def name(self) -> str:
        """The name in test ids, such as `softmax-float32`."""
        dtypes = self.dtypes[:1] if all(d == self.dtypes[0] for d in self.dtypes) else self.dtypes
        words = [self.op, *dtypes]
        if not self.dtypes or self.op == "astype":
            words += ["to", self.result]
        return "-".join(filter(None, (*words, self.output, self.variant)))

    @property
    def asked(self) -> tuple[str, ...]:
        """The dtypes to pass to `Device.supports`: the inputs', and the result's for ops with an attribute `dtype`."""
        return (*self.dtypes, self.result) if "dtype" in self.family.plain[0].attributes else self.dtypes

    @property
    def output_number(self) -> int:
        """The index of the output under test among the op's outputs."""
        return OP_ROWS[self.op]["outputs"].index(self.output) if self.output else 0

    @property
    def floating(self) -> bool:
        """Whether the result is floating-point."""
        return is_floating(self.result)

    def domain(self, number: int) -> Domain:
        """The values of input `number`."""
        return self.domains[min(number, len(self.domains) - 1)]

    def dtype(self, number: int) -> str:
        """The dtype of input `number`."""
        return self.dtypes[min(number, len(self.dtypes) - 1)]

    def inputs(self, problem: Problem, rng: np.random.Generator, draw: Draw | None = None) -> list[Values]:
        """Draw the inputs of a problem.

        Parameters
        ----------
        problem : Problem
            The shapes and attributes.
        rng : numpy.random.Generator
            The source of random values.
        draw : callable, optional
            `draw(rng, shape, dtype)` returns the values of floating-point inputs. By default they are ordinary values
            of the input's domain.

        Returns
        -------
        list of numpy.ndarray
            One array for each shape of the problem.
        """
        values = []
        for number, shape in enumerate(problem.shapes):
            dtype = self.dtype(number)
            if draw is None or not is_floating(dtype):
                drawn = self.domain(number).ordinary(rng, shape, dtype)
            else:
                drawn = draw(rng, shape, dtype).astype(numpy_dtype(dtype))
            values.append(drawn if self.fill is None else self.fill(rng, number, problem, drawn))
        return self.arranged(values)

    def arranged(self, inputs: Sequence[Values]) -> list[Values]:
        """The inputs in the order that the op requires."""
        if self.arrange is None:
            return list(inputs)
        return [self.arrange(number, values) for number, values in enumerate(inputs)]

    def truth(self, problem: Problem, inputs: list[Values]) -> Values:
        """The oracle's result: widened for a floating-point result, else in the result's dtype."""
        with np.errstate(all="ignore"):
            truth = np.asarray(self.oracle(*(widen(x) for x in inputs), **problem.attributes))
        is_wide = self.floating or self.result in PARTS
        return truth if is_wide else truth.astype(numpy_dtype(self.result), copy=False)

    def judge(self, problem: Problem, inputs: list[Values], got: Values, truth: Values | None = None) -> Verdict:
        """Compare a result with the truth.

        Parameters
        ----------
        problem : Problem
            The shapes and attributes that `got` was computed for.
        inputs : list of numpy.ndarray
            The inputs that it was computed from.
        got : numpy.ndarray
            The result to compare.
        truth : numpy.ndarray, optional
            The truth, if it is known. By default the oracle computes it.

        Returns
        -------
        Verdict
            The worst element, and whether all elements are within the tolerance (`ok`).
        """
        truth = self.truth(problem, inputs) if truth is None else truth
        if self.measured is not None and name_of(got.dtype) == self.result:
            found = self.measured([widen(x) for x in inputs], dict(problem.attributes), widen(got))
            got = found.astype(numpy_dtype(self.result))
        distances = self.tolerance.distances([widen(x) for x in inputs], dict(problem.attributes), truth, self.result)
        nearest = self._nearest(problem, inputs) if self.tolerance.nearest else None
        return compare(
            got, truth, self.result, self.tolerance, distances, self.signed_zeros, nearest, self._exact(inputs, truth)
        )

    def _exact(self, inputs: list[Values], truth: Values) -> Values | None:
        """Elements where an infinite input gives an integer or infinity, as in tanh and exp: limits must be exact."""
        if not self.family.pointwise or len(inputs) != 1 or not all(map(is_floating, (*self.dtypes, self.result))):
            return None
        with np.errstate(all="ignore"):
            return np.asarray(np.isinf(inputs[0].astype(np.float64)) & (truth == np.rint(truth)))

    def _nearest(self, problem: Problem, inputs: list[Values]) -> Values | None:
        """The result that NumPy computes in float64 or complex128 with a single rounding; None for narrower results.

        Rounding a long double truth to float64 would round twice, and 64 bits are too few to hide that. For narrower
        results the float64 oracle has enough digits: 2 p + 2 (Figueroa 1995).
        """
        if self.result not in ("float64", "complex128"):
            return None
        with np.errstate(all="ignore"):
            return np.asarray(self.oracle(*inputs, **problem.attributes)).astype(self.result)


@dataclass(frozen=True)
class Failing:
    """Inputs for which an op must raise an error rather than give a result."""

    problem: Problem
    inputs: list[Values]
    why: str
