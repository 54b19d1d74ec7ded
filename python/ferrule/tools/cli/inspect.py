"""`ferrule inspect FILE...`: shows what is known about module files, without running them, and about model files."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ferrule.tools.abi_diff import abi_diff, is_compatible
from ferrule.tools.cli.terminal import console
from ferrule.tools.inspection.model_file import is_model, read_model, totals
from ferrule.tools.inspection.read_in_child import read_modules


def add_to(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    about = "what the file of a module tells, for this system or another, without running any of it; or a model file"
    parser = verbs.add_parser("inspect", help=about, description=f"{about[0].upper()}{about[1:]}.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="an ELF, PE, Mach-O or model file")
    parser.add_argument("--json", action="store_true", help="for machines")
    parser.add_argument(
        "--abi-diff",
        nargs=2,
        type=Path,
        metavar=("A", "B"),
        help="what changed from one binary interface to another: folders of headers, or modules",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.abi_diff:
        if options.files:
            print("inspect: --abi-diff takes two paths and no other FILE", file=sys.stderr)
            return 2
        return _abi_diff(options.abi_diff[0], options.abi_diff[1], options.json)
    if not options.files:
        print("inspect: name one file or several", file=sys.stderr)
        return 2
    models = [path for path in options.files if is_model(path)]
    modules = [path for path in options.files if path not in models]
    if modules and find_spec("lief") is None:
        print("inspect: needs lief to take files apart; pip install 'ferrule[inspect]'", file=sys.stderr)
        return 2
    found = [*map(read_model, models), *(read_modules(modules) if modules else ())]
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        _print(found)
    return 1 if any(module["problems"] for module in found) else 0


def _abi_diff(a: Path, b: Path, as_json: bool) -> int:
    """Print the differences; return 0 if they are compatible, 1 if not."""
    try:
        differences = abi_diff(a, b)
    except ValueError as error:
        print(f"inspect: {error}", file=sys.stderr)
        return 2
    if as_json:
        print(json.dumps([asdict(difference) for difference in differences], indent=2))
    else:
        print("\n".join(map(str, differences)) or "there is no difference")
    return 0 if is_compatible(differences) else 1


def _print(modules: list[dict[str, Any]]) -> None:
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    with console() as out:
        for module in modules:
            table = Table.grid(padding=(0, 2, 0, 0))
            table.add_column(no_wrap=True, style="dim")
            table.add_column(overflow="fold")
            for label, text, style in _rows_of_model(module) if "tensors" in module else _rows(module):
                table.add_row(label, Text(text, style=style))
            out.print(Text(module["path"], style="bold"))
            out.print(Padding(table, (0, 0, 0 if module is modules[-1] else 1, 2)))


def _rows(module: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the label, text and style of each line."""
    if "sha256" in module:
        yield "size", f"{module['size']} bytes", ""
        yield "sha256", module["sha256"] + _is_manifests(module), ""
    for image in module.get("images", ()):
        yield "image", f"{image['format']} for {image['system']}, {image['architecture']}", ""
        abi = image["abi"]
        if abi is not None:
            hashes = f"layout hash {', '.join(abi['layout_hashes'])}"
            yield "interface", f"{abi['major']}.{abi['minor']}, {hashes}", ""
        yield "exports", _list_names(image["exports"]), ""
        yield "needs", _list_names(image["needed"]), ""
        yield "run paths", _list_names(image["run_paths"]), ""
        mapped = sum(segment["size"] for segment in image["segments"])
        yield "segments", f"{len(image['segments'])}, {mapped} bytes of the file", ""
    if module.get("manifest") is not None:
        for number, (key, value) in enumerate(module["manifest"].items()):
            yield "" if number else "manifest", f"{key}: {_value(value)}", ""
    for note in module.get("notes", ()):
        yield "note", note, "yellow"
    for problem in module["problems"]:
        yield "problem", problem, "red"


def _rows_of_model(model: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    yield "format", model["format"], ""
    yield "size", f"{model['size']} bytes", ""
    for number, (key, value) in enumerate(model["metadata"].items()):
        yield "" if number else "metadata", f"{_printable(key)}: {_short(value, model['types'][key])}", ""
    for number, (kind, (count, size)) in enumerate(totals(model).items()):
        yield "" if number else "types", f"{kind}: {count} tensors, {size} bytes", ""
    for number, tensor in enumerate(model["tensors"]):
        shape = " x ".join(map(str, tensor["shape"])) or "scalar"
        yield "" if number else "tensors", f"{_printable(tensor['name'])}: {tensor['type']}, {shape}", ""


def _short(value: Any, kind: str) -> str:
    if isinstance(value, list):
        return f"{len(value)} {kind}{'' if len(value) == 1 else 's'}"
    line = _printable(" ".join(str(value).split()))
    return line if len(line) <= 80 else f"{line[:77]}..."


def _printable(text: str) -> str:
    """The text of a file without what would control a terminal."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def _is_manifests(module: dict[str, Any]) -> str:
    if module["manifest"] is None:
        return ""
    is_same = module["manifest"].get("sha256") == module["sha256"]
    return ", as its manifest says" if is_same else ", and not its manifest's"


def _list_names(names: list[str], most: int = 12) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more if names else "none"


def _value(value: Any) -> str:
    if isinstance(value, list):
        return _list_names([str(element) for element in value])
    return json.dumps(value) if isinstance(value, dict) else str(value)
