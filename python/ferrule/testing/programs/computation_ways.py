"""The ways in which a program is computed, each as code.

The code can use `program`, `arguments`, `others` (other arguments of the same types), `device`, `second` (another
device or None), `memories` (writable NumPy arrays) and `overwrite()`, which overwrites these. It sets `outputs` to a
list of arrays, with None for an output that the way does not compute.
"""

from __future__ import annotations

from dataclasses import dataclass

from ferrule.testing.programs.program import Program


@dataclass(frozen=True)
class Way:
    """A way to compute a program.

    sees: the program calls see(name, value) with each of its values.
    call: 1 if the outputs are those of the other arguments.
    traced: outputs that are arguments are copies of them.
    overwrites: the writable memories are overwritten before the outputs are computed.
    into_inputs: outputs are written to the writable memories.
    without_writing: the name of the way that does the same without overwriting memory.
    one_by_one: the outputs are computed one after the other.
    """

    name: str
    code: str
    sees: bool = False
    call: int = 0
    traced: bool = False
    overwrites: bool = False
    into_inputs: bool = False
    without_writing: str = ""
    one_by_one: bool = False
    needs_second: bool = False
    needs_array: bool = False  # needs an output that depends on an array argument


BY_HAND = """def strides_of(x):
    return [stride // x.itemsize for stride in np.asarray(x).strides]


graph = {type}(device)
inputs = [graph.input(x.shape, x.dtype, strides=strides_of(x)) if isinstance(x, fe.Array) else x for x in arguments]
made = program(*inputs)
traced = [place for place, y in enumerate(made) if y.placement == "traced"]
assert traced, "nothing depends on the arguments"
graph.output(*[made[place] for place in traced])
"""
ARRAYS = "[x for x in arguments if isinstance(x, fe.Array)]"
SPLIT = """class Split(fe.Graph):
    count = {seed}

    def _record_all(self, op, operands, dtypes, attributes, place=None):
        Split.count += 1
        elsewhere = Split.count % 3 == 0 and op in {exact}
        return super()._record_all(op, operands, dtypes, attributes, second if elsewhere else place)

"""
# Ops that give the same bits on every device.
EXACT = {
    *("add", "subtract", "multiply", "negative", "abs", "where", "equal", "less", "bitwise_and", "bitwise_or"),
    *("bitwise_xor", "logical_and", "logical_not", "astype"),
    *("copy", "concat", "take", "pad", "reshape", "permute_dims", "slice", "broadcast_to"),
}

STEPS = Way("steps", "outputs = program(*arguments)\n", sees=True)
STEPS_AGAIN = Way("steps_again", "outputs = program(*others)\n", sees=True, call=1)
WAYS = (
    Way("lazy", "outputs = program(*arguments)\nfe.eval(*outputs)\n"),
    Way(
        "one_by_one",
        "outputs = program(*arguments)\nfor place in {order}:\n    np.asarray(outputs[place])\n",
        one_by_one=True,
    ),
    Way(
        "all_values",
        "kept = []\nsee = lambda name, value: kept.append(copy.copy(value))\n"
        "outputs = program(*arguments)\nfe.eval(kept, *outputs)\n",
        sees=True,
    ),
    Way(
        "one_thread",
        "fe.set_thread_count(1)\noutputs = program(*arguments)\nfe.eval(*outputs)\nfe.set_thread_count(0)\n",
    ),
    Way(
        "overwritten",
        "outputs = program(*arguments)\noverwrite()\nfe.eval(*outputs)\n",
        overwrites=True,
        without_writing="lazy",
    ),
    Way("graph", "outputs = fe.graph(program, device=device)(*arguments)\n", traced=True),
    Way(
        "graph_again",
        "function = fe.graph(program, device=device)\nfunction(*arguments)\noutputs = function(*others)\n",
        call=1,
        traced=True,
    ),
    Way("unfused", "outputs = fe.graph(program, device=device, fuse=False)(*arguments)\n", traced=True),
    Way(
        "by_hand",
        BY_HAND.replace("{type}", "fe.Graph")
        + f"""out = [np.full(y.shape, 1).astype(y.dtype) for y in graph.outputs]
graph.compute(*{ARRAYS}, out=out)
outputs = [out[traced.index(place)] if place in traced else made[place] for place in range(len(made))]
""",
        traced=True,
        needs_array=True,
    ),
    Way(
        "into_inputs",
        BY_HAND.replace("{type}", "fe.Graph")
        + f"""out, free = [], list(memories)
for y in graph.outputs:
    fits = [m for m in free if (m.shape, m.dtype) == (y.shape, y.dtype)]
    out.append(fits[0] if fits else np.full(y.shape, 1).astype(y.dtype))
    free = [m for m in free if m is not out[-1]]
try:
    graph.compute(*{ARRAYS}, out=out)
except fe.InvalidArgumentError:  # it may refuse to overwrite what it reads
    out = None
outputs = [out[traced.index(place)] if place in traced else None for place in range(len(made))] if out else []
""",
        traced=True,
        into_inputs=True,
        without_writing="by_hand",
        needs_array=True,
    ),
    Way(
        "saved",
        BY_HAND.replace("{type}", "fe.Graph")
        + f"""graph = fe.Graph.from_bytes(graph.to_bytes(), device)
computed = graph.compute(*{ARRAYS})
computed = computed if isinstance(computed, tuple) else (computed,)
outputs = [computed[traced.index(place)] if place in traced else made[place] for place in range(len(made))]
""",
        traced=True,
        needs_array=True,
    ),
    Way(
        "split",
        SPLIT
        + BY_HAND.replace("{type}", "Split")
        + f"""computed = graph.compute(*{ARRAYS})
computed = computed if isinstance(computed, tuple) else (computed,)
outputs = [computed[traced.index(place)] if place in traced else made[place] for place in range(len(made))]
""",
        traced=True,
        needs_second=True,
        needs_array=True,
    ),
    Way(
        "moved",
        """arguments = [x.to_device(second).to_device(device) if isinstance(x, fe.Array) else x for x in arguments]
outputs = program(*arguments)
outputs = [y.to_device(second).to_device(device) for y in outputs]
""",
        one_by_one=True,
        needs_second=True,
        traced=True,
    ),
)


def code_of(way: Way, program: Program, order: list[int]) -> str:
    """The code of a way for a program."""
    words = {
        "{order}": str(order),
        "{seed}": str(program.seed % 3),
        "{exact}": repr(sorted(EXACT)),
    }
    code = way.code
    for word, text in words.items():
        code = code.replace(word, text)
    return code


def traced_outputs(program: Program) -> list[int]:
    """The indices of outputs that certainly depend on an array argument; others may not be values of the graph."""
    known = {*program.parameters} - {number.name for number in program.numbers}
    for step in program.steps:
        # An update may write no element or all, so that both operands must depend on an argument.
        enough = all if step.operation == "update" else any
        if enough(x in known for x in step.operands) and step.operation != "full_like":
            known.add(step.name)
    return [place for place, name in enumerate(program.outputs) if name in known]


def applies(way: Way, program: Program, second: object) -> bool:
    if way.needs_second and second is None:
        return False
    if program.raises and (way.overwrites or way.into_inputs):
        return False
    if way.into_inputs and not program.writable:
        return False
    return not way.needs_array or bool(traced_outputs(program))
