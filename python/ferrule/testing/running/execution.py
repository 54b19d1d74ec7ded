"""Compiles and computes the graph of a case on a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import ferrule as fe
from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import Values
from ferrule.testing.model.layouts import Laid, Layout, contiguous
from ferrule.testing.model.problem import Problem
from ferrule.testing.running.array_conversion import array_of, values_of

# Returns the outputs, given the graph, the result of the case's op and the symbols of further inputs.
Tail = Callable[["fe.Graph", "fe.Array", list["fe.Array"]], Sequence["fe.Array"]]


class Refused(Exception):  # noqa: N818 - an answer, not an error
    """The device does not support the node; the text is the device's reason."""


@dataclass
class Execution:
    """A compiled graph of one op, with its inputs."""

    graph: fe.Graph
    laid: list[Laid]
    given: list[fe.Array]
    output: int = 0  # the index of the output under test

    def compute(self) -> Values:
        return self._own(self.graph.compute(*self.given))

    def compute_with(self, inputs: Sequence[Values]) -> Values:
        """Compute with other inputs, which need the same strides as the first ones."""
        return self._own(self.graph.compute(*(array_of(x, self.graph.device) for x in inputs)))

    def _own(self, results: fe.Array | tuple[fe.Array, ...]) -> Values:
        return values_of(results[self.output] if isinstance(results, tuple) else results)

    def compute_all(self) -> list[Values]:
        """Compute, and return all outputs."""
        results = self.graph.compute(*self.given)
        return [values_of(result) for result in (results if isinstance(results, tuple) else (results,))]

    def compute_into(self, out: Values) -> None:
        outs: list[Values] = [np.empty(symbol.shape, symbol.dtype) for symbol in self.graph.outputs]
        outs[self.output] = out
        self.graph.compute(*self.given, out=outs[0] if len(outs) == 1 else tuple(outs))

    @property
    def seen(self) -> list[Values]:
        return [laid.seen for laid in self.laid]

    @property
    def kernels(self) -> list[str]:
        return kernels_of(self.graph.plan)


def kernels_of(plan: Any) -> list[str]:
    """The names of the kernels in a plan."""
    if isinstance(plan, dict):
        own = [str(plan["kernel"])] if "kernel" in plan else []
        return own + [kernel for value in plan.values() for kernel in kernels_of(value)]
    return [kernel for value in plan for kernel in kernels_of(value)] if isinstance(plan, list) else []


def prepare(
    device: fe.Device,
    case: Case,
    problem: Problem,
    inputs: Sequence[Values],
    layouts: Sequence[Layout] | None = None,
    constants: Sequence[int] = (),
    tail: Tail | None = None,
    further: Sequence[Values] = (),
    **options: Any,
) -> Execution:
    """Compile the case for the device. Raises Refused.

    `constants` are the indices of inputs that become constants of the graph. `tail` computes the outputs from the
    result and the inputs `further`. `options` are passed to Graph.compile.
    """
    lays = layouts or [contiguous] * len(inputs)
    laid = [lay(values) for lay, values in zip(lays, inputs, strict=True)]
    graph = fe.Graph(device)
    symbols, given = [], []
    for number, one in enumerate(laid):
        if number in constants:
            symbol = graph.constant(array_of(one.base, device))
        else:
            given.append(array_of(one.base, device))
            # Use the strides on the device: a device that copies makes the array contiguous.
            symbol = graph._input_like(given[-1])
        symbols.append(one.view(graph, symbol))
    more = [graph.input(values.shape, values.dtype) for values in further]
    given += [array_of(values, device) for values in further]
    try:
        results = graph.apply_all(case.op, *symbols, **problem.attributes)
        number = case.output_number
        graph.output(*(results if tail is None else tail(graph, results[number], more)))
        graph.compile(fallback="error", **options)
    except fe.UnsupportedError as error:
        raise Refused(str(error)) from error
    return Execution(graph, laid, given, number if tail is None else 0)


def run(device: fe.Device, case: Case, problem: Problem, inputs: Sequence[Values], **options: Any) -> Values:
    return prepare(device, case, problem, inputs, **options).compute()
