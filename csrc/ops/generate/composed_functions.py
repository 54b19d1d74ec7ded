"""Functions and methods that reduction_functions.toml and transform_functions.toml describe."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docstrings import docstring

AXIS = "An axis is out of range."


@dataclass(frozen=True)
class Written:
    """The text of a function or a method."""

    name: str
    signature: str
    call: str  # of the implementation: "_reduction.sum(x, axis=axis)"
    docstring: str

    @property
    def module(self) -> str:
        """The module with the implementation."""
        return self.call[1:].partition(".")[0]


def read(path: Path) -> dict[str, list[Written]]:
    """The functions and the methods of a file."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    arguments = {name: {"name": name, **entry} for name, entry in tables["argument"].items()}
    forms: dict[str, Any] = tables.get("form", {})
    entries = {name: {**forms.get(entry.get("form"), {}), **entry} for name, entry in tables["function"].items()}
    functions = [_function(name, entry, arguments) for name, entry in entries.items()]
    methods = [_method(name, entry, arguments) for name, entry in entries.items() if "method" in entry]
    return {"functions": functions, "methods": methods}


def _function(name: str, entry: dict[str, Any], arguments: dict[str, dict[str, str]]) -> Written:
    taken = [word if word == "*" else arguments[word] for word in entry["takes"]]
    invalid = entry.get("invalid", AXIS)
    errors = [*entry.get("raises", {}).items(), ("InvalidArgumentError", invalid)]
    summary = f"{entry['summary']} {entry.get('notes', '')}".strip()
    return Written(
        name,
        f"def {name}(x: Array, /, {', '.join(_declared(taken))}) -> Array:",
        _call(entry["in"], name, "x", taken),
        docstring(summary, [("x", "Array", entry.get("x", "The array.")), *_documented(taken)],
                  [("Array", entry["returns"])], sorted(errors), entry["example"]),
    )  # fmt: skip


def _method(name: str, entry: dict[str, Any], arguments: dict[str, dict[str, str]]) -> Written:
    taken = [word if word == "*" else arguments[word] for word in entry["method"]]
    invalid = entry.get("method_invalid", "`out` is given, or an axis is out of range.")
    return Written(
        name,
        f"def {name}(self, {', '.join(_declared(taken))}) -> Array:",
        _call(entry["method_in"], name, "self", taken),
        docstring(f"{entry['summary'].partition(':')[0].removesuffix('.')}, see `ferrule.{name}`.", _documented(taken),
                  [("Array", entry["returns"])], [("InvalidArgumentError", invalid)], entry["method_example"], 8),
    )  # fmt: skip


def _call(module: str, name: str, x: str, taken: list[Any]) -> str:
    named = [f"{argument['name']}={argument['name']}" for argument in taken if argument != "*"]
    return f"_{module}.{name}({', '.join([x, *named])})"


def _declared(taken: list[Any]) -> Iterator[str]:
    for argument in taken:
        yield "*" if argument == "*" else f"{argument['name']}: {argument['annotation']} = {argument['default']}"


def _documented(taken: list[Any]) -> Iterator[tuple[str, str, str]]:
    for argument in taken:
        if argument != "*":
            yield argument["name"], argument["kind"], argument["text"]
