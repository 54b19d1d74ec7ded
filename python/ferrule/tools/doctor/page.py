"""An examination as a self-contained HTML page."""

from __future__ import annotations

from typing import Any

from ferrule.loading.load_report_html import values
from ferrule.text.html_templates import render
from ferrule.tools.doctor.text import DEVICE_LOOKS


def page(found: dict[str, Any]) -> str:
    load = {"load": None} if found["report"] is None else values(found["report"])
    return render(
        "doctor.html.j2",
        {"found": found, "looks": DEVICE_LOOKS, "about": _about, "figures": _figures, **load},
    )


def _about(device: dict[str, Any]) -> str:
    about = [device["description"], f"{device['kind']} by {device['backend']}", device["detail"]]
    return ", ".join(filter(None, about))


def _figures(device: dict[str, Any]) -> list[str]:
    figures = [(device["total"] / 2**30, "GiB")] if device["total"] else []
    figures += [(device[key], unit) for key, unit in (("bandwidth", "GB/s"), ("matmul", "GFLOP/s")) if device.get(key)]
    return [f"{number:.1f} {unit}" for number, unit in figures]
