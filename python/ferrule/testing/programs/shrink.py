"""Shrinks a program with a fault: fewer outputs, steps and elements, and simpler inputs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from ferrule.testing.model.dtypes import Values
from ferrule.testing.programs.model.inputs import ARGUMENT, CONSTANT, Input, Operand
from ferrule.testing.programs.model.memory import Memory
from ferrule.testing.programs.program import Program, Step
from ferrule.testing.programs.steps import operations
from ferrule.testing.programs.steps.updates import SAME

Fails = Callable[[Program], bool]
MOST_TRIES = 300


def shrink(program: Program, fails: Fails, most: int = MOST_TRIES) -> Program:
    """The smallest program found within `most` tries; `fails` says whether a program has the fault."""
    tries = 0
    better = True
    while better:
        better = False
        for candidate in candidates(program):
            if tries >= most:
                return program
            if not is_computable(candidate):
                continue
            tries += 1
            if fails(candidate):
                program, better = candidate, True
                break
    return program


def candidates(program: Program) -> Iterator[Program]:
    """Yield programs that are simpler in one respect, the greatest simplifications first."""
    for outputs in fewer_outputs(program):
        yield dataclasses.replace(program, outputs=outputs).without_unread()
    values = values_of(program)
    if values is None:
        return
    for step in reversed(program.steps):
        if operations()[step.operation].raises:
            continue
        for other in replacements(program, step, values):
            yield replaced(program, step, other)
        yield cut_off(program, step, values[step.name])
    yield from simpler_inputs(program)
    yield from smaller(program)


def fewer_outputs(program: Program) -> Iterator[tuple[str, ...]]:
    wrong = {step.name for step in program.steps if operations()[step.operation].raises}
    if len(program.outputs) > 1:
        for name in dict.fromkeys(program.outputs):
            if not wrong or name in wrong:
                yield (name,)
        for place in range(len(program.outputs)):
            rest = program.outputs[:place] + program.outputs[place + 1 :]
            if len(rest) > 1 and (not wrong or wrong & {*rest}):
                yield rest


def replacements(program: Program, step: Step, values: Mapping[str, Values]) -> Iterator[str]:
    """Yield earlier values of the same dtype and shape."""
    made = values[step.name]
    for name in dict.fromkeys([*step.reads, *values]):
        if name == step.name:
            return
        if name in values and values[name].dtype == made.dtype and values[name].shape == made.shape:
            yield name


def replaced(program: Program, step: Step, name: str) -> Program:
    """Replace a step by another value."""

    def use(x: Operand) -> Operand:
        return name if x == step.name else x

    steps = tuple(
        dataclasses.replace(one, operands=tuple(map(use, one.operands))) for one in program.steps if one is not step
    )
    outputs = tuple(name if x == step.name else x for x in program.outputs)
    return without_rebinding(dataclasses.replace(program, steps=steps, outputs=outputs)).without_unread()


def cut_off(program: Program, step: Step, value: Values) -> Program:
    """Replace a step by a new argument."""
    dtype = value.dtype.name
    numbers = {int(one.name[1:]) for one in program.inputs}
    name = f"{ARGUMENT}{max(numbers, default=-1) + 1}"
    if value.dtype.kind in "iu" and value.size:
        memory = Memory(dtype, value.shape, "integers", 1, int(value.min()), min(int(value.max()), 2**63 - 1), False)
    else:
        memory = Memory(dtype, value.shape, "bools" if dtype == "bool" else "eighths", 1, writable=False)
    added = dataclasses.replace(
        program,
        memories=(*program.memories, memory),
        inputs=(*program.inputs, Input(name, len(program.memories))),
    )
    return replaced(added, step, name)


def without_rebinding(program: Program) -> Program:
    """Let updates copy first if they write to an input or to a value that is read afterwards."""
    steps = list(program.steps)
    for place, step in enumerate(steps):
        if step.attributes.get("how") == SAME and not program.may_write_to(step.operands[0], place):
            steps[place] = dataclasses.replace(step, attributes={**step.attributes, "how": "copy"})
    return dataclasses.replace(program, steps=tuple(steps))


def simpler_inputs(program: Program) -> Iterator[Program]:
    """Yield programs with simpler inputs: whole, unshared, read-only memories; arguments; simple values."""
    for place, one in enumerate(program.inputs):
        if one.view != "{0}":
            memory = program.memories[one.memory]
            seen = np.asarray(evaluate_view(one.view, np.zeros(memory.shape)))
            own = dataclasses.replace(memory, shape=tuple(seen.shape))
            inputs = _with(program.inputs, place, dataclasses.replace(one, view="{0}", memory=len(program.memories)))
            yield dataclasses.replace(program, memories=(*program.memories, own), inputs=inputs).without_unread()
        if one.name[0] not in (ARGUMENT, CONSTANT):
            yield renamed(program, one, CONSTANT + one.name[1:])
        if one.name[0] != ARGUMENT:
            yield renamed(program, one, ARGUMENT + one.name[1:])
    for number, memory in enumerate(program.memories):
        if memory.writable:
            yield _with_memory(program, number, dataclasses.replace(memory, writable=False))
        if memory.kind in ("ordinary", "far", "wide", "edges", "positive"):
            yield _with_memory(program, number, dataclasses.replace(memory, kind="eighths"))
        if memory.kind in ("integers", "unsigned") and memory.high > 9:
            small = dataclasses.replace(memory, kind="integers", low=max(memory.low, -9), high=9)
            yield _with_memory(program, number, small)
        if memory.kind in ("eighths", "integers") and not (memory.low and memory.high < 9):
            yield _with_memory(program, number, dataclasses.replace(memory, kind="counted"))


def renamed(program: Program, one: Input, name: str) -> Program:
    """Rename an input, which changes its role."""
    inputs = tuple(dataclasses.replace(x, name=name) if x is one else x for x in program.inputs)
    steps = tuple(
        dataclasses.replace(step, operands=tuple(name if x == one.name else x for x in step.operands))
        for step in program.steps
    )
    outputs = tuple(name if x == one.name else x for x in program.outputs)
    return dataclasses.replace(program, inputs=inputs, steps=steps, outputs=outputs)


def smaller(program: Program) -> Iterator[Program]:
    """Yield programs in which one size of the inputs is smaller everywhere."""
    sizes = sorted({size for memory in program.memories for size in memory.shape if size > 1}, reverse=True)
    for size in sizes:
        for less in dict.fromkeys((1, 2, size // 2, size - 1)):
            if 0 < less < size:
                yield resized(program, size, less)


def resized(program: Program, size: int, less: int) -> Program:
    def fit(value: object) -> object:
        if isinstance(value, list):
            return [fit(item) for item in value]
        return less if value == size and not isinstance(value, bool) else value

    memories = tuple(
        dataclasses.replace(memory, shape=tuple(less if n == size else n for n in memory.shape))
        for memory in program.memories
    )
    steps = tuple(
        dataclasses.replace(step, attributes={k: fit(v) if k == "shape" else v for k, v in step.attributes.items()})
        for step in program.steps
    )
    return dataclasses.replace(program, memories=memories, steps=steps)


def _with(items: tuple[Input, ...], place: int, item: Input) -> tuple[Input, ...]:
    return (*items[:place], item, *items[place + 1 :])


def _with_memory(program: Program, number: int, memory: Memory) -> Program:
    return dataclasses.replace(program, memories=(*program.memories[:number], memory, *program.memories[number + 1 :]))


def evaluate_view(view: str, memory: Values) -> Values:
    found: Values = eval(view.format("m"), {"np": np, "m": memory})
    return found


def values_of(program: Program) -> dict[str, Values] | None:
    """All values of a program, computed by NumPy; None if NumPy raises an error."""
    values: dict[str, Values] = {}
    numbers = {number.name: number.values[0] for number in program.numbers}
    try:
        with np.errstate(all="ignore"):
            memories = [memory.values() for memory in program.memories]
            for one in program.inputs:
                values[one.name] = evaluate_view(one.view, memories[one.memory])
            for step in program.steps:
                given = [(values[x] if x in values else numbers[x]) if isinstance(x, str) else x for x in step.operands]
                reference = operations()[step.operation].reference(given, step.attributes)
                values[step.name] = reference.value
    except Exception:  # NumPy raises various types for shapes that do not fit
        return None
    return values


def is_computable(program: Program) -> bool:
    if not program.outputs or not program.inputs:
        return False
    values = values_of(program)
    return values is not None and all(name in values for name in program.outputs)
