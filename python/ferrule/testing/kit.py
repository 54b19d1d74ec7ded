"""The subjects of a run (targets and their devices), the cases that they support, and the record of each check."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ferrule.op_rows import OP_ROWS
from ferrule.testing.cases import all_cases
from ferrule.testing.checks import applies, checks_of, is_by_item_size, runs_alone
from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import BLOCKS, numpy_dtype
from ferrule.testing.report import Record
from ferrule.testing.running.check_attempt import NotApplicable
from ferrule.testing.running.child import Child
from ferrule.testing.running.target import Target
from ferrule.tools.child import ChildEnded, ChildError

REFUSALS_KEPT = 20  # per check


@dataclass
class Subject:
    """One device of a target, or the error that opening the target gave."""

    target: Target
    child: Child
    name: str
    device: str = ""
    module: str = ""
    variant: str = ""
    declared: tuple[str, ...] = ()
    error: ChildEnded | ChildError | None = None
    ops: Iterable[str] | None = None  # the ops to test; None means all
    first: float = 0.0  # which op is asked about first, as a fraction of all ops

    def module_record(self, check: str, state: str, message: str, repeat: str = "") -> Record:
        """The record of a check of the module's file or slots."""
        return Record(
            target=self.name,
            module=Path(self.module).name,
            variant=self.variant,
            check=f"module:{check}",
            state=state,
            message=message,
            repeat=repeat,
            exact=state == "passed",
        )

    @functools.cached_property
    def support(self) -> dict[str, Support]:
        """The device's support of each case, by the case's name.

        Processes that ask at the same time begin at different ops, so that each finds in the driver's cache what the
        others have compiled.
        """
        ops = list(OP_ROWS if self.ops is None else self.ops)
        begin = int(self.first * len(ops))
        found: dict[str, dict[str, Support]] = {}
        for op in ops[begin:] + ops[:begin]:
            names = [case.name for case in all_cases().values() if case.op == op]
            try:
                answers = self.child.ask(do="support", device=self.device, op=op)["cases"]
                found[op] = {name: Support(**answers[name]) for name in names}
            except (ChildEnded, ChildError) as end:
                found[op] = {name: Support(supported=False, ended=end) for name in names}
        return {name: answer for op in ops for name, answer in found[op].items()}

    def supported(self, op: str, whole: bool = False) -> bool:
        """Whether the device supports any case of an op; with `whole`, whether it supports all."""
        answers = [answer.supported for name, answer in self.support.items() if all_cases()[name].op == op]
        return all(answers) if whole else any(answers)


@dataclass(frozen=True)
class Support:
    """Whether a device supports a case.

    `promised` is the answer of its `supports`. `ended` is set when the child ended or failed while it was asked.
    """

    supported: bool
    promised: bool = False
    kernels: list[str] = field(default_factory=list)
    reason: str = ""
    ended: ChildEnded | ChildError | None = None


@dataclass(frozen=True)
class Item:
    """One check of one case on one device."""

    subject: Subject
    case: Case
    check: str
    level: str
    seed: int

    @property
    def id(self) -> str:
        return f"{self.subject.name}-{self.case.name}-{self.check}"

    @property
    def repeat(self) -> str:
        """The command that repeats the check."""
        return (
            f"pytest --pyargs 'ferrule.testing.test_ops::test_op[{self.id}]' {shlex.quote(self.subject.target.option)} "
            f"--ferrule-level {self.level} --ferrule-seed {self.seed}"
        )

    def record(self, state: str, **more: Any) -> Record:
        return Record(
            target=self.subject.name,
            module=Path(self.subject.module).name,
            variant=self.subject.variant,
            op=self.case.op,
            case=self.case.name,
            dtypes=self.case.dtypes,
            result=self.case.result,
            check=self.check,
            state=state,
            seed=self.seed,
            repeat=self.repeat,
            **{"reason": self.case.tolerance.reason, **more},
        )

    def run(self) -> list[Record]:
        """Run the check. The first record has the outcome, also when the module crashes or fails; the others are
        refusals. Raises NotApplicable."""
        head = f"{self.case.op} on {self.subject.name}: {', '.join(self.case.dtypes)} -> {self.case.result}"
        try:
            reply = self.subject.child.ask(
                do="check",
                device=self.subject.device,
                case=self.case.name,
                check=self.check,
                level=self.level,
                seed=self.seed,
            )
        except ChildEnded as end:
            lines = [
                f"{head}, check {self.check!r}: {end.state}",
                f"  {'how':<10} {end.how}",
                f"  {'last':<10} {end.at or 'before the first execution'}",
                f"  {'seed':<10} {self.seed}",
            ]
            if end.output:
                lines += ["  printed", *(f"    {line}" for line in end.output.splitlines()[-15:])]
            return [self.record(end.state, message="\n".join(lines), where=end.at)]
        except ChildError as error:
            return [self.record("failed", message=f"{head}, check {self.check!r}: {error}")]
        state, message = reply.pop("state"), reply.pop("message")
        if state == "not applicable":
            raise NotApplicable(message)
        refused = [self.record("refused", reason=refusal) for refusal in dict.fromkeys(reply.pop("refusals"))]
        if state == "refused":
            return refused or [self.record(state, reason=message)]
        return [self.record(state, message=message, **reply), *refused[:REFUSALS_KEPT]]


