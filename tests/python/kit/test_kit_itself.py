"""Each check of the kit fails for a backend with the matching fault and passes for a correct one."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ferrule.op_rows import OP_ROWS
from ferrule.testing.cases import all_cases
from ferrule.testing.checks import all_checks
from ferrule.testing.kit import Item, Subject, items_of, subjects_of
from ferrule.testing.report import Record, json_file
from ferrule.testing.running.check_attempt import NotApplicable
from ferrule.testing.running.target import Target

# The fault, the case and the check that must find it, the resulting state, and words of the message.
FAULTS = [
    ("three_ulp_off", "add-float32", "values", "failed", "allowed 0.5"),
    ("flushes", "add-float32", "edges", "failed", "wanted"),
    ("wrong_axis", "sum-float32", "shapes", "failed", "axis="),
    ("saturates", "add-float32", "edges", "failed", "wanted     inf"),
    ("drops_nan", "add-float32", "nan", "failed", "wanted     nan"),
    ("loses_signs_of_zeros", "add-float32", "special_cases", "failed", "add(x1 x2): -0, -0 -> -0"),
    ("wrong_alone", "add-float32", "special_cases", "failed", "shapes     (1,), (1,)"),
    ("wrong_alone", "add-float32", "shapes", "failed", "shapes     ()"),
    ("aborts", "sum-float32", "shapes", "crashed", "SIGABRT"),
    ("exits", "add-float32", "shapes", "crashed", "exited with 7"),
    ("hangs", "add-float32", "shapes", "hung", "killed"),
    ("forgets_the_15th", "add-float32", "sizes", "failed", "shapes     (15,)"),
    ("forgets_minus_infinity", "sum-float32", "ranges", "failed", "infinities of both signs"),
    ("counts_in_32_bits", "sum-uint64", "accumulators", "failed", "18446744073709551615 repeated"),
    ("shares_memory", "add-float32", "concurrent", "failed", "other threads that execute it, and alone"),
    ("ignores_strides", "add-float32", "layouts", "failed", "layout     permuted\n  strides    (1, 5), (1, 5)"),
    ("writes_past", "add-float32", "guards", "failed", "byte 1 after its end"),
    ("writes_before", "add-float32", "guards", "failed", "byte 1 before its start"),
    ("writes_input", "add-float32", "guards", "failed", "input 0"),
    ("reads_past", "add-float32", "guards", "crashed", "SIGSEGV"),
    ("depends_on_the_batch", "add-float32", "batch", "failed", "computed alone and in the batch"),
    ("depends_on_threads", "add-float32", "threads", "failed", "8 threads, and one"),
    ("depends_on_the_run", "add-float32", "repeat", "failed", "the first run"),
    ("fuses_wrongly", "add-float32", "fused", "failed", "in one graph, then abs, add, abs"),
    ("wrong_constant", "add-float32", "constants", "failed", "is constant"),
    ("promises", "exp-float32", "support", "failed", "supports exp"),
    ("ignores_errors", "take-float32-int64", "errors", "failed", "rather than an error"),
    ("writes_past", "add-float32", "benchmark", "passed", ""),
]


@pytest.fixture
def subject(faulty_modules: Path) -> Iterator[Subject]:
    found = subjects_of([Target("backend", str(faulty_modules / "libferrule-faulty.so"))], limit=60)[0]
    yield found
    found.child.close()


def record_of(subject: Subject, case: str, check: str) -> Record:
    return Item(subject, all_cases()[case], check, "quick", 0).run()[0]


@pytest.mark.parametrize(("fault", "case", "check", "state", "words"), FAULTS, ids=[f"{f[0]}-{f[2]}" for f in FAULTS])
def test_a_fault_is_caught(
    fault: str,
    case: str,
    check: str,
    state: str,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    faulty_modules: Path,
) -> None:
    monkeypatch.setenv("FERRULE_FAULTY_FAULT", fault)
    subject = subjects_of([Target("backend", str(faulty_modules / "libferrule-faulty.so"))], limit=60)[0]
    subject.child.limit = 3 if state == "hung" else 60  # the child has started
    record = record_of(subject, case, check)
    subject.child.limit = 60
    # The module stays loaded for the next test.
    after = record_of(subject, "abs-float32", "values")
    subject.child.close()
    assert record.state == state, record.message
    assert words in record.message
    assert after.state == "passed", after.message


def test_each_check_has_a_fault_that_it_catches() -> None:
    assert {fault[2] for fault in FAULTS if fault[3] != "passed"} == set(all_checks()) - {"benchmark"}


def test_the_same_backend_without_a_fault_passes(subject: Subject) -> None:
    dtypes = {"float32", "int64", "uint64"}  # its kernels are the same for all
    items = [item for item in items_of(subject, seed=1, benchmark=True, sample=True) if {*item.case.dtypes} <= dtypes]
    views = {name for name, row in OP_ROWS.items() if row["kind"] == "view"}  # views need no kernel
    assert {item.case.op for item in items} - views == {"add", "abs", "copy", "sum", "take"}
    assert {item.check for item in items} == set(all_checks())
    records = []
    for item in items:
        with contextlib.suppress(NotApplicable):
            records += item.run()
    assert [record.message for record in records if record.state != "passed"] == []
    timed = [record for record in records if record.check == "benchmark"]
    assert timed
    assert all((record.nanoseconds or 0) > 0 and (record.peer_nanoseconds or 0) > 0 for record in timed)


def test_null_backend_fails_without_crashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A backend that accepts every op and computes nothing."""
    subject = subjects_of([Target("device", "null")], limit=60)[0]
    states = {case: record_of(subject, case, "values").state for case in ("add-float32", "exp-float32", "sum-float32")}
    subject.child.close()
    assert set(states.values()) == {"failed"}


