"""The examples in docstrings run, and every public function, class, method and property has a docstring."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import shutil
import subprocess
import textwrap
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from types import FunctionType
from typing import Any

import ferrule as fe
import pytest

RunPython = Callable[..., subprocess.CompletedProcess[str]]
PACKAGE = Path(fe.__file__).parent
# The CPU backend, and the other names under which examples load it.
BACKENDS = "cpu,another,copy"
# Examples that need more than the CPU device: whether they can run here, and what they need.
NEEDS = {"ferrule.graphs.graph.Graph.svg": (shutil.which("dot") is not None, "the program `dot` of Graphviz")}
# Public classes that users only get from functions, and never name.
RETURNED = ("ferrule.graphs.tracing.TracedFunction", "ferrule.io.gguf.Gguf", "ferrule.io.safetensors.SafeTensors")
MEMBERS = (FunctionType, property, cached_property)
# Public functions, classes and methods without examples. Nothing may be added; remove what gets some.
WITHOUT_EXAMPLES: frozenset[str] = frozenset()

# Runs the examples of a module in a process of its own: some of them unload backends.
RUN = """
import doctest, importlib, sys
import numpy as np
import ferrule as fe
module = importlib.import_module({module!r})
runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
for test in doctest.DocTestFinder().find(module, extraglobs={{"fe": fe, "np": np}}):
    if test.name not in {left_out!r}:
        runner.run(test)
print(runner.tries, "examples were run")
sys.exit(runner.failures != 0)
"""


def _modules_with_examples() -> list[str]:
    names = []
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if "templates" not in parts and re.search(r"^\s*>>> ", path.read_text(encoding="utf-8"), re.MULTILINE):
            names.append(".".join(("ferrule", *parts)).removesuffix(".__init__"))
    return names


@pytest.mark.parametrize("module", _modules_with_examples())
def test_docstring_examples_of_a_module_run(module: str, run_python: RunPython) -> None:
    left_out = [name for name, (is_there, _) in NEEDS.items() if not is_there]
    done = run_python(RUN.format(module=module, left_out=left_out), check=False, FERRULE_ONLY=BACKENDS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stdout.startswith("0 "), "the module has examples that doctest does not find"


def _public() -> Iterator[tuple[str, Any]]:
    """The public functions and classes, and the members of the classes."""
    values = [(name, getattr(fe, name)) for name in fe.__all__]
    values += [(f"io.{name}", getattr(fe.io, name)) for name in fe.io.__all__]
    values += [(f"random.{name}", getattr(fe.random, name)) for name in fe.random.__all__]
    values += [(f"linalg.{name}", getattr(fe.linalg, name)) for name in fe.linalg.__all__]
    values += [(f"fft.{name}", getattr(fe.fft, name)) for name in fe.fft.__all__]
    for path in RETURNED:
        module, _, name = path.rpartition(".")
        values.append((name, getattr(importlib.import_module(module), name)))
    for name, value in values:
        if inspect.isclass(value) or inspect.isfunction(value):
            yield name, value
        if inspect.isclass(value):
            own = [base for base in value.__mro__ if base.__module__.startswith("ferrule.")]
            for member, defined in (item for base in own for item in vars(base).items()):
                function = defined.__func__ if isinstance(defined, (classmethod, staticmethod)) else defined
                if not member.startswith("_") and isinstance(function, MEMBERS):
                    yield f"{name}.{member}", function


PUBLIC = dict(_public())


def test_public_names_are_found() -> None:
    assert {
        "Array.reshape",
        "Array.T",
        "Graph.apply",
        "Graph.load",
        "LoadReport.roots",
        "io.open_safetensors",
        "exp",
        "sum",
    } < PUBLIC.keys()
    assert not {"Array.__init__", "pi"} & PUBLIC.keys()


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_docstring_begins_with_a_summary_line(name: str) -> None:
    summary, _, rest = (inspect.getdoc(PUBLIC[name]) or "").partition("\n")
    assert summary.endswith("."), summary
    assert not rest or rest.startswith("\n"), "an empty line follows the summary"


def test_public_functions_classes_and_methods_have_examples() -> None:
    without = {
        name
        for name, value in PUBLIC.items()
        if not isinstance(value, (property, cached_property))
        and not re.search(r"^Examples\n-{8}\n(.*\n)*>>> ", inspect.getdoc(value) or "", re.MULTILINE)
    }
    assert without == WITHOUT_EXAMPLES


def test_public_functions_say_what_they_take_and_give() -> None:
    without = {}
    for name, value in PUBLIC.items():
        if inspect.isfunction(value):
            call = inspect.signature(value)
            wanted = {"Parameters"} if call.parameters.keys() - {"self", "cls"} else set()
            wanted |= {"Returns"} if call.return_annotation not in ("None", "NoReturn") else set()
            if lacking := wanted - set(re.findall(r"^(\w+)\n-+$", inspect.getdoc(value) or "", re.MULTILINE)):
                without[name] = lacking
    assert not without, without


def _raised(function: FunctionType) -> set[str]:
    """The classes of errors that the function itself raises."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    calls = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)]
    return {name for name in (ast.unparse(call.func) for call in calls) if hasattr(fe.errors, name)}


def test_public_functions_say_which_errors_they_raise() -> None:
    functions = {name: value for name, value in PUBLIC.items() if isinstance(value, FunctionType)}
    raised = {name: _raised(function) for name, function in functions.items()}
    assert "OutOfRangeError" in set().union(*raised.values())
    lacking = {}
    for name, errors in raised.items():
        _, _, section = (inspect.getdoc(functions[name]) or "").partition("\nRaises\n------\n")
        if missing := errors - set(re.findall(r"^(\w+)$", section, re.MULTILINE)):
            lacking[name] = missing
    assert not lacking, lacking
