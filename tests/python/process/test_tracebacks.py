"""A printed traceback of ferrule's errors ends in the caller's code."""

from __future__ import annotations

import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ferrule as fe
import pytest

RunPython = Callable[..., subprocess.CompletedProcess[str]]
PACKAGE = str(Path(fe.__file__).parent)

IN_A_FUNCTION = """
import ferrule as fe
def users_function():
    return fe.stack([fe.ones(2), fe.ones(3)])
users_function()
"""
IN_A_GRAPH = """
import ferrule as fe
def users_function(x):
    return fe.reshape(x, (5, 5))
fe.graph(users_function)(fe.ones(3))
"""
RAISED_FROM_ANOTHER = """
import ferrule as fe
fe.ones(1.5)
"""
FROM_THE_USERS = """
import ferrule as fe
try:
    {}["key"]
except KeyError as error:
    fe.device("abacus")
"""


@pytest.mark.parametrize("code", [IN_A_FUNCTION, IN_A_GRAPH, RAISED_FROM_ANOTHER, FROM_THE_USERS])
def test_python_prints_the_callers_frames_only(code: str, run_python: RunPython) -> None:
    printed = run_python(code, check=False).stderr
    assert printed.splitlines()[-1].startswith("ferrule.errors.")
    assert printed.count("Traceback") == (2 if code is FROM_THE_USERS else 1)
    assert PACKAGE not in printed
    assert ("in users_function" in printed) == ("users_function" in code)
    full = run_python(code, check=False, FERRULE_TRACEBACK="full").stderr
    assert PACKAGE in full
    assert full.splitlines()[-1] == printed.splitlines()[-1]


def test_variables_with_unknown_values_cause_one_warning_each(run_python: RunPython) -> None:
    junk = {"FERRULE_TRACEBACK": "ful", "FERRULE_AUTOLOAD": "no", "FERRULE_TRUST": "nobody", "FERRULE_PROBE": "maybe"}
    junk |= {"FERRULE_PROBE_TIMEOUT": "2s", "FERRULE_PROBE_MEMORY": "-1", "FERRULE_THREADS": "many"}
    taken = {"short", "1", "owner", "auto", "20", "4096"}
    code = "import ferrule as fe\nfe.ones((999, 999)).sum().item()\nfe.load_all()\n"
    lines = run_python(code, **junk).stderr.splitlines()
    for name, value in junk.items():
        [line] = [line for line in lines if line.startswith(f"{name} is {value!r}, and must be ")]
        assert name == "FERRULE_THREADS" or line.rpartition("; using ")[2] in taken


def test_a_hook_that_was_there_before_is_called(run_python: RunPython) -> None:
    code = (
        "import sys, traceback\n"
        "sys.excepthook = lambda kind, error, tb: print('mine', len(traceback.extract_tb(tb)), kind.__name__)\n"
        "import ferrule as fe\n"
    )
    assert run_python(code + "fe.ones(1.5)", check=False).stdout == "mine 1 InvalidArgumentError\n"
    assert run_python(code + "{}[1]", check=False).stdout == "mine 1 KeyError\n"


def test_notebooks_render_the_callers_frames_only(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[Any, list[str]]] = []

    def structured_traceback(kind: Any, error: Any, traceback: Any) -> list[str]:
        files = []
        while traceback is not None:
            files.append(traceback.tb_frame.f_code.co_filename)
            traceback = traceback.tb_next
        seen.append((kind, files))
        return ["the lines"]

    notebook: Any = types.ModuleType("IPython")
    shell = types.SimpleNamespace(InteractiveTB=types.SimpleNamespace(structured_traceback=structured_traceback))
    notebook.get_ipython = lambda: shell
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    with pytest.raises(fe.InvalidArgumentError) as caught:
        fe.ones(1.5)  # type: ignore[arg-type]
    error: Any = caught.value
    cause, whole = error.__cause__, error.__traceback__
    assert error._render_traceback_() == ["the lines"]
    assert seen == [(fe.InvalidArgumentError, [__file__])]
    assert (error.__cause__, error.__traceback__) == (cause, whole)  # debuggers see everything
    assert cause is not None