def test_module_that_cannot_be_opened_is_a_target_with_an_error(
    faulty_modules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FERRULE_FAULTY_FAULT", "aborts_at_init")
    subject = subjects_of([Target("backend", str(faulty_modules / "libferrule-faulty.so"))], limit=60)[0]
    assert "SIGABRT" in str(subject.error)


# ---- the command line
def kit(*arguments: object, folder: Path, fault: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *map(str, arguments)]
    environment = {**os.environ, "FERRULE_FAULTY_FAULT": fault, "COLUMNS": "200"}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)


def test_failure_has_full_details_and_a_command_that_repeats_it(faulty_modules: Path) -> None:
    done = kit(
        "--pyargs",
        "ferrule.testing",
        "--ferrule-backend=libferrule-faulty.so",
        "--ferrule-seed=random",
        *("--ferrule-op=add", "--ferrule-level=brief", "-k", "add-float32"),
        folder=faulty_modules,
        fault="three_ulp_off",
    )
    assert done.returncode == 1
    text = done.stdout
    for word in ("add on faulty", "shapes", "attributes", "strides", "got", "wanted", "ulp", "seed", "float32"):
        assert word in text, word
    command = re.search(r"repeat +pytest (.*add-float32-values.*)", text)
    assert command is not None, text
    again = kit(*shlex.split(command[1]), folder=faulty_modules, fault="three_ulp_off")
    assert again.returncode == 1, again.stdout
    assert "1 failed" in again.stdout
    worst = [line for line in text.splitlines() if "got " in line]
    assert any(line in again.stdout for line in worst)


def test_crashes_do_not_end_the_run(faulty_modules: Path) -> None:
    command = (
        "--pyargs",
        "ferrule.testing",
        "--ferrule-backend=libferrule-faulty.so",
        *("--ferrule-op=sum", "--ferrule-op=add"),
        *("-k", "float32 and (values or shapes)"),
    )
    done = kit(*command, folder=faulty_modules, fault="aborts")
    assert done.returncode == 1
    assert "SIGABRT" in done.stdout
    assert re.search(r"\d+ passed", done.stdout)


def test_declared_op_without_kernel_fails(faulty_modules: Path, tmp_path: Path) -> None:
    module = Path(shutil.copy(faulty_modules / "libferrule-faulty.so", tmp_path))
    manifest = json.loads((faulty_modules / "libferrule-faulty.json").read_text())
    module.with_suffix(".json").write_text(json.dumps({**manifest, "ops": [*manifest["ops"], "exp"]}))
    done = kit(
        "--pyargs", "ferrule.testing", f"--ferrule-backend={module}", "--ferrule-op=exp", "-k", "exp", folder=tmp_path
    )
    assert done.returncode == 1
    assert "declares exp" in done.stdout


