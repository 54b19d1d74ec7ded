"""A case on a device: its graph, compiled and computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ferrule.testing.case import Case, Problem
from ferrule.testing.dtypes import Values
from ferrule.testing.layouts import Laid, Layout, contiguous

if TYPE_CHECKING:
    import ferrule as fe


class Refused(Exception):  # noqa: N818 - an answer, not an error
    """The device does not take this node; the reason is its own."""


@dataclass
class Execution:
    """A compiled graph of one op, and what its inputs are."""

    graph: fe.Graph
    laid: list[Laid]
    given: list[fe.Array]

    def compute(self) -> Values:
        return np.asarray(self.graph.compute(*self.given))

    def compute_into(self, out: Values) -> None:
        self.graph.compute(*self.given, out=out)

    @property
    def seen(self) -> list[Values]:
        return [laid.seen for laid in self.laid]

    @property
    def kernels(self) -> list[str]:
        return kernels_of(self.graph.plan)


def kernels_of(plan: Any) -> list[str]:
    """The kernels' names that a plan shows."""
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
    then: str | None = None,
    **options: Any,
) -> Execution:
    """Compile the case for the device. `constants` are the numbers of inputs that never change; `then` is the name of
    an op that is applied to the result; `options` go to Graph.compile. Raises Refused.
    """
    import ferrule as fe

    lays = layouts or [contiguous] * len(inputs)
    laid = [lay(values) for lay, values in zip(lays, inputs, strict=True)]
    graph = fe.Graph(device)
    symbols, given = [], []
    for number, one in enumerate(laid):
        if number in constants:
            symbol = graph.constant(fe.asarray(one.base, device=device))
        else:
            symbol = graph.input(one.base.shape, one.base.dtype)
            given.append(fe.asarray(one.base, device=device))
        symbols.append(one.view(graph, symbol))
    try:
        result = graph.apply(case.op, *symbols, **problem.attributes)
        graph.output(result if then is None else graph.apply(then, result))
        graph.compile(fallback="error", **options)
    except fe.UnsupportedError as error:
        raise Refused(str(error)) from error
    return Execution(graph, laid, given)


def run(device: fe.Device, case: Case, problem: Problem, inputs: Sequence[Values], **options: Any) -> Values:
    return prepare(device, case, problem, inputs, **options).compute()
