"""A load report as HTML for a notebook or a page; it needs no script and no other files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from ferrule.text.html_templates import render

STEPS = ("find", "read", "hash", "probe", "open", "init")
WORDS = {"not_probed": "not probed", "probe_failed": "probe failed", "no_device": "no device"}
# The style of each state: "odd" states deserve attention, "mute" ones do not.
LOOKS = {
    "loaded": "good",
    "error": "bad",
    "probe_failed": "bad",
    "unsafe": "bad",
    "not_probed": "odd",
    "no_device": "odd",
    "incompatible": "mute",
    "outranked": "mute",
    "disabled": "mute",
}
PROBED = {"yes": "just now", "cached": "before, and the verdict still holds", "no": "no"}


def report_html(report: dict[str, Any]) -> str:
    """Render a report in the form of `LoadReport.to_dict`."""
    return render("load_report.html.j2", values(report))


def values(report: dict[str, Any]) -> dict[str, Any]:
    """Return the values for load_report.html.j2, which other pages also include."""
    rows = report["candidates"]
    loaded = [row for row in rows if row["state"] == "loaded"]
    longest = max((row.get("milliseconds") or 0.0 for row in rows), default=0.0)
    load = {
        "loaded": len(loaded),
        "devices": [device for row in loaded for device in row["devices"]],
        "failed": sum(LOOKS.get(row["state"]) == "bad" for row in rows),
        "modules": len(rows),
        "milliseconds": float(report["milliseconds"]),
        "times": _times(report),
        "roots": [
            {"path": path, "origin": origin, "problem": problem, "rows": [_row(row, longest) for row in rows]}
            for path, origin, problem, rows in by_root(report)
        ],
        "remaining": report.get("remaining") or (),
    }
    return {"load": load, "milliseconds": _milliseconds, "count": _count}


def _times(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of a load, or of one module, that took time: their milliseconds and their share of the total."""
    times = {step: float((row.get("times") or {}).get(step) or 0.0) for step in STEPS}
    total = sum(times.values())
    return [{"name": step, "time": time, "share": f"{time / total:.4f}"} for step, time in times.items() if time > 0]


def by_root(report: dict[str, Any]) -> Iterator[tuple[str, str, str, list[dict[str, Any]]]]:
    """Yield each root's path, origin, problem and rows; rows without a root come first."""
    rows = report["candidates"]
    known = {root["path"] for root in report["roots"]}
    static = [row for row in rows if row["root"] == "static"]
    before = [row for row in rows if row["root"] != "static" and row["root"] not in known]
    if static:
        yield "linked into the program", "", "", static
    if before:
        yield "loaded before", "", "", before
    for root in report["roots"]:
        origin = "" if root["origin"] == root["path"] else root["origin"]
        yield root["path"], origin, root["problem"], [row for row in rows if row["root"] == root["path"]]


def _row(row: dict[str, Any], longest: float) -> dict[str, Any]:
    """Return the columns of a row, some of them in another form, and values that are computed from them."""
    spent = float(row["milliseconds"])
    file = os.path.basename(row["path"])
    return {
        **row,
        "look": LOOKS.get(row["state"], "odd"),
        "word": WORDS.get(row["state"], row["state"]),
        "title": "-".join(filter(None, (row["name"], row["variant"]))) or file,
        "file": file,
        "probed": PROBED.get(row["probed"], "no"),
        "times": _times(row),
        "milliseconds": max(spent, 0.0),
        "share": f"{100 * spent / longest:.1f}" if longest > 0 and spent > 0 else "",
    }


def _milliseconds(time: float) -> str:
    return f"{time / 1000:.1f} s" if time >= 1000 else f"{time:.1f} ms" if time >= 0.1 else f"{1000 * time:.0f} µs"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number or 'no'} {what}s"
