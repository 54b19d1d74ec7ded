"""A problem, the shapes and attributes of one execution, and a family, the problems of an op."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ferrule.testing.model.values import Shape

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Attributes = Mapping[str, Any]


@dataclass(frozen=True)
class Problem:
    """The shapes of the inputs and the attributes of one execution."""

    shapes: tuple[Shape, ...]
    attributes: Attributes = field(default_factory=dict)

    def __str__(self) -> str:
        shapes = ", ".join(str(shape) for shape in self.shapes)
        attributes = "".join(f", {name}={value!r}" for name, value in self.attributes.items())
        return f"({shapes}{attributes})"


@dataclass(frozen=True)
class Batch:
    """A problem of many rows, and the axis of the rows in each input and the result (None: a shared input)."""

    problem: Problem
    inputs: tuple[int | None, ...]
    output: int = 0
    from_end: bool = False  # rows are counted from the end, so that a part must reach to it


@dataclass(frozen=True)
class Family:
    """The problems of an op. The first of `plain` is used where a single problem is enough."""

    plain: tuple[Problem, ...]
    empty: tuple[Problem, ...] = ()
    single: tuple[Problem, ...] = ()  # of size one
    large: tuple[Problem, ...] = ()  # large enough for several threads, with sizes that are no multiple of any tile
    draw: Callable[[], SearchStrategy[Problem]] | None = None
    batches: tuple[Batch, ...] = ()
    pointwise: bool = False  # each element depends only on the input elements at its position
    shapes: tuple[Problem, ...] = ()  # further problems for the check `shapes`
    sized: Callable[[int], Sequence[Problem]] | None = None  # problems with rows of a given length: see sizes.py
    constants: tuple[Problem, ...] = ()  # with a constant input that is worth preparing

    def with_attributes(self, **attributes: Any) -> Family:
        """Return the family with further attributes in every problem."""

        def add(problem: Problem) -> Problem:
            return Problem(problem.shapes, {**problem.attributes, **attributes})

        draw, sized = self.draw, self.sized
        return replace(
            self,
            plain=tuple(map(add, self.plain)),
            empty=tuple(map(add, self.empty)),
            single=tuple(map(add, self.single)),
            large=tuple(map(add, self.large)),
            draw=None if draw is None else (lambda: draw().map(add)),
            batches=tuple(replace(batch, problem=add(batch.problem)) for batch in self.batches),
            shapes=tuple(map(add, self.shapes)),
            sized=None if sized is None else (lambda size: tuple(map(add, sized(size)))),
            constants=tuple(map(add, self.constants)),
        )
