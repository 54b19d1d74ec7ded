"""Computes a program in every way: compares each step with NumPy, and each way with the step-by-step results."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import ferrule as fe
from ferrule.testing.model.dtypes import Values
from ferrule.testing.programs.computation_ways import STEPS, STEPS_AGAIN, WAYS, Way, applies, code_of
from ferrule.testing.programs.model.operation import difference
from ferrule.testing.programs.program import Program
from ferrule.testing.programs.steps import operations

PRELUDE = "import copy\n\nimport ml_dtypes\nimport numpy as np\n\nimport ferrule as fe\n"
OVERWRITE = """def overwrite():
    for memory in memories:
        memory[...] = 1 - memory.astype("int64")"""


@dataclass(frozen=True)
class Fault:
    """A fault of one way. `kind` identifies the same fault in a smaller program; `output` is the index of an output."""

    way: str
    kind: str
    text: str
    output: int = -1


@dataclass(frozen=True)
class Places:
    """The device of the program and, if given, a second one. With `takes_all`, the device supports every op that a way
    adds to the steps, such as a cast of a Python number, so that a refusal is a fault."""

    device: fe.Device
    second: fe.Device | None = None
    takes_all: bool = True


class Refused(Exception):  # noqa: N818 - an answer
    """The device does not support a step."""

    def __init__(self, step: str, why: str) -> None:
        super().__init__(why)
        self.step = step


@dataclass
class Outcome:
    """The outputs of a way, or the error that it raised."""

    outputs: Sequence[Any] = ()
    error: Exception | None = None


class Run:
    """The namespace in which one way of a program is computed."""

    def __init__(self, program: Program, places: Places, way: Way, with_what_see_gives: bool = False) -> None:
        import ml_dtypes

        self.program, self.way = program, way
        self.names: dict[str, Any] = {
            "np": np,
            "fe": fe,
            "copy": copy,
            "ml_dtypes": ml_dtypes,
            "device": places.device,
            "second": places.second,
            "see": lambda name, value: None,
            "overwrite": lambda: overwrite(self.names["memories"]),
        }
        self._do(program.setup_source(0))
        self._do(program.body_source(way.sees, with_what_see_gives))
        self._do(program.arguments_source(0))
        self.names["memories"] = [self.names[f"m{number}"] for number in program.writable]
        if way.call:
            first = self.names["arguments"]
            others: dict[str, Any] = dict(self.names)
            with np.errstate(all="ignore"):
                exec(program.setup_source(1), others)
            exec(program.arguments_source(1), others)
            self.names["others"], self.names["arguments"] = others["arguments"], first
            self._others = others
        else:
            self._others = self.names

    def _do(self, code: str) -> None:
        with np.errstate(all="ignore"):
            exec(code, self.names)

    def overwrite(self) -> None:
        """Overwrite all writable memory of the program with other bytes."""
        for names in (self.names, self._others) if self.way.call else (self.names,):
            overwrite([names[f"m{number}"] for number in self.program.writable])

    def compute(self, order: list[int]) -> Outcome:
        try:
            self._do(code_of(self.way, self.program, order))
            outputs = self.names["outputs"]
            for output in outputs:
                np.asarray(output)
            return Outcome(outputs)
        except fe.UnsupportedError:
            raise
        except AssertionError:
            return Outcome()
        except Exception as error:
            return Outcome(error=error)
        finally:
            fe.set_thread_count(0)


def overwrite(memories: Sequence[Values]) -> None:
    """Change every element of the arrays."""
    for memory in memories:
        flat = memory.reshape(-1)
        if memory.dtype == np.bool_:
            np.logical_not(flat, out=flat)
        else:
            flat.view(np.uint8)[...] ^= 0x55


def see_steps(
    program: Program, places: Places, way: Way, dense_outputs: bool = False
) -> tuple[dict[str, Values], Outcome]:
    """Compute each value as soon as it is recorded. Raises Refused. With `dense_outputs`, steps that read an output
    read a dense copy of it."""
    run = Run(program, places, way, with_what_see_gives=dense_outputs)
    own = run._others
    seen = {one.name: own[f"a_{one.name}"].copy() for one in program.inputs}
    last = [""]

    def see(name: str, value: Any) -> Any:
        seen[name] = np.array(value)  # a copy
        last[0] = name
        if not dense_outputs or name not in program.outputs or not isinstance(value, fe.Array):
            return value
        dense = np.array(value, order="C")
        dense.flags.writeable = False
        return fe.asarray(dense, device=places.device)

    run.names["see"] = see
    try:
        return seen, run.compute([])
    except fe.UnsupportedError as error:
        names = [step.name for step in program.steps]
        after = names.index(last[0]) + 1 if last[0] else 0
        raise Refused(names[after] if after < len(names) else "", str(error)) from error


def judge_steps(program: Program, seen: Mapping[str, Values], call: int = 0) -> Fault | None:
    """Compare each step with NumPy, given ferrule's results of the steps before it."""
    numbers = {number.name: number.values[call] for number in program.numbers}
    for step in program.steps:
        if operations()[step.operation].raises:
            continue
        given = [(seen[x] if x in seen else numbers[x]) if isinstance(x, str) else x for x in step.operands]
        reference = operations()[step.operation].reference(given, step.attributes)
        text = reference.fault(seen[step.name])
        if text:
            line = "; ".join(step.lines({}))
            return Fault("steps", f"NumPy: {step.operation}", f"{line}: {text}")
    return None


