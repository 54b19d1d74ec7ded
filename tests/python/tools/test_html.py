"""The templates of pages and notebook output: every value that they print is text, and never markup."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import ferrule as fe
import pytest
from ferrule.text import html_templates
from ferrule.tools.doctor.page import page
from jinja2 import UndefinedError

EVIL = "</style></pre><script>alert('got')</script><b onclick=\"x\">&\x1b[31m\u202e\ud800"
SHOWN = "</style></pre><script>alert('got')</script><b onclick=\"x\">&\\x1b[31m\\u202e\\ud800"
TEMPLATES = sorted(html_templates.FOLDER.rglob("*.html.j2"))


class Reader(HTMLParser):
    """The elements, attributes and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


def check_that_evil_is_text(text: str) -> None:
    reader = Reader(text)
    assert SHOWN in reader.text
    assert not {"script", "b"} & reader.tags
    assert "onclick" not in reader.attributes
    assert not set("\x1b\u202e\ud800") & set(text)


def test_templates_are_found() -> None:
    assert {"load_report.html.j2", "doctor.html.j2", "profile.html.j2", "page.html.j2", "notebook.html.j2"} <= {
        template.name for template in TEMPLATES
    }


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(html_templates.FOLDER)))
def test_no_template_turns_escaping_off(template: Path) -> None:
    """`safe` prints a value as markup; `escape`, and `join` with markup, escape it before control characters are
    replaced."""
    text = template.read_text(encoding="utf-8")
    assert not re.search(r"\|\s*(safe|e|escape|forceescape)\b|\bautoescape\b|\bMarkup\b|join\(['\"][^'\"]*<", text)


def test_undefined_template_variable_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="headline"):
        html_templates.render("profile.html.j2", {"tables": []})


def test_doctor_page_escapes_machine_texts() -> None:
    device: dict[str, Any] = dict.fromkeys(("name", "description", "kind", "backend", "detail", "message"), EVIL)
    device |= {"computation": EVIL, "output": EVIL, "state": "crashed", "total": 2**34, "bandwidth": 12.34}
    found: dict[str, Any] = {
        "ok": False,
        "verdict": EVIL,
        "advice": [EVIL],
        "asked": [
            {"name": EVIL, "ok": True, "device": EVIL, "why": "", "source": EVIL},
            {"name": EVIL, "ok": False, "device": "", "why": EVIL, "source": ""},
        ],
        "devices": [device],
        "load_problem": EVIL,
        "report": None,
        "about": {EVIL: EVIL},
        "variables": {EVIL: EVIL},
    }
    text = page(found)
    check_that_evil_is_text(text)
    for word in ("does not work", "16.0 GiB", "12.3 GB/s"):
        assert word in text


def test_profile_tables_escape_op_names() -> None:
    with fe.profile() as profile:
        fe.eval(fe.ones(3) + 1)
    assert profile.ops
    profile.ops = [row._replace(op=EVIL, device=EVIL) for row in profile.ops]
    check_that_evil_is_text(profile._repr_html_())
