"""One check of one case on one device: its counts, its worst element so far, and the text of a failure."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import ferrule as fe
from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import Values
from ferrule.testing.model.exactness import Verdict
from ferrule.testing.model.problem import Problem
from ferrule.testing.running.execution import Execution, Refused, prepare

LEVELS = ("brief", "quick", "full", "edge")
AS_THEY_ARE = ("benchmark", "concurrent", "repeat")  # checks that run without guard zones, as users do
# On devices with their own memory, a queue writes and reads the guard zones, which takes a third of a run. There, only
# the checks that exercise memory access use guard zones.
GUARDED_ELSEWHERE = ("layouts", "shapes", "fused")


class Failed(Exception):  # noqa: N818 - a verdict
    """The check failed; the text says how."""


class NotApplicable(Exception):  # noqa: N818 - an answer
    """The check does not apply; the text says why."""


@dataclass(frozen=True)
class Place:
    """The problem and layout of a verdict."""

    problem: Problem
    layout: str
    verdict: Verdict


class Attempt:
    """One check of one case on one device.

    `level` is one of LEVELS. `at` is called with a description of each execution before it begins, so that a crash can
    be attributed to it.
    """

    def __init__(
        self, device: fe.Device, case: Case, check: str, level: str, seed: int, at: Callable[[str], None]
    ) -> None:
        self.device, self.case, self.check, self.level, self.seed, self.at = device, case, check, level, seed, at
        self.runs = 0
        self.worst: Place | None = None
        self.refusals: list[str] = []
        self.kernels: list[str] = []
        self.measured: dict[str, float] = {}

    @functools.cached_property
    def is_in_host_memory(self) -> bool:
        """Whether the device computes in memory that the host can access."""
        return bool(self.device.info.get("host_memory", self.device.kind == "cpu"))

    def pick(self, **by_level: int) -> int:
        """Choose a number by level: pick(quick=3, full=20). A level that is not given has the next lower one's."""
        chosen = 0
        for level in LEVELS[: LEVELS.index(self.level) + 1]:
            chosen = by_level.get(level, chosen)
        return chosen

    def rng(self, *words: object) -> np.random.Generator:
        """A generator that depends only on the seed, case, check and words."""
        text = "/".join(map(str, (self.case.name, self.check, *words)))
        return np.random.default_rng([self.seed, zlib.crc32(text.encode())])

    def inputs(self, problem: Problem, *words: object) -> list[Values]:
        return self.case.inputs(problem, self.rng(problem, *words))

    def prepare(self, problem: Problem, inputs: Sequence[Values], note: str = "", **options: Any) -> Execution:
        """Compile; raises Refused.

        Memory that is written to lies between guard zones and is first filled with bytes that are no valid result:
        reused memory may hold the right result of an earlier run where the kernel writes nothing.
        """
        if "guard" not in options:
            options["guard"] = self.check not in AS_THEY_ARE and (
                self.check in GUARDED_ELSEWHERE or self.is_in_host_memory
            )
        self.at(f"{problem}{note and ' ' + note} (compiling)")
        execution = prepare(self.device, self.case, problem, inputs, **options)
        if not self.kernels:
            self.kernels = execution.kernels
        self.at(f"{problem}{note and ' ' + note}")
        return execution

    def try_prepare(
        self, problem: Problem, inputs: Sequence[Values], note: str = "", **options: Any
    ) -> Execution | None:
        """Compile, or record the refusal and return None."""
        try:
            return self.prepare(problem, inputs, note, **options)
        except Refused as refusal:
            self.refusals.append(f"{problem}{note and ', ' + note}: {refusal}")
            return None

    def compute(self, execution: Execution) -> Values:
        self.runs += 1
        return execution.compute()

    def compute_with(self, execution: Execution, inputs: Sequence[Values]) -> Values:
        self.runs += 1
        return execution.compute_with(inputs)

    def run(self, problem: Problem, inputs: Sequence[Values], note: str = "", **options: Any) -> Values:
        return self.compute(self.prepare(problem, inputs, note, **options))

    def try_problem(self, problem: Problem, inputs: Sequence[Values] | None = None, note: str = "") -> None:
        """Run and judge, or record the refusal."""
        given = self.inputs(problem) if inputs is None else self.case.arranged(inputs)
        execution = self.try_prepare(problem, given, note)
        if execution is not None:
            self.judge(problem, given, self.compute(execution), note)

    def judge(self, problem: Problem, inputs: Sequence[Values], got: Values, note: str = "") -> None:
        """Compare a result with the truth; raises Failed with a full description."""
        # In C order: what an oracle adds up in floating-point numbers depends on the order in memory.
        ordered = [x if 0 in x.strides else np.asarray(x, order="C") for x in inputs]
        verdict = self._verdict(problem, ordered, got)
        if self.worst is None or verdict.ulp > self.worst.verdict.ulp or not verdict.ok:
            self.worst = Place(problem, note, verdict)
        if not verdict.ok:
            raise Failed(self.describe(problem, inputs, verdict, note))

    def _verdict(self, problem: Problem, inputs: list[Values], got: Values) -> Verdict:
        sample = 4096
        if not self.case.family.pointwise or got.size <= sample or got.ndim == 0:
            return self.case.judge(problem, inputs, got)
        # Judge a sample of many independent elements, including both ends: oracles in Python are slow.
        ends = np.arange(64)
        chosen = np.concatenate([ends, self.rng("sample").integers(0, got.size, sample), got.size - 1 - ends])
        seen = [np.broadcast_to(x, got.shape).ravel()[chosen] for x in inputs]
        verdict = self.case.judge(Problem(((chosen.size,),) * len(seen), problem.attributes), seen, got.ravel()[chosen])
        index = np.unravel_index(chosen[verdict.index[0]], got.shape) if verdict.index else ()
        return Verdict(**{**vars(verdict), "index": tuple(int(i) for i in index)})

    def equal_bits(self, problem: Problem, got: Values, wanted: Values, what: str) -> None:
        """Raises Failed unless both arrays have the same shape and bits."""
        if got.tobytes() == wanted.tobytes() and got.shape == wanted.shape:
            return
        as_bytes = [np.ascontiguousarray(x).reshape(-1).view(np.uint8).reshape(x.size, -1) for x in (got, wanted)]
        differing = np.flatnonzero((as_bytes[0] != as_bytes[1]).any(axis=1))
        index = tuple(int(i) for i in np.unravel_index(differing[0], got.shape))
        raise Failed(
            self._text(
                problem,
                [
                    ("differs", what),
                    ("first", f"element {index} of {got.size}, {differing.size} differ"),
                    ("values", f"{got[index]!r} and {wanted[index]!r}"),
                ],
            )
        )

    def fail(self, problem: Problem, what: str, **more: str) -> Failed:
        """Describe a failure; `more` are further lines, by name."""
        return Failed(self._text(problem, [("wrong", what), *more.items()]))

    def describe(self, problem: Problem, inputs: Sequence[Values], verdict: Verdict, note: str = "") -> str:
        at = verdict.index
        lines = [("layout", note)] if note else []
        lines += [
            ("strides", ", ".join(str(tuple(s // x.itemsize for s in x.strides)) for x in inputs) or "no inputs"),
            ("worst", f"element {at}; {verdict.wrong} of {verdict.count} elements are wrong ({verdict.why})"),
            ("got", verdict.got),
            ("wanted", verdict.wanted),
            ("ulp", f"{verdict.ulp:.4g}, allowed {verdict.allowed:.4g}: {self.case.tolerance.reason}"),
        ]
        if self.case.family.pointwise and inputs and at:
            shape = np.broadcast_shapes(*(x.shape for x in inputs))
            if len(shape) == len(at):
                lines.append(("inputs", ", ".join(repr(np.broadcast_to(x, shape)[at]) for x in inputs)))
        return self._text(problem, lines)

    def _text(self, problem: Problem, lines: list[tuple[str, str]]) -> str:
        dtypes = ", ".join(self.case.dtypes)
        head = f"{self.case.op} on {self.device.name}: {dtypes} -> {self.case.result}, check {self.check!r}"
        attributes = ", ".join(f"{name}={value!r}" for name, value in problem.attributes.items()) or "none"
        shapes = ", ".join(map(str, problem.shapes)) or "none"
        rows = [("shapes", shapes), ("attributes", attributes), *lines, ("seed", str(self.seed))]
        return "\n".join([head, *(f"  {name:<10} {text}" for name, text in rows)])