def faults_of(
    program: Program,
    places: Places,
    at: Callable[[str], None] = lambda text: None,
    only: Sequence[str] | None = None,
) -> list[Fault]:
    """The first fault of each way, or of the ways in `only`. Raises Refused."""
    ways = [way for way in (STEPS, *WAYS) if applies(way, program, places.second) and (not only or way.name in only)]
    at("steps")
    seen, outcome = see_steps(program, places, STEPS)
    if program.raises:
        return error_faults(program, places, outcome, ways, at)
    if outcome.error is not None:
        return [raised("steps", outcome.error)]
    fault = judge_steps(program, seen)
    if fault is not None:
        return [fault]
    wanted = [[seen[name] for name in program.outputs]]
    if not only or any(way.call for way in ways) or STEPS_AGAIN.name in only:
        at(STEPS_AGAIN.name)
        again, second_outcome = see_steps(program, places, STEPS_AGAIN)
        if second_outcome.error is not None:
            return [raised(STEPS_AGAIN.name, second_outcome.error)]
        wanted.append([again[name] for name in program.outputs])
    found = []
    for way in ways:
        at(way.name)
        fault = compare(program, places, way, wanted[way.call])
        if fault is not None and not (fault.kind == "bits" and is_right_elsewhere(program, places, way)):
            found.append(fault)
    return found


def is_right_elsewhere(program: Program, places: Places, way: Way) -> bool:
    """Whether the way gives the bits of the steps for inputs in another layout.

    Bits of sums depend on strides, and these may differ between ways: the steps copy views of writable memory and a
    graph does not; an output that is computed before others gets dense memory, as does the array that it views. A way
    that writes to memory is compared with the way that does the same without writing.
    """
    if way.without_writing:
        other = next(one for one in WAYS if one.name == way.without_writing)
        outcome = Run(program, places, other).compute(order_of(program))
        known = [array(output) for output in outcome.outputs]
        return (
            bool(known) and compare(program, places, way, known) is None and is_right_elsewhere(program, places, other)
        )
    read_only = tuple(dataclasses.replace(memory, writable=False) for memory in program.memories)
    dense = tuple(dataclasses.replace(one, view=f"np.array({one.view}, order='C')") for one in program.inputs)
    arrangements = [
        (dataclasses.replace(program, memories=read_only), False),
        (dataclasses.replace(program, inputs=dense), False),
        *([(program, True)] if way.one_by_one else []),
    ]
    for lying, dense_outputs in arrangements:
        seen, outcome = see_steps(lying, places, STEPS_AGAIN if way.call else STEPS, dense_outputs)
        if outcome.error is not None or judge_steps(lying, seen, way.call) is not None:
            continue
        if compare(lying, places, way, [seen[name] for name in program.outputs]) is None:
            return True
    return False


def array(output: Any) -> Values | None:
    return None if output is None else np.array(output)


