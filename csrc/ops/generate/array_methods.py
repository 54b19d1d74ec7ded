"""Methods of `Array`: those that functions of python/ferrule/functions have, and the declarations of those by hand.

A module there lists in `ARRAY_METHODS` the methods that its functions have, and the function of each:
`ARRAY_METHODS = {"conj": "conj", "conjugate": "conj"}`. The method takes the arguments after the first one.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from copy import copy
from pathlib import Path

from composed_functions import Written

BY_HAND = (("methods.py", "_Methods"), ("numpy_methods.py", "NumPyMethods"))


def of_functions(folder: Path) -> Iterator[Written]:
    """The methods that modules list."""
    for path in sorted(folder.glob("*.py")):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        functions = {each.name: each for each in body if isinstance(each, ast.FunctionDef)}
        for statement in body:
            if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "ARRAY_METHODS":
                for name, function in ast.literal_eval(statement.value).items():
                    yield _method(name, functions[function], path.stem)


def _method(name: str, function: ast.FunctionDef, module: str) -> Written:
    first, *others = [*function.args.posonlyargs, *function.args.args]
    arguments = copy(function.args)
    arguments.args, arguments.posonlyargs = [ast.arg("self", None), *others], []
    given = ["self", *(each.arg for each in others), *(f"{each.arg}={each.arg}" for each in arguments.kwonlyargs)]
    assert function.returns is not None
    return Written(
        name,
        f"def {name}({ast.unparse(arguments)}) -> {ast.unparse(function.returns)}:",
        f"_{module}.{function.name}({', '.join(given)})",
        _docstring(ast.get_docstring(function) or "", name, function.name, first.arg),
    )


def _docstring(text: str, method: str, function: str, first: str) -> str:
    """The docstring of the function, without its first parameter, and with calls of the method in the examples."""
    text = re.sub(rf"^{first} : .*\n(?:    .*\n)+", "", text, count=1, flags=re.MULTILINE)
    text = text.replace("Parameters\n----------\n\n", "")
    text = re.sub(r"(?<=^>>> ).*", lambda line: _call_of_method(line[0], method, function), text, flags=re.MULTILINE)
    return textwrap.indent(text, 8 * " ").lstrip()


def _call_of_method(line: str, method: str, function: str) -> str:
    class Calls(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.Call:
            self.generic_visit(node)
            if ast.unparse(node.func) == f"fe.{function}":
                node.func, node.args = ast.Attribute(node.args[0], method), node.args[1:]
            return node

    return ast.unparse(Calls().visit(ast.parse(line)))


def declared(folder: Path) -> Iterator[str]:
    """The declarations of the methods that are written by hand, but for those that nobody may call."""
    for file, name in BY_HAND:
        text = (folder / file).read_text(encoding="utf-8")
        [body] = [each.body for each in ast.parse(text).body if isinstance(each, ast.ClassDef) and each.name == name]
        for method in body:
            if isinstance(method, ast.FunctionDef) and ast.unparse(method.returns or method) != "NoReturn":
                first = min(each.lineno for each in (*method.decorator_list, method))
                header = "\n".join(text.splitlines()[first - 1 : method.body[0].lineno - 1])
                yield re.sub(r":( *#.*)?$", r": ...\1", header)
