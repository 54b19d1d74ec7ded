"""The load report in a notebook: complete, self-contained, and with all text escaped."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import ferrule as fe
import pytest
from ferrule.loading.load_report import _SavedReport
from ferrule.loading.load_report_html import LOOKS, STEPS, values

EVIL = "<script>alert(1)</script>&\x1b[31m\u202e"
VOID = {"br", "meta"}


def row(state: str, **more: Any) -> dict[str, Any]:
    times = more.pop("times", {})
    return {
        "path": f"/modules/libferrule-{state}.so",
        "root": "/modules",
        "name": state,
        "variant": "",
        "version": "",
        "state": state,
        "reason": f"the reason of {state}",
        "rank": 1,
        "score": None,
        "devices": [],
        "notes": [],
        "probed": "no",
        "output": "",
        "files": [],
        "times": times,
        "milliseconds": sum(times.values()),
        **more,
    }


def report(*rows: dict[str, Any], **more: Any) -> str:
    root = {"path": "/modules", "origin": "FERRULE_BACKEND_DIR", "candidates": len(rows), "problem": ""}
    times = dict.fromkeys(STEPS, 1.0)
    data = {"roots": [root], "candidates": rows, "remaining": [], "times": times, "milliseconds": 6.5, "policy": {}}
    return fe.LoadReport(_SavedReport({**data, **more}, {}))._repr_html_()


class Reader(HTMLParser):
    """The text of a page; fails on tags that do not match."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += data


@pytest.mark.parametrize("state", LOOKS)
def test_each_state_is_a_word_with_its_reason(state: str) -> None:
    text = Reader(report(row(state))).text
    assert state.replace("_", " ") in text
    assert f"the reason of {state}" in text


def test_folded_details_are_on_the_page() -> None:
    loaded = row(
        "loaded",
        version="0.3",
        devices=["cuda:0"],
        probed="cached",
        notes=["it changed the locale"],
        output="a line that it printed",
        files=["/modules/libferrule-loaded.so", "/lib/libdriver.so.1"],
        times={"read": 1.5, "probe": 2000.0},
    )
    remaining = [{"path": "/modules/gone.so", "reason": "a thread of it runs"}]
    page = report(loaded, remaining=remaining)
    text = Reader(page).text
    words = ["0.3", "cuda:0", "the verdict still holds", "it changed the locale", "a line that it printed"]
    for word in [*words, "/lib/libdriver.so.1", "read 1.5 ms", "probe 2.0 s", "/modules/gone.so: a thread of it runs"]:
        assert word in text, word
    assert "details" in Reader(page).tags


def test_a_new_column_reaches_the_template_by_its_name() -> None:
    roots = [{"path": "/modules", "origin": "dirs", "problem": ""}]
    data = {"roots": roots, "candidates": [row("loaded", colour="green")], "times": {}, "milliseconds": 0}
    [root] = values(data)["load"]["roots"]
    assert root["rows"][0]["colour"] == "green"


def test_page_is_self_contained_and_has_no_scripts() -> None:
    page = report(row("loaded"), row("error"))
    reader = Reader(page)
    assert not reader.tags & {"script", "link", "img", "iframe", "object"}
    assert not {name for name in reader.attributes if name.startswith("on") or name in ("src", "href")}
    assert "url(" not in page
    assert "http" not in page


def test_module_texts_are_escaped() -> None:
    hostile = dict.fromkeys(("path", "name", "variant", "version", "reason", "output"), EVIL)
    page = report(row("error", **hostile, notes=[EVIL], devices=[EVIL], files=[EVIL]))
    reader = Reader(page)
    assert "script" not in reader.tags
    assert "<script>alert(1)</script>&\\x1b[31m\\u202e" in reader.text
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_unreadable_root_is_shown_with_its_reason() -> None:
    roots = [{"path": "/nowhere", "origin": "dirs", "candidates": 0, "problem": "it cannot be read"}]
    assert "it cannot be read" in Reader(report(roots=roots)).text


def test_a_report_of_this_machine_is_well_formed() -> None:
    text = Reader(fe.load_all()._repr_html_()).text
    assert "backend loaded" in text or "backends loaded" in text
    assert "cpu:0" in text
