"""`ferrule devices`: lists the devices of this machine, the preferred one first."""

from __future__ import annotations

import argparse
import json
from typing import Any

import ferrule as fe
from ferrule.tools.cli.terminal import console
from ferrule.tools.doctor.worker import describe


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = "the devices of this machine, in the order in which they are preferred"
    parser = verbs.add_parser("devices", help=about, description=f"{about[0].upper()}{about[1:]}.")
    parser.add_argument("--json", action="store_true", help="for machines")
    parser.add_argument("--all", action="store_true", help="each as each backend sees it")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    found = [describe(device) for device in fe.devices(unified=not options.all)]
    if options.json:
        print(json.dumps(found, indent=2))
    elif found:
        _print(found)
    else:
        print("there is no device: `ferrule doctor` says why")
    return 0 if found else 1


def _print(devices: list[dict[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading in ("device", "kind", "name", "memory", "backends"):
        table.add_column(heading, justify="right" if heading == "memory" else "left", overflow="fold")
    for device in devices:
        memory = f"{device['total'] / 2**30:.1f} GiB" if device["total"] else "unknown"
        words = (device["name"], device["kind"], device["description"], memory, ", ".join(device["backends"]))
        table.add_row(*map(Text, words))
    with console() as out:
        out.print(table)
