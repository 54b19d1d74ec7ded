"""The command `ferrule` and its verbs `devices` and `explain`."""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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


def test_invalid_variables_cause_a_warning() -> None:
    done = ferrule("devices", FERRULE_PROBE="sometimes")
    assert (done.returncode, "cpu" in done.stdout) == (0, True)
    assert done.stderr.splitlines() == [
        "FERRULE_PROBE is 'sometimes', and must be one of: auto, always, never; using auto"
    ]


def test_commands_are_listed_without_a_backend() -> None:
    done = ferrule("--help")
    assert done.returncode == 0
    for verb in ("doctor", "devices", "explain", "inspect", "new-backend"):
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


def test_backends_kinds_and_ops_are_explained_in_a_line_each(null_module: Path) -> None:
    done = ferrule("explain", "cpu", "GPU", "softmax", "cpuu", FERRULE_BACKEND_PATH=null_module)
    assert (done.returncode, done.stderr) == (0, "")
    cpu, gpu, softmax, unknown = done.stdout.splitlines()
    assert cpu.startswith("cpu: it is loaded from ")
    assert gpu == "gpu: no loaded backend drives such a device; loaded is cpu, null."
    assert softmax.startswith("softmax: an op. exp(x) / sum(exp(x)) along an axis. cpu:0 computes it in ")
    assert unknown.endswith(" Did you mean 'cpu'?")


def test_without_a_name_all_backends_are_explained(null_module: Path) -> None:
    lines = ferrule("explain", FERRULE_BACKEND_PATH=null_module).stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == ["cpu", "null"]
    found = json.loads(ferrule("explain", "--json", FERRULE_BACKEND_PATH=null_module).stdout)
    assert list(found.values()) == lines
    assert list(found) == ["cpu", "null"]


@pytest.mark.parametrize("arguments", [["doctor"], ["explain", *(["matmul"] * 500)], ["devices"]])
def test_output_that_nobody_reads_is_no_traceback(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "ferrule", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.close()
    _, errors = process.communicate(timeout=240)
    assert (process.returncode, errors) == (141, "")
