"""A program as data (memories, inputs, steps, outputs), and the Python code for it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ferrule.testing.programs.model.inputs import BARE, CONSTANT, NUMBER, Input, Number, Operand
from ferrule.testing.programs.model.memory import Memory
from ferrule.testing.programs.steps import operations
from ferrule.testing.programs.steps.movement import View


@dataclass(frozen=True)
class Step:
    """A step computes one value: an operation (model/operation.py) applied to values and Python numbers."""

    name: str
    operation: str
    operands: tuple[Operand, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def reads(self) -> list[str]:
        return [operand for operand in self.operands if isinstance(operand, str)]

    def lines(self, names: Mapping[str, str]) -> list[str]:
        """The lines of code; `names` maps values to expressions that replace their names."""
        texts = [names.get(x, x) if isinstance(x, str) else repr(x) for x in self.operands]
        return operations()[self.operation].lines(self.name, texts, self.attributes)


@dataclass(frozen=True)
class Program:
    memories: tuple[Memory, ...]
    inputs: tuple[Input, ...]
    numbers: tuple[Number, ...]
    steps: tuple[Step, ...]
    outputs: tuple[str, ...]
    seed: int = 0
    raises: bool = False  # one of its steps must raise an error

    def may_write_to(self, source: object, at: int) -> bool:
        """Whether the step `at` may write to a value without a copy: nothing else reads it, and it is no view."""
        others = {name for place, step in enumerate(self.steps) if place != at for name in step.reads}
        made = [operations()[step.operation] for step in self.steps if step.name == source]
        return made != [] and not isinstance(made[0], View) and source not in others and source not in self.outputs

    # ---- the code
    def setup_source(self, call: int = 0) -> str:
        """Code that creates the memories, the NumPy arrays `a_<name>`, and the constants. The values of arguments
        depend on the number of the call."""
        lines = []
        for number, memory in enumerate(self.memories):
            lines.append(f"m{number} = {memory.source(call if self._is_argument(number) else 0)}")
            if not memory.writable:
                lines.append(f"m{number}.flags.writeable = False")
        for one in self.inputs:
            lines.append(f"a_{one.name} = {one.view.format(f'm{one.memory}')}")
            if one.name[0] == CONSTANT:
                lines.append(f"{one.name} = fe.asarray(a_{one.name}, device=device)")
        return "\n".join(lines)

    def _is_argument(self, memory: int) -> bool:
        """Whether only arguments use the memory."""
        return all(one.is_argument for one in self.inputs if one.memory == memory)

    def body_source(self, with_see: bool = False, with_what_see_gives: bool = False) -> str:
        """Code of the function. `with_see` adds a call `see(name, value)` after each step; `with_what_see_gives` also
        replaces the value by what that call returns."""
        names = {one.name: self._text_of(one) for one in self.inputs}
        lines = [f"def program({', '.join(self.parameters)}):"]
        for step in self.steps:
            bare = self._bare_names(step)
            lines += [f"    {line}" for line in step.lines({**names, **bare})]
            if with_see:
                lines.append(f"    {f'{step.name} = ' if with_what_see_gives else ''}see({step.name!r}, {step.name})")
        lines.append(f"    return {self._tuple(names.get(name, name) for name in self.outputs)}")
        return "\n".join(lines)

    def arguments_source(self, call: int = 0) -> str:
        """Code that makes the list of arguments."""
        arrays = [f"fe.asarray(a_{one.name}, device=device)" for one in self.inputs if one.is_argument]
        numbers = [repr(number.values[call]) for number in self.numbers]
        return f"arguments = [{', '.join(arrays + numbers)}]"

    @property
    def parameters(self) -> list[str]:
        return [one.name for one in self.inputs if one.is_argument] + [number.name for number in self.numbers]

    @staticmethod
    def _tuple(items: Any) -> str:
        return "(" + "".join(f"{item}, " for item in items).rstrip() + ")"

    @staticmethod
    def _text_of(one: Input) -> str:
        return f"fe.asarray(a_{one.name}, device=device)" if one.name[0] == BARE else one.name

    def _bare_names(self, step: Step) -> dict[str, str]:
        """NumPy arrays that the step reads directly: its operation allows it and another operand is a ferrule array."""
        places = operations()[step.operation].bare
        bare = {name for name in step.reads if name[0] == BARE}
        may = {x for place, x in enumerate(step.operands) if place in places and isinstance(x, str)}
        must_not = {x for place, x in enumerate(step.operands) if place not in places and isinstance(x, str)}
        arrays = {name for name in step.reads if name[0] not in (BARE, NUMBER)}
        return {name: f"a_{name}" for name in (bare & may) - must_not} if arrays else {}

    # ---- queries
    @property
    def writable(self) -> list[int]:
        """The indices of writable memories."""
        return [number for number, memory in enumerate(self.memories) if memory.writable]

    def step(self, name: str) -> Step | None:
        return next((step for step in self.steps if step.name == name), None)

    def without_unread(self) -> Program:
        """Remove all that no output depends on, except steps that must raise an error."""
        read = {*self.outputs}
        steps = []
        for step in reversed(self.steps):
            if step.name in read or operations()[step.operation].raises:
                steps.append(step)
                read.update(step.reads)
        inputs = tuple(one for one in self.inputs if one.name in read)
        used = sorted({one.memory for one in inputs})
        return dataclasses.replace(
            self,
            memories=tuple(self.memories[number] for number in used),
            inputs=tuple(dataclasses.replace(one, memory=used.index(one.memory)) for one in inputs),
            numbers=tuple(number for number in self.numbers if number.name in read),
            steps=tuple(reversed(steps)),
        )

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Program:
        return cls(
            tuple(Memory(**{**one, "shape": tuple(one["shape"])}) for one in data["memories"]),
            tuple(Input(**one) for one in data["inputs"]),
            tuple(Number(one["name"], (one["values"][0], one["values"][1])) for one in data["numbers"]),
            tuple(
                Step(one["name"], one["operation"], tuple(one["operands"]), one["attributes"]) for one in data["steps"]
            ),
            tuple(data["outputs"]),
            data["seed"],
            data["raises"],
        )
