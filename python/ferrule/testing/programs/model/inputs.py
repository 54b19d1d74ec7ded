"""The inputs of a program and the operands of its steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Operand = str | int | float  # the name of a value, or a Python number
Given = Sequence[Any]  # the operands' values: NumPy arrays and Python numbers
ARGUMENT, CONSTANT, BARE = "x", "c", "p"  # the first letter of an input's name
NUMBER = "n"


@dataclass(frozen=True)
class Input:
    """A NumPy array: `view` is an expression in which {0} stands for the memory. The first letter of the name is its
    role: `x` is an argument, `c` a constant that the program closes over, `p` a NumPy array used directly."""

    name: str
    memory: int
    view: str = "{0}"

    @property
    def is_argument(self) -> bool:
        return self.name[0] == ARGUMENT


@dataclass(frozen=True)
class Number:
    """An argument that is a Python number, with its values in the first and the second call."""

    name: str
    values: tuple[float, float]
