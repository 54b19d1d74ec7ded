"""The report of the conformance kit, from made-up records."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import math
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from ferrule.testing.report import Matrix, Record, Report, ReportError, State, html, json_file, notebook_html, text

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


@pytest.mark.parametrize(
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


def test_failing_cell_shows_the_failing_distance() -> None:
    far = record(ulp=100.0, allowed=200.0)
    cell = Matrix([far, FAILED], kinds=KINDS).cell("cpu:0", "exp", "float32")
    assert (cell.ulp, cell.why, cell.runs, cell.cases) == (9.0, "off by 9 ulp", 6, 1)
    assert Matrix([WITHIN, EXACT], kinds=KINDS).cell("cpu:0", "exp", "float32").where == WITHIN.where


def test_op_without_inputs_is_listed_under_its_result_dtype() -> None:
    iota = record("iota", "int32", dtypes=(), exact=True)
    assert Matrix([iota], kinds=KINDS).cell("cpu:0", "iota", "int32").state is State.EXACT


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


def test_nan_round_trips_through_json() -> None:
    again = Record.from_json(json.loads(json.dumps(record(ulp=math.nan).to_json(), allow_nan=False)))
    assert again.ulp is not None
    assert math.isnan(again.ulp)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ("", "Expecting value"),
        ("[]", "needs an object with schema 'ferrule-conformance'"),
        ({"version": 99}, "version 99; this ferrule reads version 1"),
        ({"records": {}}, "records: needs a list"),
        ({"records": [3]}, "record 0: got int, needs an object"),
        ({"records": [{"check": "values", "state": "passed"}]}, "record 0: target is missing"),
        ({"records": [{"target": "a", "check": "b", "state": "fine"}]}, "record 0: state: got 'fine', needs one of"),
        ({"records": [{"target": "a", "check": "b", "state": "passed", "ulp": "x"}]}, "ulp: got 'x', needs float"),
        ({"records": [{"target": "a", "check": "b", "state": "passed", "runs": True}]}, "runs: got True, needs int"),
        ({"records": [{"target": "a", "check": "b", "state": "passed", "dtypes": "f"}]}, "dtypes: got 'f', needs a"),
        ({"records": [{"target": "a", "check": "b", "state": "passed", "colour": 1}]}, "'colour' is not a field"),
        ({"environment": {"ferrule": 1}}, "environment: needs strings"),
        ({"declared": [["cpu:0", "exp"]]}, "declared: got ['cpu:0', 'exp'], needs a list of 3 strings"),
    ],
)
def test_malformed_json_is_reported(change: str | dict[str, Any], error: str, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    whole = change if isinstance(change, str) else json.dumps(json_file.document(report_of(EXACT)) | change)
    path.write_text(whole, "utf-8")
    with pytest.raises(ReportError, match=re.escape(error)) as caught:
        json_file.read(path)
    assert str(path) in str(caught.value)


def test_failed_write_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.json"
    path.write_text("before")
    monkeypatch.setattr(Path, "replace", lambda *_: pytest.fail("replaced"))
    with pytest.raises(TypeError):
        json_file.replace(path, b"bytes")  # type: ignore[arg-type]
    assert [file.read_text() for file in tmp_path.iterdir()] == ["before"]


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


def test_page_is_self_contained_and_its_links_resolve() -> None:
    states = [EXACT, WITHIN, FAILED, CRASHED, UNSUPPORTED, REFUSED, HUNG]
    page = html.page(report_of(*states, record("softmax", target="gpu:0", state="failed", message="wrong")))
    tags = Tags(page)
    assert len(set(tags.ids)) == len(tags.ids)
    assert {link.removeprefix("#") for link in tags.links} - {"_"} <= set(tags.ids)
    assert "http" not in re.sub("http-equiv=Content-Security-Policy", "", page)


ONE_OF_EACH = (
    record(exact=True),
    record("softmax", ulp=1.5, allowed=2.0),
    record("exp", "float64", state="failed", message="wrong by far"),
    record("exp", "float16", state="crashed", message="SIGSEGV"),
    record("softmax", "float16", state="unsupported", reason="no kernel"),
)


def test_each_state_is_shown_by_its_word_and_symbol() -> None:
    report = report_of(*ONE_OF_EACH, expected=frozenset({("softmax", "float64")}))
    page, notebook, whole = html.page(report), notebook_html(report.matrix), text.text(report)
    for state in (s for s in State if s is not State.NO_CASE):
        assert report.matrix.counts()[state] == 1
        assert state.word in page
        assert state.word in notebook
        assert f'content:"{state.symbol}"' in page
        assert f"{state.symbol} 1 {state.word}" in whole


def test_text_is_ascii_for_ascii_streams() -> None:
    slow = record(check="speed", nanoseconds=3e3, peer_nanoseconds=1e3, where="µ")
    report = report_of(*ONE_OF_EACH, slow, record("reshape", state="failed", ulp=math.inf, message="größer"))
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    text.write(report, stream)
    stream.seek(0)
    whole = stream.read()
    assert "!= 2 wrong" in whole
    assert "inf ulp" in whole
    assert "0.33x" in whole
    wide = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    text.write(report, wide)
    wide.seek(0)
    assert "≠ 2 wrong" in wide.read()


def test_text_lists_only_cells_that_are_not_clean() -> None:
    whole = text.text(report_of(*ONE_OF_EACH), width=60)
    assert "✕ exp float16" in whole
    assert "wrong by far" in whole
    assert "float32" not in whole
    assert "unsupported: softmax float16" in whole
    assert all(len(line) <= 60 for line in whole.splitlines()[1:])


def test_failure_of_a_module_is_reported() -> None:
    report = report_of(record("", check="module:slots", state="failed", message="slot 3 is null"))
    assert not report.ok
    assert "module:slots: slot 3 is null" in text.text(report)
    assert "slot 3 is null" in html.page(report)


def test_message_and_command_of_a_failure_are_on_the_page_once() -> None:
    failure = record(state="failed", message="first\n  got 3, needs 4", repeat="pytest -k 'exp and values'")
    page = html.page(report_of(failure, record(check="edges", repeat="pytest -k 'exp and edges'")))
    assert page.count("got 3, needs 4") == 1
    assert unescape(page).count("pytest -k 'exp and values'") == 2, "in the list of failures and in the panel"
    assert unescape(page).count("pytest -k 'exp and edges'") == 0
    assert 'data-r="19,3,edg"' in page


def test_failures_begin_with_crashes_and_with_one_of_each_cell() -> None:
    exp = [record(state="failed", check=check) for check in ("values", "edges")]
    softmax, crash = record("softmax", state="failed"), record("reshape", state="crashed")
    assert report_of(*exp, softmax, crash).failures == (crash, exp[0], softmax, exp[1])


def test_only_the_script_of_the_page_may_run() -> None:
    page = html.page(report_of(EXACT))
    script = page[page.index("<script>") + len("<script>") : page.index("</script>")]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in page


def test_many_failures_are_folded_and_counted() -> None:
    failures = [record(f"op{n}", state="failed", message=f"message {n}.") for n in range(1000)]
    report = report_of(*failures)
    page, whole = html.page(report), text.text(report)
    assert "Failures <small>1,000</small>" in page
    assert "and 988 more" in page
    assert "600 others of them are only in the JSON file" in page
    assert "message 399." in page
    assert "message 400." not in page
    assert "… and 960 more" in whole
    assert "more</summary>" not in html.page(report_of(*failures[:13]))


def test_benchmark_is_shown_beside_numpys_time() -> None:
    report = report_of(record(check="speed", nanoseconds=1234.0, peer_nanoseconds=2468.0, where="((256,))"))
    for shown in (html.page(report), text.text(report)):
        assert "1.23 µs" in shown
        assert "2.00×" in shown  # noqa: RUF001
    assert "Time of a call" not in html.page(report_of(EXACT))


def test_report_without_records_is_rendered(tmp_path: Path) -> None:
    empty = report_of()
    assert text.text(empty) == "no case ran\n"
    assert "No case ran" in html.page(empty)
    assert "no case ran" in notebook_html(empty.matrix)
    json_file.write(empty, tmp_path / "report.json")
    assert json_file.read(tmp_path / "report.json") == empty
    assert empty.ok


def test_page_of_thousands_of_records_stays_small() -> None:
    checks = ("values", "edges", "nan", "guards", "layouts", "shapes", "batch", "threads", "repeat", "fused")
    dtypes = ("int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")
    records = [
        record(
            f"operation{number}",
            dtype,
            check=check,
            ulp=1.5,
            allowed=2.0,
            where=f"element (3, {number}) of ((5, 7, {number}), axis=-1)",
            repeat=f"python -m pytest --pyargs ferrule --seed={number} -k 'operation{number}-{dtype} and {check}'",
            reason="a sum of n terms is off by at most n roundings of the accumulator",
            kernels=(f"operation{number}_{dtype}",),
        )
        for number in range(100)
        for dtype in dtypes
        for check in checks
    ]
    assert len(records) == 8000
    assert len(html.page(report_of(*records)).encode()) < 1_500_000
    assert len(notebook_html(Matrix(records, kinds={})).encode()) < 150_000
