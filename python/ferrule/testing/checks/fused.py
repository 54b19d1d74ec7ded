"""Further ops after the op in one graph, which the device may fuse: the bits are those of separate graphs."""

from __future__ import annotations

import contextlib
import dataclasses

import ferrule as fe
from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import BLOCKS, REALS, Values
from ferrule.testing.model.problem import Problem
from ferrule.testing.model.values import ANY, Shape
from ferrule.testing.problems import elementwise
from ferrule.testing.running.check_attempt import Attempt, NotApplicable
from ferrule.testing.running.execution import Refused, Tail

BY_ITEM_SIZE = True

BINARY = {"add", "bitwise_xor", "equal", "logical_xor"}  # the others have one input
# The results that are outputs, by the length of the chain: 0 is the op's own. Each result is only read by the next op,
# so that it need not be stored unless it is an output.
OUTPUTS = {3: ((3,), (0, 3), (1, 2, 3), (0, 1, 2, 3)), 1: ((1,), (0, 1))}
MOST_AXES = 8
LONGEST_BODY = 64


def applies(case: Case) -> bool:
    return case.result not in BLOCKS


def chains_of(case: Case) -> list[tuple[str, ...]]:
    """Chains of ops to append; the first that the device supports is used."""
    if case.result not in REALS:
        return [("equal", "logical_not", "logical_not")]
    if case.result == "bool":
        unary, binary = "logical_not", "logical_xor"
    else:
        unary, binary = ("abs", "add") if case.floating else ("bitwise_invert", "bitwise_xor")
    return [(unary, binary, unary), (unary,)]


def operands_of(shape: Shape) -> list[Shape]:
    """Shapes that broadcast to the given one: a row, a column, a scalar, and the shape itself."""
    return [shape[-1:], (*shape[-2:-1], *(1 for _ in shape[-1:])), (), shape]


def wider_than(shape: Shape) -> list[Shape]:
    """Shapes to which the given one broadcasts: with a further axis, and along its first axis of one element."""
    found: list[Shape] = [(2, *shape)] if len(shape) < MOST_AXES else []
    if 1 in shape:
        place = shape.index(1)
        found.append((*shape[:place], 3, *shape[place + 1 :]))
    return found


def to_broadcast(attempt: Attempt) -> list[Problem]:
    """Problems of `_broadcast`, including one whose result is likely to have axes of one element (`keepdims`)."""
    plain, count = attempt.case.family.plain, attempt.pick(quick=1, full=10)
    with_ones = [p for p in plain[count:] if p.attributes.get("keepdims") or any(1 in shape for shape in p.shapes)]
    return [*plain[:count], *with_ones[:1]]


def check(attempt: Attempt) -> None:
    refusals = []
    for number, problem in enumerate(attempt.case.family.plain[: attempt.pick(quick=2, full=10)]):
        inputs = attempt.inputs(problem)
        for chain in chains_of(attempt.case):
            try:
                _one_problem(attempt, chain, problem, inputs, every=number == 0 or attempt.level != "quick")
                if len(chain) > 1 and chain[1] in BINARY:
                    _read_again(attempt, chain, problem, inputs)
                break
            except Refused as refusal:
                refusals.append(f"{problem}, then {', '.join(chain)}: {refusal}")
    for problem in to_broadcast(attempt):
        with contextlib.suppress(Refused):  # a device need not support the further ops
            _broadcast(attempt, chains_of(attempt.case)[0], problem, attempt.inputs(problem))
    if attempt.runs < 2:
        raise NotApplicable(refusals[0])
    if (attempt.case.op, *attempt.case.dtypes) == ("add", "float32", "float32"):
        # The second shape needs buffers too large for a stack, and has too few elements for a second thread.
        for problem in (attempt.case.family.plain[0], Problem(((4_099,), (4_099,)))):
            _longest_body(attempt, problem, attempt.inputs(problem))


def _one_problem(attempt: Attempt, chain: tuple[str, ...], problem: Problem, inputs: list[Values], every: bool) -> None:
    result = attempt.run(problem, inputs)
    pairs = list(zip(OUTPUTS[len(chain)], operands_of(result.shape), strict=False))
    for outputs, operand in pairs if every else pairs[-1:]:
        _one_chain(attempt, chain, problem, inputs, result, operand, [outputs])


