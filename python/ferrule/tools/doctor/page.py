"""An examination as a page that stands alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ferrule.loading.load_report_html import report_html
from ferrule.text.html_text import safe
from ferrule.tools.doctor.text import DEVICE_LOOKS


def page(found: dict[str, Any]) -> str:
    style = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")
    verdict = ("good", "All that was asked for works.") if found["ok"] else ("bad", "Something does not work.")
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>ferrule doctor</title>",
        f"<style>{style}</style><h1>ferrule doctor</h1><p class='verdict {verdict[0]}'>{verdict[1]}</p>",
        _advice(found["advice"]),
        _asked(found["asked"]),
        f"<h2>Devices</h2>{_devices(found['devices'])}",
        _load(found),
        f"<h2>This machine</h2>{_pairs(found['about'])}",
        f"<h2>Environment</h2>{_pairs(found['variables'])}" if found["variables"] else "",
        "</html>",
    ]
    return "\n".join(filter(None, parts))


def _advice(sentences: list[str]) -> str:
    items = "".join(f"<li>{safe(sentence)}</li>" for sentence in sentences)
    return f"<h2>Advice</h2><ul>{items}</ul>" if items else ""


def _asked(asked: list[dict[str, Any]]) -> str:
    rows = "".join(
        f"<tr><th>{_word('works' if answer['ok'] else 'does not work', 'good' if answer['ok'] else 'bad')}</th>"
        f"<td>{safe(answer['name'])} <small>{safe(answer['source'])}</small></td>"
        f"<td>{safe(answer['device'] if answer['ok'] else answer['why'])}</td></tr>"
        for answer in asked
    )
    return f"<h2>Asked for</h2><table class='plain'>{rows}</table>" if rows else ""


def _devices(devices: list[dict[str, Any]]) -> str:
    if not devices:
        return "<p>There is none.</p>"
    return f"<table class='plain'>{''.join(map(_device, devices))}</table>"


def _device(device: dict[str, Any]) -> str:
    about = [device["description"], f"{device['kind']} by {device['backend']}", device["detail"]]
    lines = [safe(", ".join(filter(None, about)))]
    if device.get("computation"):
        lines.append(f"<small>{safe(device['computation'])} is as NumPy has it</small>")
    if device["message"]:
        lines.append(_word(device["message"], DEVICE_LOOKS[device["state"]]))
    if device.get("output"):
        lines.append(f"<pre>{safe(device['output'])}</pre>")
    figures = [(device["total"] / 2**30, "GiB")] if device["total"] else []
    figures += [(device[key], unit) for key, unit in (("bandwidth", "GB/s"), ("matmul", "GFLOP/s")) if device.get(key)]
    numbers = "<br>".join(f"{number:.1f} {unit}" for number, unit in figures)
    return (
        f"<tr><th>{_word(device['state'], DEVICE_LOOKS[device['state']])}</th><th>{safe(device['name'])}</th>"
        f"<td>{'<br>'.join(lines)}</td><td class='number'>{numbers}</td></tr>"
    )


def _load(found: dict[str, Any]) -> str:
    problem = f"<pre class='bad'>{safe(found['load_problem'].strip())}</pre>" if found["load_problem"] else ""
    report = report_html(found["report"]) if found["report"] is not None else ""
    return f"<h2>Loading</h2>{problem}{report}"


def _pairs(pairs: dict[str, str]) -> str:
    rows = "".join(f"<tr><th>{safe(key)}</th><td>{safe(value)}</td></tr>" for key, value in pairs.items())
    return f"<table class='plain'>{rows}</table>"


def _word(text: str, look: str) -> str:
    return f"<span class='{look}'>{safe(text)}</span>"
