"""The kit as a pytest plug-in: its options, items and report."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from ferrule.op_rows import OP_ROWS
from ferrule.testing import module_slots
from ferrule.testing.cases import all_cases
from ferrule.testing.checks import runs_alone
from ferrule.testing.exclusive_runs import Turns
from ferrule.testing.expected_failures import mark, read_expected
from ferrule.testing.kit import Item, Subject, items_of, subjects_of, unsupported_records
from ferrule.testing.program_parts import programs_record
from ferrule.testing.report import Record, Report, as_text, save
from ferrule.testing.report.save import FORMS
from ferrule.testing.running.check_attempt import NotApplicable
from ferrule.testing.running.child import Child
from ferrule.testing.running.target import Target
from ferrule.tools import module_file

PROPERTY = "ferrule"  # the user property of a test report that holds the records, as JSON
TURNS = "ferrule_turns"  # the key in pytest-xdist's workerinput for the folder of the locks


class Kit:
    """The kit of one pytest run; with pytest-xdist, one in each process."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self.level: str = config.getoption("ferrule_level") or "quick"
        self.limit: float = config.getoption("ferrule_timeout") or 60.0
        self.benchmark = bool(config.getoption("ferrule_benchmark"))
        self.sample = bool(config.getoption("ferrule_sample"))
        self.ops: list[str] | None = config.getoption("ferrule_op")
        for op in self.ops or ():
            if op not in OP_ROWS:
                raise pytest.UsageError(f"--ferrule-op: there is no op {op}")
        self.records: list[Record] = []
        self._reports = [self._path(name) for name in config.getoption("ferrule_report") or ()]
        for path in self._reports:
            if path.suffix not in FORMS:
                raise pytest.UsageError(f"--ferrule-report: {path.name}: a report is .html, .json or .txt")
            if path.is_dir() or not os.access(path.parent, os.W_OK | os.X_OK):
                raise pytest.UsageError(f"--ferrule-report: {path} cannot be written")
        self._expected = [
            one for name in config.getoption("ferrule_expect") or () for one in read_expected(self._path(name))
        ]
        self.seed = _seed(config.getoption("ferrule_seed"))
        config.option.ferrule_seed = str(self.seed)  # xdist passes the options on: all processes use the same seed
        self.targets = self._targets()
        given: dict[str, Any] | None = getattr(config, "workerinput", None)  # only in a worker of pytest-xdist
        self._folder = None if given is not None else tempfile.mkdtemp(prefix="ferrule-kit-")
        self._turns = Turns(None if given is None else given[TURNS])
        self._first_op = 0.0 if given is None else int(given["workerid"].removeprefix("gw")) / given["workercount"]

    def _path(self, name: str) -> Path:
        """Resolve a path relative to the folder in which pytest was called."""
        return self._config.invocation_params.dir / Path(name).expanduser()

    def _targets(self) -> list[Target]:
        option = self._config.getoption
        targets = []
        for name in option("ferrule_backend") or ():
            path = self._path(name)
            if not path.is_file():
                what = "is a folder; name the module's file" if path.is_dir() else "is not an existing file"
                raise pytest.UsageError(f"--ferrule-backend: {path} {what}")
            targets.append(Target("backend", str(path), self.level))
        targets += [Target("device", name, self.level) for name in option("ferrule_device") or ()]
        for name in option("ferrule_variant") or ():
            targets += self._variants() if name == "all" else [Target("variant", name, self.level)]
        return targets

    def _variants(self) -> list[Target]:
        """The widest variant at the requested level; the narrower ones, built from the same sources, one level down."""
        child = Child(None, self.limit)
        names = child.ask(do="variants")["variants"]
        child.close()
        narrower = {"brief": "brief", "quick": "brief", "full": "quick", "edge": "full"}[self.level]
        return [Target("variant", name, self.level if i == 0 else narrower) for i, name in enumerate(names)]

    @cached_property
    def subjects(self) -> list[Subject]:
        found = subjects_of(self.targets or [Target("device", "cpu", self.level)], self.limit, self._first_op)
        for subject in found:
            subject.ops = self.ops
        return found

    def items(self) -> Iterator[Item]:
        for subject in self.subjects:
            if subject.error is None:
                yield from items_of(subject, self.seed, self.benchmark, self.sample)

    # ---- called by the tests
    def check(self, item: Item, request: pytest.FixtureRequest) -> None:
        try:
            with self._turn(request.node):
                records = item.run()
        except NotApplicable as answer:
            pytest.skip(str(answer))
        _attach(request, records)
        record = records[0]
        if record.state == "refused":
            pytest.skip(f"refused: {record.reason}")
        if record.failing:
            pytest.fail(f"{record.message}\n  {'repeat':<10} {record.repeat}", pytrace=False)

    def list_unsupported(self, subject: Subject, op: str, request: pytest.FixtureRequest) -> None:
        records = unsupported_records(subject, op)
        if not records:
            return
        names = ", ".join(record.case for record in records)
        answer = f"{subject.name} does not support {names}: {records[0].reason}"
        if op in subject.declared and not subject.supported(op):
            message = f"the manifest of {subject.module} declares {op}, but {answer}"
            _attach(request, [dataclasses.replace(record, state="failed", message=message) for record in records])
            pytest.fail(message, pytrace=False)
        _attach(request, records)
        pytest.skip(answer)

    def check_file(self, subject: Subject, check: str, request: pytest.FixtureRequest) -> None:
        try:
            problems = module_file.CHECKS[check](Path(subject.module))
        except module_file.NotChecked as reason:
            pytest.skip(f"not checked: {reason}")
        record = subject.module_record(check, "failed" if problems else "passed", "\n".join(problems))
        self._conclude(record, request)

    def check_slots(self, subject: Subject, check: str, request: pytest.FixtureRequest) -> None:
        with self._turn(request.node):
            result = module_slots.run(Path(subject.module), check, seed=self.seed, time_limit=self.limit)
        if result.outcome == "not applicable":
            pytest.skip(f"not applicable: {'; '.join(result.sentences)}")
        message = "" if result.outcome == "passed" else "\n".join(result.sentences)
        self._conclude(subject.module_record(check, result.outcome, message, result.command), request)

    def run_programs(self, subject: Subject, part: int, request: pytest.FixtureRequest) -> None:
        record = programs_record(subject, part, self.seed)
        if record.state == "refused":
            _attach(request, [record])
            pytest.skip(f"refused: {record.reason}")
        self._conclude(record, request)

    @staticmethod
    def _conclude(record: Record, request: pytest.FixtureRequest) -> None:
        _attach(request, [record])
        if record.failing:
            pytest.fail(
                f"{record.target}, {record.check}: {record.state}\n{record.message}\n{record.repeat}", pytrace=False
            )

    def _turn(self, item: pytest.Item) -> AbstractContextManager[None]:
        return self._turns.alone() if _runs_alone(item) else self._turns.beside_others()

    # ---- hooks
    def pytest_report_header(self) -> str:
        names = ", ".join(target.option for target in self.targets) or "--ferrule-device=cpu"
        return f"ferrule kit: {names}, level {self.level}, seed {self.seed}"

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Iterator[None]:
        """Keep `test_opens` of targets that cannot be opened, whatever -k selects: the error must not go unnoticed."""
        unopened = [item for item in items if _is_unopened(item)]
        mark(items, self._expected)
        if self._turns.are_taken:
            # Last: in between, each would wait for what the other processes are doing.
            items.sort(key=_runs_alone)
        yield
        items[:0] = [item for item in unopened if item not in items]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call":
            return
        for name, value in report.user_properties:
            if name == PROPERTY:
                self.records += map(Record.from_json, json.loads(str(value)))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if not self.records:
            return
        chosen = [argument for argument in self._config.args if "::" in argument]
        everything = not (chosen or self.ops or self._config.getoption("keyword") or self._config.getoption("markexpr"))
        pairs = {(case.op, (*case.dtypes, case.result)[0]) for case in all_cases().values()} if everything else set()
        report = Report(tuple(self.records), expected=frozenset(pairs))
        terminalreporter.section("ferrule kit")
        for line in as_text(report, ascii_only=not _is_unicode(sys.stdout.encoding)).splitlines():
            terminalreporter.write_line(line)
        for path in self._reports:
            save(report, path)
            terminalreporter.write_line(f"wrote {path}")

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """A hook of pytest-xdist, called for each worker before it starts."""
        node.workerinput[TURNS] = self._folder

    def pytest_unconfigure(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        for subject in self.__dict__.get("subjects", ()):
            subject.child.close()


def _is_unopened(item: pytest.Item) -> bool:
    """Whether this is the test_opens of a subject that could not be opened."""
    subject = getattr(getattr(item, "callspec", None), "params", {}).get("subject")
    is_opens = getattr(item, "originalname", "") == "test_opens"
    return is_opens and isinstance(subject, Subject) and subject.error is not None


def _runs_alone(item: pytest.Item) -> bool:
    """Whether no other process of the run does anything during this test."""
    given = getattr(getattr(item, "callspec", None), "params", {})
    if "item" in given:
        return runs_alone(given["item"].check)
    return "thread" in given.get("check", "")


def _is_unicode(encoding: str | None) -> bool:
    try:
        "\u2260\u2248\u00d7\u221e\u2026".encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _attach(request: pytest.FixtureRequest, records: list[Record]) -> None:
    request.node.user_properties.append((PROPERTY, json.dumps([record.to_json() for record in records])))


def _seed(text: str | None) -> int:
    if text is None:
        return 0
    if text == "random":
        return random.SystemRandom().randrange(1 << 32)
    if not text.isascii() or not text.isdecimal() or int(text) >= 1 << 32:
        raise pytest.UsageError(f"--ferrule-seed: {text!r} is neither `random` nor a number below 2^32")
    return int(text)
