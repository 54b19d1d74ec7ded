"""The command `ferrule` and its verb `devices`."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]


def ferrule(*arguments: object, **variables: object) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("FERRULE_")}
    environment = {**inherited, **{name: str(value) for name, value in variables.items()}}
    command = [sys.executable, "-m", "ferrule", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=120)


def test_the_devices_are_listed_in_order(null_module: Path) -> None:
    done = ferrule("devices", FERRULE_BACKEND_PATH=null_module)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["device", "kind", "name", "memory", "backends"]
    assert [line.split()[:2] for line in lines[1:]] == [["cpu:0", "cpu"], ["null:0", "test"]]
    assert lines[2].split()[-1] == "null"


def test_devices_are_printed_as_json(null_module: Path) -> None:
    found = json.loads(ferrule("devices", "--json", "--all", FERRULE_BACKEND_PATH=null_module).stdout)
    assert [(device["name"], device["kind"], device["backends"]) for device in found] == [
        ("cpu:0", "cpu", ["cpu"]),
        ("null:0", "test", ["null"]),
    ]
    assert found[0]["total"] > 1 << 20


def test_missing_devices_give_a_failure_status() -> None:
    done = ferrule("devices", FERRULE_DISABLE="cpu")
    assert done.returncode == 1
    assert "`ferrule doctor` says why" in done.stdout


def test_invalid_variables_are_reported_without_a_traceback() -> None:
    done = ferrule("devices", FERRULE_PROBE="sometimes")
    assert (done.returncode, done.stdout) == (2, "")
    assert "FERRULE_PROBE" in done.stderr
    assert "Traceback" not in done.stderr


def test_commands_are_listed_without_a_backend() -> None:
    done = ferrule("--help")
    assert done.returncode == 0
    for verb in ("doctor", "devices", "inspect", "new-backend"):
        assert f"    {verb}" in done.stdout


def test_importing_ferrule_does_not_import_its_command_line(run_python: Run) -> None:
    run_python(
        "import sys, ferrule as fe; fe.load_all()\n"
        "heavy = {'rich', 'jinja2', 'lief', 'argparse', 'ferrule.tools'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )


def test_package_installs_the_command() -> None:
    [script] = [entry for entry in importlib.metadata.entry_points(group="console_scripts") if entry.name == "ferrule"]
    assert script.value == "ferrule.__main__:main"
    assert callable(script.load())
