"""Collects the signature and the summary line of each function for the page of functions."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PACKAGES = {"functions": "", "linalg": "linalg.", "fft": "fft.", "random": "random."}


@dataclass(frozen=True)
class Entry:
    call: str  # "quantile(x, q, /, axis=None)"
    summary: str


def written(package: Path) -> dict[str, list[Entry]]:
    """The public functions that are written in Python, by what their module is about."""
    sections: dict[str, list[Entry]] = {}
    for folder, prefix in PACKAGES.items():
        for path in sorted((package / folder).glob("*.py")):
            module = ast.parse(path.read_text(encoding="utf-8"))
            functions = [each for each in module.body if isinstance(each, ast.FunctionDef) and not _is_overload(each)]
            public = public_names(module)
            entries = [_entry(each, prefix) for each in functions if each.name in public]
            if entries:
                sections[_summary(module)] = entries
    return sections


def generated(functions: Iterable[tuple[str, str]], prefix: str = "") -> list[Entry]:
    """The functions of signatures and docstrings."""
    bodies = (ast.parse(f'{signature}\n    """{docstring}"""').body for signature, docstring in functions)
    return [_entry(each, prefix) for [each] in bodies if isinstance(each, ast.FunctionDef)]


def public_names(module: ast.Module) -> list[str]:
    """The names in `__all__`, if it is a list of strings."""
    for statement in module.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            return list(ast.literal_eval(statement.value))
    return []


def _is_overload(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(decorator) == "overload" for decorator in function.decorator_list)


def _entry(function: ast.FunctionDef, prefix: str = "") -> Entry:
    arguments = function.args
    if arguments.vararg and ast.unparse(arguments.vararg.annotation or arguments.vararg) == "Never":
        arguments.vararg = None  # only there for its error
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if each:
            each.annotation = None
    return Entry(f"{prefix}{function.name}({ast.unparse(arguments)})", _summary(function))


def _summary(node: ast.Module | ast.FunctionDef) -> str:
    """The first paragraph of the docstring, in one line."""
    return " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())
