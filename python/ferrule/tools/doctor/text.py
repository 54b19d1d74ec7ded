"""An examination as text: coloured on a terminal, otherwise plain."""

from __future__ import annotations

import os
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ferrule.loading.load_report_html import LOOKS, WORDS, by_root

STYLES = {"good": "green", "bad": "bold red", "odd": "yellow", "mute": "dim"}
DEVICE_LOOKS = {"works": "good", "unjudged": "mute", "wrong": "bad", "crashed": "bad", "hung": "bad", "fails": "bad"}


def show(found: dict[str, Any], out: Console) -> None:
    _section(out, "This machine", _pairs(found["about"]))
    if found["variables"]:
        _section(out, "Environment", _pairs(found["variables"]))
    if found["load_problem"]:
        _section(out, "Loading", Text(found["load_problem"].strip(), style="red"))
    if found["report"] is not None:
        out.print(Text("Search locations and candidates", style="bold"))
        _modules(found["report"], out)
        remaining = found["report"].get("remaining") or []
        if remaining:
            _section(out, "Still mapped", _pairs({file["path"]: file["reason"] for file in remaining}))
    _section(out, "Devices", _devices(found["devices"], "none that was asked for" if found["asked"] else "none"))
    if found["asked"]:
        _section(out, "Asked for", _asked(found["asked"]))
    if found["advice"]:
        _section(out, "Advice", _list(found["advice"]))
    out.print(Text(found["verdict"], style="bold green" if found["ok"] else "bold red"))


def _section(out: Console, title: str, body: Table | Text) -> None:
    out.print(Text(title, style="bold"))
    out.print(Padding(body, (0, 0, 1, 2)))


def _grid(*styles: str) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for style in styles[:-1]:
        table.add_column(style=style, no_wrap=True)
    table.add_column(style=styles[-1], overflow="fold")
    return table


def _pairs(pairs: dict[str, str]) -> Table:
    table = _grid("dim", "")
    for key, value in pairs.items():
        table.add_row(key, Text(value))
    return table


def _list(sentences: list[str]) -> Table:
    table = _grid("dim", "")
    for sentence in sentences:
        table.add_row("-", Text(sentence))
    return table


def _modules(report: dict[str, Any], out: Console) -> None:
    """Print each root with its candidates below it, in columns of equal width for all roots."""
    columns = zip(*map(_cells, report["candidates"]), strict=True)
    widths = [max(map(len, cells)) for cells in columns]
    for root, origin, problem, rows in by_root(report):
        head = Text(f"{root} ({origin})" if origin else root)
        head.append(f": {problem}" if problem else "" if rows else ": no modules", style="red" if problem else "dim")
        out.print(Padding(head, (0, 0, 0, 2)))
        table = Table.grid(padding=(0, 2, 0, 0))
        for width in widths:
            table.add_column(min_width=width, no_wrap=True)
        table.add_column(overflow="fold")
        for row in rows:
            look = STYLES[LOOKS.get(row["state"], "odd")]
            state, name = _cells(row)
            table.add_row(Text(state, style=look), name, _about(row, look))
        if rows:
            out.print(Padding(table, (0, 0, 0, 4)))
    out.print()


def _cells(row: dict[str, Any]) -> tuple[str, str]:
    name = "-".join(filter(None, (row["name"], row["variant"]))) or os.path.basename(row["path"])
    return WORDS.get(row["state"], row["state"]), name


def _about(row: dict[str, Any], look: str) -> Text:
    file = "" if row["root"] == "static" else os.path.basename(row["path"])
    lines = [file if row["state"] == "loaded" or look == STYLES["bad"] else "", row["reason"]]
    lines += row.get("notes") or []
    if row["state"] == "loaded":
        version = f"version {row['version']}, " if row.get("version") else ""
        lines.append(f"{version}{' '.join(row['devices'])}, {row['milliseconds']:.1f} ms, probed: {row['probed']}")
        lines += [f"mapped {file}" for file in (row.get("files") or []) if file != row["path"]]
    text = Text("\n".join(filter(None, lines)), style="dim" if look == "dim" else "")
    if row.get("output"):
        text.append("\n" + "\n".join(f"| {line}" for line in row["output"].strip().splitlines()[-12:]), style="dim")
    return text


def _devices(devices: list[dict[str, Any]], none: str) -> Table | Text:
    if not devices:
        return Text(none, style="yellow")
    table = _grid("", "bold", "")
    for device in devices:
        look = STYLES[DEVICE_LOOKS[device["state"]]]
        table.add_row(Text(device["state"], style=look), device["name"], _device(device, look))
    return table


def _device(device: dict[str, Any], look: str) -> Text:
    of = f"{device['backend']} {device['version']}".strip()
    about = [device["description"], f"{device['kind']} by {of}", device["detail"]]
    about += [f"PCI {device['pci_address']}"] if device["pci_address"] else []
    about += [f"{device['total'] / 2**30:.1f} GiB"] if device["total"] else []
    text = Text(", ".join(filter(None, about)))
    figures = []
    if device.get("computation"):
        figures.append(f"{device['computation']} is as NumPy has it")
    if device.get("bandwidth"):
        figures.append(f"{device['bandwidth']:.1f} GB/s")
    if device.get("matmul"):
        figures.append(f"{device['matmul']:.1f} GFLOP/s")
    if figures:
        text.append("\n" + ", ".join(figures))
    if device["message"]:
        text.append("\n" + device["message"], style=look)
    if device.get("output"):
        text.append("\n" + "\n".join(f"| {line}" for line in device["output"].splitlines()[-12:]), style="dim")
    return text


def _asked(asked: list[dict[str, Any]]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, min_width=len("does not work"))
    table.add_column(overflow="fold")  # a name may be a long path
    table.add_column(overflow="fold")
    for answer in asked:
        source = f" ({answer['source']})" if answer["source"] else ""
        word = Text("works" if answer["ok"] else "does not work", style="green" if answer["ok"] else "bold red")
        table.add_row(word, answer["name"] + source, Text(answer["device"] if answer["ok"] else answer["why"]))
    return table
