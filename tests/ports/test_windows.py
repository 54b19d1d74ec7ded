"""The libraries and programs for Windows x86-64, run by wine. `./dev verify wine` builds them in $FERRULE_WINDOWS."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import lief
import pytest
from ports.programs import C_PROGRAMS, check_c_program, check_conformance, windows_path

BUILD = Path(os.environ.get("FERRULE_WINDOWS", "."))
ROOT = Path(__file__).resolve().parents[2]
MODULES = BUILD / "tests" / "cpp" / "modules"
CPU = BUILD / "csrc" / "backends" / "cpu" / "libferrule-cpu-x64.dll"
NULL = BUILD / "csrc" / "backends" / "null" / "libferrule-null.dll"
# Libraries that come with Windows 10 and later.
SYSTEM_LIBRARIES = {"kernel32.dll", "shell32.dll", "advapi32.dll", "ntdll.dll", "psapi.dll"}


def run(program: Path, *arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a program by wine, without ferrule's variables of this process."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FERRULE_")}
    # The program finds libferrule.dll beside itself or in a folder of PATH.
    kept |= {"WINEDEBUG": "-all", "WINEPATH": windows_path(BUILD), "LC_ALL": "C.UTF-8", **variables}
    command = ["wine", str(program), *(windows_path(word) if isinstance(word, Path) else word for word in arguments)]
    return subprocess.run(command, env=kept, capture_output=True, text=True, errors="replace", timeout=900)


@pytest.mark.parametrize("name", C_PROGRAMS)
def test_c_program_prints_what_it_prints_on_linux(name: str) -> None:
    check_c_program(run, BUILD / "tests" / "c" / f"c-{name}.exe", windows_path(CPU.parent))


@pytest.mark.parametrize("module", [CPU, NULL], ids=["cpu", "null"])
def test_conformance(module: Path) -> None:
    check_conformance(run, BUILD / "ferrule-conformance.exe", module)


def probe(module: Path, *arguments: str) -> dict[str, Any]:
    ended = run(BUILD / "ferrule-probe.exe", *arguments, module)
    assert ended.returncode == 0, ended.stderr
    verdict: dict[str, Any] = json.loads(ended.stdout)
    return verdict


@pytest.mark.parametrize("module", [CPU, NULL], ids=["cpu", "null"])
def test_probe_passes_what_works(module: Path) -> None:
    verdict = probe(module)
    assert (verdict["verdict"], verdict["reason"]) == ("passed", "")
    assert verdict["devices"]


# The modules of tests/cpp/modules: the verdict, and a part of its reason.
VERDICTS = {
    "t_abort": ("failed", "init"),
    "t_kill": ("failed", "exit status 9"),
    "t_hang": ("timeout", "did not end within 2 s"),
    "t_rounding": ("failed", "it changes the rounding of floating-point numbers"),
    "t_throwing": ("refused", "its init threw a C++ exception"),
    "t_zero": ("refused", "it says itself that it cannot run here (score 0)"),
    "t_no_device": ("refused", "it has no device on this machine"),
    "t_major": ("refused", "it was built for interface 99."),
    "t_hash": ("refused", "it was built against other headers of interface"),
    "t_without_abi": ("refused", "it does not export ferrule_backend_abi"),
    "t_without_init": ("refused", "it does not export ferrule_backend_init"),
    "t_without_compile": ("refused", "its table has no function 'compile'"),
    "t_wrong_name": ("refused", "its init calls it 't_right_name'"),
    "t_init_finds_nothing": ("refused", "the test wants it to fail"),
    "t_pair-broken": ("refused", "the test wants it to fail"),
    "t_impostor": ("passed", ""),
}


@pytest.mark.parametrize("stem", VERDICTS)
def test_probe_contains_the_fault(stem: str) -> None:
    kind, part = VERDICTS[stem]
    limit = "2000" if kind == "timeout" else "60000"
    verdict = probe(MODULES / f"libferrule-{stem}.dll", "--milliseconds", limit)
    assert verdict["verdict"] == kind
    assert part in verdict["reason"]
    assert verdict["notes"] == []


# Modules that pass: the notes of their verdicts, and what they printed.
NOTES = {
    "t_variable": (["it sets T_VARIABLE in the environment (step 'init')"], ""),
    "t_words": ([], "a word from init\n"),
    "t_leaving": (
        ["it leaves 1 thread running after its close, so its file will stay mapped when it is unloaded"],
        "",
    ),
}


@pytest.mark.parametrize("stem", NOTES)
def test_probe_notes_what_a_good_module_does(stem: str) -> None:
    verdict = probe(MODULES / f"libferrule-{stem}.dll", "--milliseconds", "60000")
    assert (verdict["verdict"], verdict["reason"]) == ("passed", "")
    assert (verdict["notes"], verdict["output"]) == NOTES[stem]


UNIT_TESTS = BUILD / "tests" / "cpp" / "ferrule-tests.exe"


def unit_tests() -> list[str]:
    suite, names = "", []
    for line in run(UNIT_TESTS, "--gtest_list_tests").stdout.splitlines():
        name = line.split("#")[0].rstrip()
        if name.startswith(" "):
            names.append(suite + name.strip())
        elif name.endswith("."):
            suite = name
    return names


def failure_of_unit_test(name: str) -> str | None:
    """Run a test in a process of its own, as ctest does; return what it printed if it failed.

    On a loaded machine wine sometimes ends a program before it starts: one that has printed nothing is started again.
    """
    arguments = (f"--gtest_filter={name}", "--gtest_brief=1")
    try:
        for _ in range(3):
            ended = run(UNIT_TESTS, *arguments, FERRULE_BACKEND_DIR=windows_path(CPU.parent))
            if ended.stdout:
                break
            warnings.warn(f"wine ended the program before {name} began", stacklevel=1)
    except subprocess.TimeoutExpired:
        return f"{name}: it hangs"
    return None if ended.returncode == 0 else f"{name}: exit code {ended.returncode}\n{ended.stdout[-1500:]}"


def test_unit_tests() -> None:
    names = unit_tests()
    assert len(names) > 300
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as processes:
        failures = [failure for failure in processes.map(failure_of_unit_test, names) if failure]
    assert not failures, f"{len(failures)} of {len(names)} tests fail:\n" + "\n".join(failures)


def test_names_that_no_code_page_has(tmp_path: Path) -> None:
    folder = tmp_path / "größe 測試 \N{SNOWMAN}"
    folder.mkdir()
    module = Path(shutil.copy(NULL, folder))
    assert probe(module)["verdict"] == "passed"
    ended = run(BUILD / "ferrule-manifest.exe", module)
    assert ended.returncode == 0, ended.stderr
    assert json.loads((folder / "libferrule-null.json").read_text(encoding="utf-8"))["name"] == "null"


FILES = [BUILD / "libferrule.dll", BUILD / "ferrule-probe.exe", BUILD / "ferrule-conformance.exe", CPU, NULL]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_file_needs_the_system_only_and_exports_what_it_should(file: Path) -> None:
    parsed = lief.PE.parse(str(file))
    assert parsed is not None
    needed = {str(library.name).lower() for library in parsed.imports}
    others = {name for name in needed if not name.startswith("api-ms-win-crt-")} - SYSTEM_LIBRARIES
    assert others <= {"libferrule.dll"}
    exported = {str(entry.name) for entry in parsed.exported_functions}
    if file.name == "libferrule.dll":
        assert exported
        assert all(name.startswith("fe_") for name in exported)
    elif file.suffix == ".dll":
        assert exported <= {"ferrule_backend_abi", "ferrule_backend_init", "ferrule_backend_score"}
        assert "ferrule_backend_init" in exported
