"""Writes the names and signatures of the Python array API standard, as types-array-api declares them, to a JSON file.

    pip download --no-deps types-array-api && unzip types_array_api-*.whl -d types_array_api
    python tests/python/standard/read_signatures.py types_array_api/array_api/_2024_12.py \
        tests/python/standard/signatures_2024_12.json

The stubs have the syntax of Python 3.12 for type parameters, which this reader removes: it runs with any Python.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path
from typing import Any

Parameter = tuple[str, str, Any]  # name, kind, and a list of the default or an empty list

NAMESPACES = {"": "ArrayNamespace", "linalg": "LinalgNamespace", "fft": "FftNamespace"}
CLASSES = {"Array": "Array", "Info": "Info"}


def without_type_parameters(text: str) -> str:
    """Return the text without `[T]` behind the names of classes and functions, and without aliases of types."""
    text = re.sub(r"^type .*$", "", text, flags=re.MULTILINE)
    return re.sub(r"^(\s*(?:class|def) \w+)\[[^\n]*?\](?=\()", r"\1", text, flags=re.MULTILINE)


def parameters(function: ast.FunctionDef) -> list[Parameter]:
    """Return all parameters without self."""
    given, found = function.args, []
    ordered = [*((a, "positional only") for a in given.posonlyargs), *((a, "positional") for a in given.args)]
    defaults: list[ast.expr | None] = [None] * (len(ordered) - len(given.defaults)) + list(given.defaults)
    for (argument, kind), default in zip(ordered, defaults, strict=True):
        found.append((argument.arg, kind, default_of(default)))
    if given.vararg:
        found.append((given.vararg.arg, "any number", []))
    for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        found.append((argument.arg, "keyword only", default_of(default)))
    return found[1:]


def default_of(expression: ast.expr | None) -> list[Any]:
    return [] if expression is None else [ast.literal_eval(expression)]


def signatures(text: str) -> dict[str, Any]:
    """Return the signatures of functions and of the methods of classes, and the names that are no functions."""
    classes = {
        node.name: node for node in ast.parse(without_type_parameters(text)).body if isinstance(node, ast.ClassDef)
    }
    calls = {
        name: parameters(member)
        for name, node in classes.items()
        for member in node.body
        if isinstance(member, ast.FunctionDef) and member.name == "__call__"
    }
    result: dict[str, Any] = {"functions": {}, "methods": {}, "properties": {}, "names": []}
    for prefix, namespace in NAMESPACES.items():
        for member in classes[namespace].body:
            if not isinstance(member, ast.AnnAssign) or not isinstance(member.target, ast.Name):
                continue
            name = member.target.id
            full = f"{prefix}.{name}" if prefix else name
            if name in calls:
                result["functions"][full] = calls[name]
            else:
                result["names"].append(full)
    for name, node in classes.items():
        if name not in CLASSES:
            continue
        result["methods"][name] = {}
        result["properties"][name] = []
        for method in (member for member in node.body if isinstance(member, ast.FunctionDef)):
            if any(isinstance(mark, ast.Name) and mark.id == "property" for mark in method.decorator_list):
                result["properties"][name].append(method.name)
            else:
                result["methods"][name][method.name] = parameters(method)
    return result


def as_text(value: Any, depth: int) -> str:
    """Return JSON with an item of the first levels on each line."""
    if depth == 0 or not isinstance(value, dict):
        return json.dumps(value)
    items = (f"{json.dumps(key)}: {as_text(value[key], depth - 1)}" for key in sorted(value))
    return "{\n" + ",\n".join(items) + "\n}"


if __name__ == "__main__":
    stubs, target = sys.argv[1:]
    found = signatures(Path(stubs).read_text())
    Path(target).write_text(as_text(found, 3) + "\n")
