"""`ferrule explain [NAME...]`: one sentence on each backend, kind of device or op."""

from __future__ import annotations

import argparse
import json

import ferrule as fe


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = (
        "why a backend or a kind of device is available or not, or which devices compute an op, in one sentence each"
    )
    parser = verbs.add_parser("explain", help=about, description=f"{about[0].upper()}{about[1:]}.")
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="a backend, a device, a kind of device or an op (default: all backends)",
    )
    parser.add_argument("--json", action="store_true", help="for machines")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    sentences = {name: fe.explain(name) for name in options.names or _backends()}
    if options.json:
        print(json.dumps(sentences, indent=2))
    elif sentences:
        print("\n".join(sentences.values()))
    else:
        print("no module was found: `ferrule doctor` says where they were looked for")
    return 0


def _backends() -> list[str]:
    return sorted({candidate.name for candidate in fe.load_all() if candidate.name})
