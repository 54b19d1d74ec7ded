"""The state from which steps are drawn: the values so far, computed by NumPy, and inputs that are added on demand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from ferrule.testing.model.dtypes import FLOATS, Values
from ferrule.testing.programs.model.inputs import ARGUMENT, BARE, CONSTANT, NUMBER, Given, Input, Number, Operand
from ferrule.testing.programs.model.memory import Memory, Shape, draw_memory, evaluate
from ferrule.testing.programs.model.promotion import converted, promoted_all

Takes = Callable[..., bool]  # (op, *dtypes): whether the device supports it
MOST_INPUTS = 7
T = TypeVar("T")


class Scope:
    """The values and inputs so far. `dtypes` are drawn for inputs; repeated ones are more likely."""

    def __init__(self, rng: np.random.Generator, takes: Takes, most: int, dtypes: Sequence[str]) -> None:
        self.rng, self.takes, self.most, self.dtypes = rng, takes, most, dtypes
        self.values: dict[str, Values] = {}
        self.memories: list[Memory] = []
        self.inputs: list[Input] = []
        self.numbers: list[Number] = []

    # ---- chance
    def one_in(self, count: int) -> bool:
        return bool(self.rng.integers(count) == 0)

    def below(self, count: int) -> int:
        return int(self.rng.integers(count))

    def between(self, low: int, high: int) -> int:
        """A random integer from `low` to `high`, both included."""
        return int(self.rng.integers(low, high + 1))

    def choose(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    # ---- values
    def pick(self, fits: Callable[[Values], bool] = lambda x: True) -> str | None:
        """The name of a random value, with a preference for the last three."""
        names = [name for name, value in self.values.items() if fits(value)]
        if not names:
            return None
        late = names[-3:]
        return self.choose(late if self.one_in(2) else names)

    def of_dtype(self, op: str, dtypes: Sequence[str], rank: int = 0) -> str | None:
        """A value of one of the dtypes with at least `rank` axes, for which the device supports the op."""
        return self.pick(lambda x: x.dtype.name in dtypes and x.ndim >= rank and self.takes(op, x.dtype.name))

    def add_input(self, dtype: str, shape: Shape, kind: str = "", limits: tuple[int, int] | None = None) -> str | None:
        """Add an input in a random role; None if the program has enough inputs."""
        if len(self.inputs) >= MOST_INPUTS:
            return None
        memory = draw_memory(self.rng, dtype, shape, kind)
        if limits is not None:
            memory = Memory(dtype, shape, "integers", memory.seed, limits[0], limits[1], memory.writable)
        if limits is None and not self.one_in(3):
            shape_before, view = self._view_onto(shape)
        else:
            shape_before, view = shape, "{0}"
        repeats = view.startswith("np.broadcast_to")  # a read-only array in NumPy
        memory = Memory(**{**vars(memory), "shape": shape_before, "writable": memory.writable and not repeats})
        self.memories.append(memory)
        return self._add(len(self.memories) - 1, view)

    def add_shared(self) -> str | None:
        """Add an input that is another view of an existing memory."""
        numbers = [number for number, memory in enumerate(self.memories) if memory.shape]
        if not numbers or len(self.inputs) >= MOST_INPUTS:
            return None
        number = self.choose(numbers)
        key = self.choose(["::-1", "1:", "::2", ":", ":-1", ":0"] if self.one_in(3) else ["::-1", ":", "1:"])
        return self._add(number, f"{{0}}[{key}]" + (".T" if self.one_in(4) else ""))

    def _add(self, memory: int, view: str) -> str:
        role = self.choose([ARGUMENT, ARGUMENT, ARGUMENT, CONSTANT, CONSTANT, BARE])
        one = Input(f"{role}{len(self.inputs)}", memory, view)
        self.inputs.append(one)
        self.values[one.name] = evaluate(view.format("m"), m=self.memories[memory].values())
        return one.name

    def _view_onto(self, shape: Shape) -> tuple[Shape, str]:
        """The shape of a memory and a view of it that has the given shape."""
        how = self.below(5)
        if not shape or how == 0:
            return shape, "{0}"
        if how == 1:  # axes in another order
            order = [int(axis) for axis in self.rng.permutation(len(shape))]
            return tuple(
                shape[axis] for axis in order
            ), f"{{0}}.transpose({[order.index(k) for k in range(len(shape))]})"
        if how == 2:  # repeated along an axis
            axis = self.below(len(shape))
            before = tuple(1 if place == axis else size for place, size in enumerate(shape))
            return before, f"np.broadcast_to({{0}}, {shape})" if shape[axis] else f"{{0}}[{':, ' * axis}:0]"
        steps, sizes = [], []
        for size in shape:
            start, step = self.below(3), self.choose([1, 1, 2, -1, -2] if how == 3 else [1, -1])
            if step > 0:
                sizes.append(start + size * step)
                steps.append(f"{start}:{start + size * step}:{step}")
            else:
                sizes.append(start - size * step)
                steps.append(f"{start - size * step - 1}:{start - 1 if start else ''}:{step}" if size else ":0")
        return tuple(sizes), f"{{0}}[{', '.join(steps)}]"

    def shape(self, most_rank: int = 4) -> Shape:
        """Draw the shape of an input: small, rarely empty, rarely with many axes."""
        rank = self.between(0, 6) if self.one_in(6) else self.between(0, most_rank)
        largest = 3 if rank > 4 else 7
        sizes = [0 if self.one_in(30) else 1 if self.one_in(6) else self.between(1, largest) for _ in range(rank)]
        if rank and self.one_in(8):
            sizes[self.below(rank)] = self.choose([8, 9, 15, 16, 17, 31, 33, 64, 65])
        if rank and self.most > 10_000 and self.one_in(2):
            sizes[self.below(rank)] *= self.choose([129, 400, 1025])
        while int(np.prod(sizes, dtype=object)) > self.most:
            sizes[int(np.argmax(sizes))] //= 2
        return tuple(sizes)

    def beside(self, shape: Shape) -> Shape:
        """Draw a shape that broadcasts to `shape`."""
        cut = self.below(len(shape) + 1) if self.one_in(3) else 0
        return tuple(1 if self.one_in(4) else size for size in shape[cut:])

    def fits(self, *shapes: Shape) -> bool:
        """Whether the shapes broadcast to one that is not too large."""
        try:
            return int(np.prod(np.broadcast_shapes(*shapes), dtype=object)) <= self.most
        except ValueError:
            return False

    def number_beside(self, dtype: str, choices: Sequence[float] | None = None) -> Operand:
        """A Python number that the dtype can represent, as a literal or an argument."""
        if choices is None:
            choices = [0.5, 2.0, -1.5, 3, 0, 1, -0.25, 1e-3] if dtype in FLOATS else [0, 1, 2, 3, 5, 7]
            choices = [*choices, -1, -3] if dtype in ("int8", "int16", "int32", "int64") else choices
        value = self.choose(choices)
        if self.one_in(3) and len(self.numbers) < 2:
            other = self.choose([one for one in choices if type(one) is type(value)])
            self.numbers.append(Number(f"{NUMBER}{len(self.numbers)}", (value, other)))
            return self.numbers[-1].name
        return value

    def given(self, operands: Sequence[Operand], call: int = 0) -> Given:
        return [self.value(operand, call) for operand in operands]

    def value(self, operand: Operand, call: int = 0) -> Values | float:
        if not isinstance(operand, str):
            return operand
        if operand in self.values:
            return self.values[operand]
        return next(number.values[call] for number in self.numbers if number.name == operand)


def shared_dtype(given: Given) -> str | None:
    """The promoted dtype of the arrays."""
    return promoted_all(*(x.dtype.name for x in given if isinstance(x, (np.ndarray, np.generic))))


def meet(given: Given, dtype: str) -> list[Values]:
    return [converted(x, dtype) for x in given]
