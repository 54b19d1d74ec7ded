"""Runs the kit on a module with a fault until the first check fails. Runs in a separate process, since the module
decides how much memory it uses: reads a request as JSON from standard input and prints the answer as JSON."""

from __future__ import annotations

import json
import random
import re
import resource
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ferrule.testing.kit import Item, Subject, items_of, subjects_of
from ferrule.testing.running.check_attempt import NotApplicable
from ferrule.testing.running.target import Target

MEMORY = 16 << 30  # limits the process, because a fault may allocate any number of bytes


@dataclass
class Request:
    """`clean` is the module without the fault: a failure that it shares does not count. Items of the ops `near` come
    first, the others in an order drawn by `seed`."""

    module: str
    clean: str
    ops: list[str]
    near: list[str] = field(default_factory=list)
    checks: list[str] | None = None
    level: str = "quick"
    seed: int = 0
    timeout: float = 60.0


@dataclass
class Answer:
    killed_by: str = ""  # "add-float32 values (failed)"
    message: str = ""
    refuses: list[str] = field(default_factory=list)  # cases that the clean module accepts, or runs with other kernels
    items: int = 0  # number of items that ran


def judge(request: Request) -> Answer:
    opened: list[Subject] = []
    try:
        subjects = _open(request.module, request)
        opened += subjects
        if not subjects or subjects[0].error is not None:
            return Answer("module does not open", str(subjects[0].error) if subjects else "it has no device")
        answer = Answer()
        items = [item for subject in subjects for item in _items(subject, request)]
        random.Random(request.seed).shuffle(items)
        items.sort(key=lambda item: item.case.op not in request.near)
        clean: list[Subject] = []
        for item in items:
            failure = _failure(item)
            answer.items += 1
            if failure is None:
                continue
            if not clean:
                clean = _open(request.clean, request)
                opened += clean
            if _failure(_same(item, clean)) is None:
                answer.killed_by = f"{item.case.name} {item.check} ({failure[0]})"
                answer.message = failure[1]
                return answer
        clean = clean or _open(request.clean, request)
        opened += clean
        _compare_support(subjects, clean, answer)
        return answer
    finally:
        for subject in opened:
            subject.child.close()


def _open(module: str, request: Request) -> list[Subject]:
    subjects = subjects_of([Target("backend", module, request.level)], request.timeout)
    for subject in subjects:
        subject.ops = set(request.ops)
    return subjects


def _items(subject: Subject, request: Request) -> Iterator[Item]:
    for item in items_of(subject, 0):
        if request.checks is None or item.check in request.checks:
            yield item


def _failure(item: Item) -> tuple[str, str] | None:
    try:
        record = item.run()[0]
    except NotApplicable:
        return None
    return (record.state, record.message) if record.failing else None


def _same(item: Item, subjects: list[Subject]) -> Item:
    subject = next(subject for subject in subjects if subject.name == item.subject.name)
    return Item(subject, item.case, item.check, item.level, item.seed)


def _compare_support(subjects: list[Subject], clean: list[Subject], answer: Answer) -> None:
    """An op that a module declares but does not support fails the kit. The kit only lists cases that the fault makes
    the module refuse, or leave to other kernels than before; these are collected here."""
    for subject, before in zip(subjects, clean, strict=False):
        for op in sorted(subject.ops or ()):
            if op in subject.declared and before.supported(op) and not subject.supported(op):
                answer.killed_by = answer.killed_by or f"{op} listed (declared, not supported)"
        for name, support in sorted(before.support.items()):
            now = subject.support[name]
            if support.supported and (not now.supported or _families(now.kernels) != _families(support.kernels)):
                answer.refuses.append(name)


def _families(kernels: list[str]) -> list[str]:
    """The first word of each kernel's name: variants of one kernel count as the same kernel."""
    return [re.split(r"[._ ]", kernel)[0] for kernel in kernels]


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    request = Request(**json.load(sys.stdin))
    request.module, request.clean = (str(Path(path).resolve()) for path in (request.module, request.clean))
    print(json.dumps(asdict(judge(request))))


if __name__ == "__main__":
    main()
