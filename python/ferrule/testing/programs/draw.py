"""Draws random programs, which depend only on the seed and on what the device supports."""

from __future__ import annotations

import dataclasses

import numpy as np

from ferrule.testing.model.dtypes import REALS
from ferrule.testing.programs.model.operation import Drawn
from ferrule.testing.programs.model.scope import Scope, Takes
from ferrule.testing.programs.program import Program, Step
from ferrule.testing.programs.steps import operations
from ferrule.testing.programs.steps.updates import SAME

MOST_STEPS = 12
SMALL, LARGE = 2_000, 150_000  # the most elements of a value


def takes_all(op: str, *dtypes: str) -> bool:
    return True


def draw_program(seed: int, takes: Takes = takes_all) -> Program:
    """Draw a program of 1 to 12 steps. One in 40 is large; one in 15 has a step that must raise an error."""
    rng = np.random.default_rng([seed, 0x70726F67])
    most = LARGE if rng.integers(40) == 0 else SMALL
    usual = [str(x) for x in rng.choice(["float32", "float32", "int64", "float16", *REALS], 3)]
    scope = Scope(rng, takes, most, [*usual, *usual, *REALS])
    for _ in range(scope.between(1, 3)):
        scope.add_input(scope.choose(scope.dtypes), scope.shape())
    if scope.one_in(3):
        scope.add_shared()
    steps: list[Step] = []
    with np.errstate(all="ignore"):
        for _ in range(scope.between(1, MOST_STEPS)):
            drawn = draw_twin(scope, steps) if steps and scope.one_in(8) else draw_step(scope)
            if drawn is not None:
                steps.append(append(scope, drawn, len(steps)))
        raises = scope.one_in(15) and draw_error(scope, steps)
    program = Program(
        tuple(scope.memories), tuple(scope.inputs), tuple(scope.numbers), tuple(steps), draw_outputs(scope, steps), seed
    )
    if raises:
        program = dataclasses.replace(program, raises=True, outputs=(*program.outputs, steps[-1].name))
    program = program.without_unread()
    return updating_in_place(scope, program)


def draw_step(scope: Scope) -> Drawn | None:
    every = [one for one in operations().values() if not one.raises]
    weights = np.array([one.weight for one in every])
    for _ in range(30):
        one = every[int(scope.rng.choice(len(every), p=weights / weights.sum()))]
        drawn = one.draw(scope)
        if drawn is not None:
            return drawn
    return None


def draw_twin(scope: Scope, steps: list[Step]) -> Drawn | None:
    """Repeat an earlier step, or draw its op again for the same value with other attributes."""
    step = scope.choose(steps)
    arrays = [name for name in step.reads if name in scope.values]
    if scope.one_in(3) or not arrays:
        return Drawn(step.operation, step.operands, step.attributes)
    values, scope.values = scope.values, {arrays[0]: scope.values[arrays[0]]}
    drawn = operations()[step.operation].draw(scope)
    scope.values = {**values, **scope.values}
    return drawn


def draw_error(scope: Scope, steps: list[Step]) -> bool:
    wrong = [one for one in operations().values() if one.raises]
    drawn = scope.choose(wrong).draw(scope)
    if drawn is None:
        return False
    steps.append(append(scope, drawn, len(steps)))
    return True


def append(scope: Scope, drawn: Drawn, number: int) -> Step:
    step = Step(f"v{number}", drawn.operation, drawn.operands, drawn.attributes)
    reference = operations()[step.operation].reference(scope.given(step.operands), step.attributes)
    scope.values[step.name] = reference.value
    return step


def draw_outputs(scope: Scope, steps: list[Step]) -> tuple[str, ...]:
    """Draw the outputs: mostly the last value and some others, sometimes a value twice or an input. Empty values are
    preferred."""
    names = list(scope.values)
    outputs = [steps[-1].name] if steps and not scope.one_in(5) else [scope.choose(names)]
    for _ in range(scope.choose([0, 0, 1, 1, 2, 3])):
        made = [step.name for step in steps] or names
        empty = [name for name in made if scope.values[name].size == 0]
        source = empty if empty and scope.one_in(2) else made if not scope.one_in(8) else names
        outputs.append(scope.choose(source))
    return tuple(outputs[int(k)] for k in scope.rng.permutation(len(outputs)))


def updating_in_place(scope: Scope, program: Program) -> Program:
    """Let some updates write to a value without copying it first, if nothing else reads that value."""
    steps = list(program.steps)
    for place, step in enumerate(steps):
        if step.operation != "update" or not scope.one_in(3):
            continue
        source = step.operands[0]
        if program.may_write_to(source, place) and step.operands[1] != source:
            steps[place] = dataclasses.replace(step, attributes={**step.attributes, "how": SAME})
    return dataclasses.replace(program, steps=tuple(steps))
