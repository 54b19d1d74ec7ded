"""Counts the contents of a SPIR-V module, in the output of `spirv-dis`.

A function counts once for each call that `main` reaches, because every driver inlines, and a loop's body counts once:
these are sizes of code, not of work.
"""

from __future__ import annotations

import operator
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

FLOAT_OPS = ("fma", "mul", "add")
KINDS = {"OpControlBarrier": "barriers", "OpFMul": "mul", "OpFAdd": "add", "OpFSub": "add"}
ARITHMETIC = {"IAdd": operator.add, "ISub": operator.sub, "IMul": operator.mul, "UDiv": operator.floordiv}
BOOL_BYTES = 4


def disassembled(module: bytes) -> str:
    command = ["spirv-dis", "--no-header", "--no-indent", "--no-color", "-"]
    return subprocess.run(command, input=module, capture_output=True, check=True).stdout.decode()


@dataclass(frozen=True)
class Instruction:
    result: str  # empty if there is none
    op: str
    operands: list[str]


def instructions(text: str) -> Iterator[Instruction]:
    for line in text.splitlines():
        words = line.split()
        result = words[0] if words[1:2] == ["="] else ""
        words = words[2:] if result else words
        yield Instruction(result, words[0], words[1:])


@dataclass
class Loop:
    merge: str
    counts: Counter[str]
    has_loops: bool = False


class Module:
    """`specialised` maps numbers of specialisation constants to values; the others have their defaults."""

    def __init__(self, text: str, specialised: dict[int, int]) -> None:
        self.specialised = specialised
        self.globals: dict[str, Instruction] = {}
        self.functions: dict[str, list[Instruction]] = {}
        self.numbers: dict[str, int] = {}  # the numbers of specialisation constants
        self.type_of: dict[str, str] = {}
        self.main = ""
        body: list[Instruction] | None = None
        for instruction in instructions(text):
            if instruction.op == "OpFunction":
                body = self.functions[instruction.result] = []
            if instruction.result and instruction.operands:
                self.type_of[instruction.result] = instruction.operands[0]
            if body is not None:
                body.append(instruction)
            elif instruction.result:
                self.globals[instruction.result] = instruction
            elif instruction.op == "OpEntryPoint":
                self.main = instruction.operands[1]
            elif instruction.op == "OpDecorate" and instruction.operands[1] == "SpecId":
                self.numbers[instruction.operands[0]] = int(instruction.operands[2])
            if instruction.op == "OpFunctionEnd":
                body = None
        self._counts: dict[str, Counter[str]] = {}

    @property
    def instruction_count(self) -> int:
        return sum(len(body) for body in self.functions.values())

    @property
    def counts(self) -> Counter[str]:
        """Counts of `main` and its callees: instructions, loads and stores of buffers, barriers, fma, mul, add."""
        return self.counts_of(self.main)

    def counts_of(self, function: str) -> Counter[str]:
        if function not in self._counts:
            self._counts[function] = sum((self._counts_in(line) for line in self.functions[function]), Counter())
        return self._counts[function]

    def _counts_in(self, instruction: Instruction) -> Counter[str]:
        counts = Counter({"instructions": 1})
        kind = self._kind(instruction)
        if kind:
            counts[kind] += 1
        if instruction.op == "OpFunctionCall":
            counts += self.counts_of(instruction.operands[1])
        return counts

    def _kind(self, instruction: Instruction) -> str | None:
        op, operands = instruction.op, instruction.operands
        if op == "OpLoad" and self._is_of_buffer(operands[1]):
            return "loads"
        if op == "OpStore" and self._is_of_buffer(operands[0]):
            return "stores"
        if op == "OpExtInst" and operands[2] == "Fma":
            return "fma"
        return KINDS.get(op)

    def _is_of_buffer(self, pointer: str) -> bool:
        return self.globals[self.type_of[pointer]].operands[0] == "PhysicalStorageBuffer"

    @property
    def innermost_loop(self) -> Counter[str]:
        """Counts for the most deeply nested loop with float arithmetic; of several, the one with the most."""
        loops = [
            (depth, sum(loop[op] for op in FLOAT_OPS), loop) for depth, loop in self._innermost_loops(self.main, 0)
        ]
        return max(loops, key=lambda loop: (loop[1] > 0, *loop[:2]), default=(0, 0, Counter[str]()))[2]

    def _innermost_loops(self, function: str, depth: int) -> Iterator[tuple[int, Counter[str]]]:
        """The loops that contain no other loop, also in called functions, each with its depth."""
        around: list[Loop] = []
        for line in self.functions[function]:
            # glslang puts a loop's blocks between its merge instruction and the label that this names.
            if around and line.op == "OpLabel" and line.result == around[-1].merge:
                loop = around.pop()
                if not loop.has_loops:
                    yield depth + len(around) + 1, loop.counts
            if line.op == "OpLoopMerge":
                for loop in around:
                    loop.has_loops = True
                around.append(Loop(line.operands[0], Counter()))
            elif around:
                around[-1].counts += self._counts_in(line)
            if line.op == "OpFunctionCall":
                for found in self._innermost_loops(line.operands[1], depth + len(around)):
                    for loop in around:
                        loop.has_loops = True
                    yield found

    @property
    def shared_bytes(self) -> int:
        variables = [
            line for line in self.globals.values() if line.op == "OpVariable" and line.operands[1] == "Workgroup"
        ]
        return sum(self._size_and_alignment(self.globals[line.operands[0]].operands[1])[0] for line in variables)

    def _size_and_alignment(self, of: str) -> tuple[int, int]:
        line = self.globals[of]
        if line.op in ("OpTypeInt", "OpTypeFloat"):
            return int(line.operands[0]) // 8, int(line.operands[0]) // 8
        if line.op == "OpTypeBool":
            return BOOL_BYTES, BOOL_BYTES
        if line.op == "OpTypeArray":
            size, alignment = self._size_and_alignment(line.operands[0])
            return size * self._value(line.operands[1]), alignment
        assert line.op == "OpTypeStruct", line
        end, widest = 0, 1
        for member in line.operands:
            size, alignment = self._size_and_alignment(member)
            end, widest = -(-end // alignment) * alignment + size, max(widest, alignment)
        return -(-end // widest) * widest, widest

    def _value(self, of: str) -> int:
        line = self.globals[of]
        if line.op in ("OpConstant", "OpSpecConstant"):
            number = self.numbers.get(of)
            return self.specialised.get(number, int(line.operands[1])) if number is not None else int(line.operands[1])
        assert line.op == "OpSpecConstantOp", line
        name, *operands = line.operands[1:]
        if name == "CompositeExtract":
            return self._value(self.globals[operands[0]].operands[1 + int(operands[1])])
        a, b = (self._value(operand) for operand in operands)
        return int(ARITHMETIC[name](a, b))