def test_expected_failures_are_strict_and_have_a_reason(faulty_modules: Path, tmp_path: Path) -> None:
    listed = tmp_path / "expected.txt"
    option = f"--ferrule-backend={faulty_modules / 'libferrule-faulty.so'}"
    selection = ("--ferrule-op=add", "-k", "add-float32-values")
    arguments = ("--pyargs", "ferrule.testing", option, "--ferrule-expect=expected.txt", *selection)
    listed.write_text("# known\nfaulty-add-float32-v* the last digits are left out\n")
    known = kit(*arguments, "-rx", folder=tmp_path, fault="three_ulp_off")
    assert known.returncode == 0, known.stdout
    assert "the last digits are left out" in known.stdout
    mended = kit(*arguments, folder=tmp_path)
    assert mended.returncode == 1
    assert "XPASS(strict)" in mended.stdout
    listed.write_text("faulty-add-float32-values\n")
    assert "has no reason" in kit(*arguments, folder=tmp_path).stderr


def test_module_that_does_not_open_fails_for_any_selection(faulty_modules: Path, tmp_path: Path) -> None:
    (tmp_path / "junk.so").write_text("this is no module")
    right = f"--ferrule-backend={faulty_modules / 'libferrule-faulty.so'}"
    selection = ("--ferrule-op=abs", "-k", "abs-float32-values")
    done = kit("--pyargs", "ferrule.testing", right, "--ferrule-backend=junk.so", *selection, folder=tmp_path)
    assert done.returncode == 1
    assert "1 failed, 1 passed" in done.stdout
    assert "junk.so" in done.stdout


def test_unsupported_ops_are_listed_as_not_passed(faulty_modules: Path) -> None:
    done = kit(
        "--pyargs",
        "ferrule.testing",
        "--ferrule-backend=libferrule-faulty.so",
        "--ferrule-op=softmax",
        *("-k", "softmax"),
        "-rs",
        folder=faulty_modules,
    )
    assert "does not support softmax-float" in done.stdout
    assert "passed" not in done.stdout.splitlines()[-1]


def test_it_runs_under_xdist(faulty_modules: Path) -> None:
    report = faulty_modules / "xdist.json"
    done = kit(
        "--pyargs",
        "ferrule.testing",
        "--ferrule-backend=libferrule-faulty.so",
        "-n2",
        *("--ferrule-op=abs", "--ferrule-op=exp"),
        *("--ferrule-level=brief", "-k", "abs-float32 or exp"),
        f"--ferrule-report={report}",
        folder=faulty_modules,
    )
    assert done.returncode == 0, done.stdout
    states = {(record.op, record.state) for record in json_file.read(report).records}
    assert ("abs", "passed") in states
    assert ("exp", "unsupported") in states


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--ferrule-backend=nothing.so", "is not an existing file"),
        ("--ferrule-report=x.pdf", "is .html, .json or .txt"),
        ("--ferrule-variant=nope", "there is no variant 'nope'"),
        ("--ferrule-op=nope", "there is no op nope"),
    ],
)
def test_invalid_options_are_reported(option: str, words: str, tmp_path: Path) -> None:
    done = kit("--pyargs", "ferrule.testing", option, folder=tmp_path)
    assert done.returncode != 0
    assert words in done.stdout + done.stderr


def test_fixtures_work_in_a_backend_authors_own_tests(faulty_modules: Path, tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        """
import ferrule as fe
import numpy as np

def test_add(ferrule_device, ferrule_case):
    assert ferrule_device.name == "faulty:0"
    case = ferrule_case("add", "float32")
    for problem in case.family.plain:
        inputs = case.inputs(problem, np.random.default_rng(1))
        result = fe.asarray(inputs[0], device=ferrule_device) + fe.asarray(inputs[1], device=ferrule_device)
        verdict = case.judge(problem, inputs, np.asarray(result))
        assert verdict.ok, verdict
"""
    )
    option = f"--ferrule-backend={faulty_modules / 'libferrule-faulty.so'}"
    assert kit("test_mine.py", option, folder=tmp_path).returncode == 0
    assert kit("test_mine.py", option, folder=tmp_path, fault="three_ulp_off").returncode == 1