def subjects_of(targets: list[Target], limit: float, first: float = 0.0) -> list[Subject]:
    """The devices of the targets. A target that cannot be opened gives a subject with its error. `first` is
    `Subject.first`."""
    found = []
    for target in targets:
        child = Child(target, limit)
        try:
            child.start()
        except (ChildEnded, ChildError) as error:
            found.append(Subject(target, child, target.label, error=error))
            continue
        for number, device in enumerate(child.devices):
            name = device["name"] if target.kind == "device" else target.label
            if number > 0 and target.kind != "device":
                name = f"{name}:{number}"
            found.append(
                Subject(
                    target,
                    child,
                    name,
                    device["name"],
                    device["module"],
                    device["variant"],
                    tuple(device["declared"]),
                    first=first,
                )
            )
    return found


def items_of(subject: Subject, seed: int, benchmark: bool = False, sample: bool = False) -> Iterator[Item]:
    """The checks of each case that the device supports.

    A case that it only promises, or for which the query ended the child, gets the check `support`.
    `_is_sampled` says which checks run only for the cases that `sampled` chooses.
    """
    level = subject.target.level
    chosen = sampled(name for name, answer in subject.support.items() if answer.supported)
    for name, answer in subject.support.items():
        case = all_cases()[name]
        if answer.supported:
            for check in [*checks_of(level), *(["benchmark"] if benchmark else [])]:
                if applies(check, case) and (name in chosen or not _is_sampled(check, level, sample)):
                    yield Item(subject, case, check, level, seed)
        elif answer.promised or answer.ended:
            yield Item(subject, case, "support", level, seed)


def _is_sampled(check: str, level: str, sample: bool) -> bool:
    """Whether a check is left out for most dtypes: those of memory layout with `sample`; and below the level `full`
    those that run alone, as races do not depend on the dtype, and each makes the other processes wait."""
    return is_by_item_size(check) if sample else runs_alone(check) and level in ("brief", "quick")


def sampled(names: Iterable[str]) -> set[str]:
    """Choose one case for each op and combination of element sizes, with a floating-point result where there is one.
    Elementwise ops with the same number of inputs count as one op. Where blocks are not converted, one dtype stands for
    all with as many elements and an even or an odd size."""
    chosen: dict[tuple[object, ...], str] = {}
    for name in sorted(names, key=lambda name: (not all_cases()[name].floating, name)):
        case = all_cases()[name]
        is_elementwise = OP_ROWS[case.op]["kind"] == "elementwise"
        what = len(case.dtypes) if is_elementwise else (case.op, case.variant, case.output)
        sizes = tuple(_size(dtype, case.op == "astype") for dtype in (*case.dtypes, case.result))
        chosen.setdefault((what, sizes), name)
    return set(chosen.values())


def _size(dtype: str, is_converted: bool) -> tuple[int, ...]:
    if dtype in BLOCKS and not is_converted:
        elements, size = BLOCKS[dtype]
        return elements, size % 2
    return (numpy_dtype(dtype).itemsize,)


def unsupported_records(subject: Subject, op: str) -> list[Record]:
    """Records of the cases of an op that the device does not support."""
    records = []
    for name, answer in subject.support.items():
        case = all_cases()[name]
        if case.op == op and not answer.supported and not answer.promised and not answer.ended:
            item = Item(subject, case, "support", subject.target.level, 0)
            records.append(item.record("unsupported", reason=answer.reason))
    return records