def _broadcast(attempt: Attempt, chain: tuple[str, ...], problem: Problem, inputs: list[Values]) -> None:
    """Broadcast the op's result, or that of one further op, to the larger shape of a later operand: two loops, and no
    epilogue. The outputs are the last result alone, and then also the last one of the smaller shape."""
    result = attempt.run(problem, inputs)
    for operand in wider_than(result.shape)[-attempt.pick(quick=1, full=2) :]:
        for ops in (chain, chain[1:]):
            smaller = next((number for number, op in enumerate(ops) if op in BINARY), None)
            if smaller is None:
                continue
            _one_chain(attempt, ops, problem, inputs, result, operand, [(len(ops),), (smaller, len(ops))])


def _one_chain(
    attempt: Attempt,
    chain: tuple[str, ...],
    problem: Problem,
    inputs: list[Values],
    result: Values,
    operand: Shape,
    choices: list[tuple[int, ...]],
) -> None:
    """Run the op, whose `result` is known, followed by a chain, with each choice of outputs."""
    other = ANY.ordinary(attempt.rng(problem, operand), operand, attempt.case.result)
    wanted = _one_after_the_other(attempt, chain, result, other)
    for outputs in choices:
        what = f"then {', '.join(chain)} with {operand}, {len(outputs)} outputs"
        # A single output runs twice: fused as users have it, and unfused with all temporaries in a guarded workspace.
        for options in ({"guard": False}, {"guard": True, "fuse": False}) if len(outputs) == 1 else ({},):
            further = [other] if len(chain) > 1 else []
            execution = attempt.prepare(problem, inputs, what, tail=_tail(chain, outputs), further=further, **options)
            attempt.runs += 1
            for number, got in zip(outputs, execution.compute_all(), strict=True):
                note = f"in one graph, {what}: its result {number}, and that of one after the other"
                attempt.equal_bits(problem, got, wanted[number], note)


def _read_again(attempt: Attempt, chain: tuple[str, ...], problem: Problem, inputs: list[Values]) -> None:
    """Read the op's result, which is no output, again after the result of the next op was written."""
    unary, binary = chain[:2]
    result = attempt.run(problem, inputs)
    wanted = _one_after_the_other(attempt, (unary, binary), result, result)[1:]

    def follow(graph: fe.Graph, own: fe.Array, further: list[fe.Array]) -> list[fe.Array]:
        first = graph.apply(unary, own)
        return [first, graph.apply(binary, first, own)]

    what = f"then {unary}, and {binary} of both"
    execution = attempt.prepare(problem, inputs, what, tail=follow)
    attempt.runs += 1
    for number, got in enumerate(execution.compute_all()):
        note = f"in one graph, {what}: result {number}, and that of one after the other"
        attempt.equal_bits(problem, got, wanted[number], note)


def _longest_body(attempt: Attempt, problem: Problem, inputs: list[Values]) -> None:
    """A chain of as many instructions as a body may have, half of which read the op's own result."""
    chain = ("add", "abs") * (LONGEST_BODY // 2)
    result = attempt.run(problem, inputs)
    wanted = _one_after_the_other(attempt, chain, result, result)[-1]

    def follow(graph: fe.Graph, own: fe.Array, further: list[fe.Array]) -> list[fe.Array]:
        value = own
        for op in chain:
            value = graph.apply(op, value, own) if op in BINARY else graph.apply(op, value)
        return [value]

    what = f"then {len(chain)} ops"
    attempt.runs += 1
    got = attempt.prepare(problem, inputs, what, tail=follow).compute_all()[0]
    attempt.equal_bits(problem, got, wanted, f"in one graph, {what}: the bits of one after the other")


def _tail(chain: tuple[str, ...], outputs: tuple[int, ...]) -> Tail:
    def follow(graph: fe.Graph, result: fe.Array, further: list[fe.Array]) -> list[fe.Array]:
        results = [result]
        for op in chain:
            results.append(graph.apply(op, results[-1], *(further if op in BINARY else [])))
        return [results[number] for number in outputs]

    return follow


def _one_after_the_other(attempt: Attempt, chain: tuple[str, ...], result: Values, other: Values) -> list[Values]:
    found = [result]
    for op in chain:
        given = [found[-1], other] if op in BINARY else [found[-1]]
        case = dataclasses.replace(
            attempt.case, op=op, dtypes=(attempt.case.result,), family=elementwise(len(given)), output=""
        )
        alone = Attempt(attempt.device, case, attempt.check, attempt.level, attempt.seed, attempt.at)
        found.append(alone.run(Problem(tuple(x.shape for x in given)), given))
    return found
