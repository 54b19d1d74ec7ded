"""`Array` has the methods that it declares for type checkers: ferrule.functions.methods attaches them."""

from __future__ import annotations

import ast
import inspect
import textwrap
from pathlib import Path
from types import FunctionType

import ferrule as fe
from ferrule.functions import methods


def declared() -> dict[str, ast.FunctionDef]:
    [body] = ast.parse(textwrap.dedent(inspect.getsource(fe.Array))).body
    assert isinstance(body, ast.ClassDef)
    [block] = [node for node in body.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    stub = Path(methods.__file__).with_name("reduction_methods.pyi")
    [reductions] = [node for node in ast.parse(stub.read_text("utf-8")).body if isinstance(node, ast.ClassDef)]
    return {node.name: node for node in (*block.body, *reductions.body) if isinstance(node, ast.FunctionDef)}


def attached() -> dict[str, FunctionType]:
    members = [member for source in methods.SOURCES for member in vars(source).items()]
    functions = {name: member.fget if isinstance(member, property) else member for name, member in members}
    return {name: function for name, function in functions.items() if isinstance(function, FunctionType)}


def test_declared_methods_are_attached() -> None:
    # Nobody calls these by name, and `del x[0]` is an error to type checkers: there is nothing to declare.
    overridden = {"__delitem__", "__reduce__", "__repr__", "_repr_html_"}
    assert set(attached()) == set(declared()) | overridden


def test_methods_are_attributes_of_the_class() -> None:
    for name, function in attached().items():
        member = vars(fe.Array)[name]
        assert inspect.unwrap(member.fget if isinstance(member, property) else member) is function
        assert function.__qualname__ == f"Array.{name}"
        assert isinstance(member, property) == bool(name in declared() and declared()[name].decorator_list)


def test_method_signatures_match_their_declarations() -> None:
    for name, node in declared().items():
        signature = inspect.signature(attached()[name])
        assert str(signature).replace("'", "") == f"({ast.unparse(node.args)}) -> {ast.unparse(node.returns)}".replace(
            "=", " = "
        ).replace("'", ""), name
