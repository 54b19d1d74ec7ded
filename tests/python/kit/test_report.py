"""The report of the conformance kit, from made-up records."""

from __future__ import annotations

import json
import math
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from ferrule.testing.report import Matrix, Record, Report, State, html, json_file, notebook_html, text

from tests.python.each import each

KINDS = {"exp": "elementwise", "softmax": "composite", "reshape": "view"}
SCRIPT = "<script>alert('got')</script>"


def record(op: str = "exp", dtype: str = "float32", **fields: Any) -> Record:
    defaults: dict[str, Any] = {"target": "cpu:0", "check": "values", "state": "passed", "runs": 3}
    of_op = {"op": op, "case": f"{op}-{dtype}", "dtypes": (dtype,), "result": dtype} if op else {}
    return Record(**{**defaults, **of_op, **fields})


def report_of(*records: Record, **fields: Any) -> Report:
    return Report(records, **{"environment": {"ferrule": "0"}, "kinds": KINDS, **fields})


def state_of(*records: Record, **fields: Any) -> State:
    return Matrix(records, kinds=KINDS, **fields).cell("cpu:0", "exp", "float32").state


EXACT = record(exact=True, ulp=0.5, check="exact")
WITHIN = record(ulp=1.5, allowed=2.0, where="element (1,) of ((3,))")
FAILED = record(state="failed", ulp=9.0, message="off by 9 ulp", check="edges")
CRASHED = record(state="crashed", message="SIGSEGV", check="guards")
HUNG = record(state="hung", message="no answer in 60 s", check="threads")
UNSUPPORTED = record(state="unsupported", reason="no kernel", check="support")
REFUSED = record(state="refused", reason="not contiguous", check="layouts")
GUARDS = record(check="guards")


@each(
    ("records", "state"),
    [
        ([EXACT], State.EXACT),
        ([EXACT, GUARDS], State.EXACT),
        ([EXACT, REFUSED], State.EXACT),
        ([EXACT, WITHIN], State.WITHIN),
        ([WITHIN, UNSUPPORTED], State.WITHIN),
        ([EXACT, WITHIN, FAILED], State.WRONG),
        ([FAILED, CRASHED, EXACT], State.CRASHED),
        ([FAILED, HUNG], State.CRASHED),
        ([UNSUPPORTED], State.UNSUPPORTED),
        ([REFUSED, UNSUPPORTED], State.UNSUPPORTED),
    ],
)
def test_cell_has_the_state_of_its_worst_record(records: list[Record], state: State) -> None:
    assert state_of(*records) is state
    assert state_of(*reversed(records)) is state


def test_exactness_is_claimed_only_if_it_was_measured() -> None:
    assert state_of(GUARDS) is State.WITHIN


def test_declared_capability_without_a_run_case_is_wrong() -> None:
    declared = {("cpu:0", "exp", "float32")}
    assert state_of(declared=declared) is State.WRONG
    assert state_of(UNSUPPORTED, declared=declared) is State.WRONG
    assert state_of(EXACT, declared=declared) is State.EXACT
    report = report_of(declared=frozenset(declared))
    assert not report.ok
    assert "declared, but no case of it ran" in text.text(report)
    assert "declared, but no case of it ran" in html.page(report)


def test_case_without_record_is_not_run_and_pair_without_case_is_empty() -> None:
    matrix = Matrix([EXACT], kinds=KINDS, expected={("softmax", "float16")})
    assert matrix.cell("cpu:0", "softmax", "float16").state is State.NOT_RUN
    assert matrix.cell("cpu:0", "softmax", "int8").state is State.NO_CASE
    assert matrix.groups == {"elementwise": ("exp",), "composite": ("softmax",), "view": ("reshape",)}


def test_report_round_trips_through_json(tmp_path: Path) -> None:
    strange = record(state="failed", ulp=math.inf, allowed=-math.inf, message='line "1"\nline\x00 2 \ud800', exact=True)
    timed = record(check="speed", nanoseconds=120.5, peer_nanoseconds=99.0, kernels=("exp_f32",), seed=7)
    module = record("", check="module:slots")
    report = report_of(
        *(strange, timed, module),
        declared=frozenset({("cpu:0", "exp", "int8")}),
        expected=frozenset({("exp", "float16")}),
    )
    path = tmp_path / "new" / "report.json"
    json_file.write(report, path)
    assert json_file.read(path) == report
    assert [file.name for file in path.parent.iterdir()] == ["report.json"]
    strict = json.loads(path.read_text("utf-8"), parse_constant=lambda name: pytest.fail(name))
    assert strict["version"] == 1
    assert strict["summary"]["targets"]["cpu:0"]["failed"] == 1
    assert [cell["state"] for cell in strict["matrix"]] == ["wrong", "not run", "wrong"]


class Tags(HTMLParser):
    """The elements of a page, its ids and the links to them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]
        assert not [name for name, _ in attrs if name.startswith("on")], (tag, attrs)


def test_record_texts_are_escaped() -> None:
    bad = f"\"'>{SCRIPT}<img src=x onerror=alert(1)>\x1b[31m\u202e"
    strings: dict[str, Any] = dict.fromkeys(("target", "module", "variant", "op", "case", "result", "where"), bad)
    messages: dict[str, Any] = dict.fromkeys(("message", "reason", "repeat", "check"), bad)
    hostile = [
        Record(**strings, **messages, dtypes=(bad,), kernels=(bad,), state=state, ulp=1.0)
        for state in ("failed", "passed", "crashed", "unsupported")
    ]
    hostile += [Record(target=bad, check=f"module:{bad}", state="failed", reason=bad, message=bad)]
    hostile += [record(check="speed", case=bad, where=bad, nanoseconds=1.0)]
    report = report_of(*hostile, environment={bad: bad}, kinds={bad: bad})
    page = html.page(report)
    tags = Tags(page)
    assert tags.names.count("script") == 1
    assert "img" not in tags.names
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert not {"script", "img"} & set(Tags(notebook_html(report.matrix)).names)


def test_failure_of_a_module_is_reported() -> None:
    report = report_of(record("", check="module:slots", state="failed", message="slot 3 is null"))
    assert not report.ok
    assert "module:slots: slot 3 is null" in text.text(report)
    assert "slot 3 is null" in html.page(report)


def test_report_without_records_is_rendered(tmp_path: Path) -> None:
    empty = report_of()
    assert text.text(empty) == "no case ran\n"
    assert "No case ran" in html.page(empty)
    assert "no case ran" in notebook_html(empty.matrix) == empty.matrix._repr_html_()
    json_file.write(empty, tmp_path / "report.json")
    assert json_file.read(tmp_path / "report.json") == empty
    assert empty.ok