def compare(program: Program, places: Places, way: Way, wanted: Sequence[Values | None]) -> Fault | None:
    run = Run(program, places, way)
    try:
        outcome = run.compute(order_of(program))
    except fe.UnsupportedError as error:
        return raised(way.name, error) if places.takes_all else None
    if outcome.error is not None:
        return raised(way.name, outcome.error)
    if not outcome.outputs:
        return None  # the way does not apply to this program
    kept = [None if output is None else np.asarray(output) for output in outcome.outputs]
    if len(kept) != len(wanted):
        return Fault(way.name, "bits", f"gave {len(kept)} outputs, not {len(wanted)}")
    passed = borrowing(program, way)
    for place, (got, right) in enumerate(zip(kept, wanted, strict=True)):
        if got is None or right is None or (way.overwrites and program.outputs[place] in passed):
            continue
        text = difference(got, right)
        if text:
            return Fault(way.name, "bits", f"outputs[{place}], which is {program.outputs[place]}: {text}", place)
    if way.into_inputs:
        return None
    run.overwrite()
    for place, (got, right) in enumerate(zip(kept, wanted, strict=True)):
        if got is None or right is None or program.outputs[place] in passed:
            continue
        text = difference(np.asarray(outcome.outputs[place]), right) or difference(got, right)
        if text:
            what = f"outputs[{place}], which is {program.outputs[place]}, changes when NumPy's memory is overwritten"
            return Fault(way.name, "aliases", f"{what}: {text}", place)
    return None


def borrowing(program: Program, way: Way) -> set[str]:
    """Values that borrow NumPy's memory and so may change with it: inputs."""
    return {one.name for one in program.inputs if not (way.traced and one.is_argument)}


def order_of(program: Program) -> list[int]:
    """A random order of the outputs."""
    return [int(k) for k in np.random.default_rng([program.seed, 1]).permutation(len(program.outputs))]


def error_faults(
    program: Program, places: Places, outcome: Outcome, ways: Sequence[Way], at: Callable[[str], None]
) -> list[Fault]:
    """Faults of a program that must raise an error: every way must raise the same type of ferrule error."""
    if outcome.error is None:
        return [Fault("steps", "no error", "it must raise an error, and does not")]
    if not isinstance(outcome.error, fe.Error) or not str(outcome.error):
        return [raised("steps", outcome.error)]
    wanted = type(outcome.error).__name__
    found = []
    for way in ways:
        if way is STEPS:
            continue
        at(way.name)
        try:
            outcome = Run(program, places, way).compute(order_of(program))
            error = outcome.error
        except fe.UnsupportedError as refusal:
            if not places.takes_all:
                continue
            error = refusal
        got = "no error" if error is None else type(error).__name__
        if got != wanted:
            found.append(Fault(way.name, "another error", f"{got}: {error}; evaluated step by step it is {wanted}"))
    return found


def raised(way: str, error: Exception) -> Fault:
    name = type(error).__name__
    return Fault(way, f"raises {name}", f"{name}: {error}")


def source_of(program: Program, places: Places, fault: Fault) -> str:
    """A stand-alone script that runs the program and shows the fault."""
    way = next((one for one in (STEPS, STEPS_AGAIN, *WAYS) if one.name == fault.way), STEPS)
    lines = [PRELUDE, f"device = fe.device({places.device.name!r})"]
    if way.needs_second and places.second is not None:
        lines.append(f"second = fe.device({places.second.name!r})")
    if way.sees:
        lines.append("see = lambda name, value: print(name, np.asarray(value))")
    if way.call:
        lines += [program.setup_source(1), program.arguments_source(1).replace("arguments", "others", 1)]
    lines += [program.setup_source(0), program.arguments_source(0)]
    lines.append(f"memories = [{', '.join(f'm{number}' for number in program.writable)}]")
    if "overwrite()" in way.code or fault.kind == "aliases":
        lines += ["", "", OVERWRITE]
    lines += ["", "", program.body_source(way.sees), "", ""]
    lines.append(code_of(way, program, order_of(program)).rstrip())
    places_shown = range(len(program.outputs)) if fault.output < 0 else [fault.output]
    lines += [f"print(np.asarray(outputs[{place}]))" for place in places_shown]
    if fault.kind == "aliases":
        lines += ["overwrite()", *(f"print(np.asarray(outputs[{place}]))" for place in places_shown)]
    return "\n".join(lines)
