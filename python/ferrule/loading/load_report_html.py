"""A load report for a notebook or a page: one piece of HTML that needs no script and nothing from elsewhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ferrule.text.html_text import safe

STEPS = ("find", "read", "hash", "probe", "open", "init")
WORDS = {"not_probed": "not probed", "probe_failed": "probe failed", "no_device": "no device"}
# How a state looks: good, bad, in need of a look, or of no matter.
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
    """Of the report as `LoadReport.to_dict` gives it."""
    rows = report["candidates"]
    longest = max((row.get("milliseconds") or 0.0 for row in rows), default=0.0)
    groups = "".join(_group(*of_root, longest) for of_root in by_root(report))
    style = (Path(__file__).parent / "load_report.css").read_text(encoding="utf-8")
    body = f"<table>{groups}</table>" if groups else ""
    return f"<style>{style}</style><div class='ferrule-load'>{_headline(report)}{body}{_remaining(report)}</div>"


def _headline(report: dict[str, Any]) -> str:
    rows = report["candidates"]
    loaded = [row for row in rows if row["state"] == "loaded"]
    devices = [device for row in loaded for device in row["devices"]]
    head = f"<b>{_count(len(loaded), 'backend')} loaded</b>"
    if devices:
        head += f", {_count(len(devices), 'device')}: " + ", ".join(f"<code>{safe(name)}</code>" for name in devices)
    failed = sum(LOOKS.get(row["state"]) == "bad" for row in rows)
    if failed:
        head += f"; <span class='bad'>{_count(failed, 'module')} failed</span>"
    return f"<p>{head}</p>{_times(report)}"


def _times(report: dict[str, Any]) -> str:
    """Where the time went, as one bar with its parts named."""
    times = {step: float((report.get("times") or {}).get(step) or 0.0) for step in STEPS}
    total, spent = sum(times.values()), float(report["milliseconds"])
    text = f"<span>{_milliseconds(spent)}, {_count(len(report['candidates']), 'module')} looked at</span>"
    if total <= 0:
        return f"<div class='times'>{text}</div>"
    parts = [(step, time) for step, time in times.items() if time > 0]
    bar = "".join(f"<i class='t-{step}' style='flex-grow:{time / total:.4f}'></i>" for step, time in parts)
    names = "".join(f"<span><i class='t-{step}'></i>{step} {_milliseconds(time)}</span>" for step, time in parts)
    return f"<div class='bar'>{bar}</div><div class='times'>{text}{names}</div>"


def by_root(report: dict[str, Any]) -> Iterator[tuple[str, str, str, list[dict[str, Any]]]]:
    """Each root, where it comes from, what is wrong with it, and its rows; those that no root has come first."""
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


def _group(root: str, origin: str, problem: str, rows: list[dict[str, Any]], longest: float) -> str:
    head = safe(root) + (f" <small>{safe(origin)}</small>" if origin else "")
    head += f" <span class='bad'>{safe(problem)}</span>" if problem else "" if rows else " <small>no modules</small>"
    body = "".join(_row(row, longest) for row in rows)
    return f"<tbody><tr class='root'><th colspan='4'>{head}</th></tr>{body}</tbody>"


def _row(row: dict[str, Any], longest: float) -> str:
    look = LOOKS.get(row["state"], "odd")
    name = "-".join(filter(None, (row["name"], row["variant"]))) or os.path.basename(row["path"])
    version = f" <small>{safe(row['version'])}</small>" if row.get("version") else ""
    spent = float(row.get("milliseconds") or 0.0)
    bar = f"<i style='width:{100 * spent / longest:.1f}%'></i>" if longest > 0 and spent > 0 else ""
    time = _milliseconds(spent) if spent > 0 else ""
    return (
        f"<tr class='{look}'><td class='state'>{safe(WORDS.get(row['state'], row['state']))}</td>"
        f"<td class='name'>{safe(name)}{version}</td>"
        f"<td class='why'><details><summary>{_why(row)}</summary>{_details(row)}</details></td>"
        f"<td class='ms'>{time}<div>{bar}</div></td></tr>"
    )


def _why(row: dict[str, Any]) -> str:
    """What there is to say without being asked: devices, the reason, and how much more there is."""
    words = [f"<code>{safe(device)}</code>" for device in row["devices"]]
    if row["reason"]:
        words.append(safe(row["reason"]))
    notes = "".join(f"<br><span class='odd'>{safe(note)}</span>" for note in row.get("notes") or ())
    return " ".join(words) + notes or f"<small>{safe(os.path.basename(row['path']))}</small>"


def _details(row: dict[str, Any]) -> str:
    known: list[tuple[str, str]] = [("file", f"<code>{safe(row['path'])}</code>")]
    known += [(label, safe(row[label])) for label in ("rank", "score") if row[label] is not None]
    known.append(("probed", PROBED.get(row.get("probed") or "no", "no")))
    times = [(step, float((row.get("times") or {}).get(step) or 0.0)) for step in STEPS]
    spent = ", ".join(f"{step} {_milliseconds(time)}" for step, time in times if time > 0)
    if spent:
        known.append(("time", spent))
    files = row.get("files") or ()
    if files:
        known.append(("mapped", "<br>".join(f"<code>{safe(file)}</code>" for file in files)))
    if row.get("output"):
        known.append(("printed", f"<pre>{safe(row['output'])}</pre>"))
    return "<dl>" + "".join(f"<dt>{label}</dt><dd>{value}</dd>" for label, value in known) + "</dl>"


def _remaining(report: dict[str, Any]) -> str:
    files = report.get("remaining") or ()
    if not files:
        return ""
    items = "".join(f"<li><code>{safe(file['path'])}</code>: {safe(file['reason'])}</li>" for file in files)
    return f"<p class='rest'>Unloaded, and still mapped:</p><ul>{items}</ul>"


def _milliseconds(time: float) -> str:
    return f"{time / 1000:.1f} s" if time >= 1000 else f"{time:.1f} ms" if time >= 0.1 else f"{1000 * time:.0f} µs"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number or 'no'} {what}s"
