"""`ferrule inspect`: reports on module files of any system, including damaged ones."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ferrule.tools.cli import inspect as verb
from ferrule.tools.inspection.abi import as_data, core_abi
from ferrule.tools.inspection.read_in_child import read_modules
from foreign_files import build_dll, build_dylib, build_universal

THREE = ["ferrule_backend_abi", "ferrule_backend_init", "ferrule_backend_score"]


@pytest.fixture(scope="module")
def include(package: Path) -> Path:
    return package / "include"


def inspect(*files: Path) -> list[dict[str, Any]]:
    return list(read_modules(files))


def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ferrule", "inspect", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **options)


def expect_core_interface(abi: dict[str, Any]) -> None:
    assert abi == as_data(core_abi())


def test_null_module_matches_its_manifest(null_module: Path) -> None:
    [found] = inspect(null_module)
    assert found["problems"] == []
    assert found["sha256"] == hashlib.sha256(null_module.read_bytes()).hexdigest() == found["manifest"]["sha256"]
    [image] = found["images"]
    assert (image["format"], image["system"]) == ("ELF", "Linux")
    assert [name for name in image["exports"] if name != THREE[2]] == THREE[:2]
    assert "libc.so.6" in image["needed"]
    expect_core_interface(image["abi"])


def test_a_windows_dll_is_read_on_any_system(tmp_path: Path, include: Path) -> None:
    [found] = inspect(build_dll(tmp_path, include))
    assert found["problems"] == []
    [image] = found["images"]
    assert (image["format"], image["system"], image["architecture"]) == ("PE", "Windows", "AMD64")
    assert image["exports"] == THREE
    expect_core_interface(image["abi"])


def test_a_mac_library_is_read_on_any_system(tmp_path: Path, include: Path) -> None:
    [found] = inspect(build_dylib(tmp_path, include, "arm64"))
    assert found["problems"] == []
    [image] = found["images"]
    assert (image["format"], image["system"], image["architecture"]) == ("Mach-O", "macOS", "ARM64")
    assert image["exports"] == THREE
    assert image["run_paths"] == ["@loader_path/lib"]
    expect_core_interface(image["abi"])


def test_each_part_of_a_universal_file_is_read(tmp_path: Path, include: Path) -> None:
    module = build_universal(tmp_path, include)
    [found] = inspect(module)
    assert found["problems"] == []
    assert [image["architecture"] for image in found["images"]] == ["X86_64", "ARM64"]
    for image in found["images"]:
        assert image["exports"] == THREE
        expect_core_interface(image["abi"])
    module.write_bytes(module.read_bytes()[:-20_000])
    [found] = inspect(module)
    assert any("lists 2 architectures, but only 1 can be read" in problem for problem in found["problems"])


def test_other_interface_is_reported_and_is_no_damage(tmp_path: Path, include: Path) -> None:
    source = include / "ferrule" / "abi.h"
    headers = tmp_path / "include"
    shutil.copytree(include, headers)
    (headers / "ferrule" / "abi.h").write_text(
        source.read_text().replace("#define FE_ABI_MAJOR 0", "#define FE_ABI_MAJOR 7")
    )
    [found] = inspect(build_dll(tmp_path, headers))
    assert found["images"][0]["abi"]["major"] == 7
    assert found["problems"] == []
    assert any(note.startswith("this ferrule does not take it: its ABI is 7.") for note in found["notes"]), found[
        "notes"
    ]


def test_a_file_changed_after_its_manifest_was_written_is_a_problem(null_module: Path, tmp_path: Path) -> None:
    module = tmp_path / null_module.name
    shutil.copy(null_module, module)
    shutil.copy(null_module.with_suffix(".json"), module.with_suffix(".json"))
    module.write_bytes(module.read_bytes() + b"\0")
    done = run(module)
    assert done.returncode == 1
    assert "and not its manifest's" in done.stdout
    assert "its manifest says that size is" in done.stdout


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"{", "is not JSON"),
        (b"[]", "is not an object"),
        (b'{"name": "\xff"}', "is not UTF-8"),
        (b"[" * 200_000, "is nested too deeply"),
        (b" " * (1 << 21), "must not have more than"),
        (b'{"name": "null", "name": "other"}', "has 'name' more than once"),
    ],
)
def test_damaged_manifest_is_one_sentence(null_module: Path, tmp_path: Path, text: bytes, problem: str) -> None:
    module = tmp_path / null_module.name
    shutil.copy(null_module, module)
    module.with_suffix(".json").write_bytes(text)
    [found] = inspect(module)
    assert any(problem in sentence for sentence in found["problems"]), found["problems"]


def test_file_that_is_no_module_is_one_sentence(tmp_path: Path) -> None:
    text, empty, fifo = tmp_path / "text.so", tmp_path / "empty.so", tmp_path / "fifo.so"
    text.write_text("#!/bin/sh")
    empty.touch()
    os.mkfifo(fifo)
    found = inspect(text, empty, fifo, tmp_path, tmp_path / "none.so")
    assert [module["problems"] for module in found] == [
        ["it is not a shared library: it begins with '#!/bin/sh'"],
        ["it is not a shared library: the file is empty"],
        ["it is not a regular file"],
        ["it is not a regular file"],
        ["there is no such file"],
    ]


@pytest.mark.parametrize("kind", ["ELF", "PE", "Mach-O"])
def test_any_damage_is_at_most_one_sentence(kind: str, null_module: Path, tmp_path: Path, include: Path) -> None:
    makers: dict[str, Callable[[], Path]] = {
        "ELF": lambda: null_module,
        "PE": lambda: build_dll(tmp_path, include),
        "Mach-O": lambda: build_dylib(tmp_path, include, "x86_64"),
    }
    whole = makers[kind]().read_bytes()
    rng, files = random.Random(5), []
    for number in range(20):
        data = bytearray(whole)
        if number % 2:
            del data[rng.randrange(len(whole)) :]
        for _ in range(rng.randrange(1, 40)):
            if data:
                data[rng.randrange(min(len(data), 1024))] = rng.randrange(256)
        files.append(tmp_path / f"libferrule-damaged-{number}.so")
        files[-1].write_bytes(data)
    for found in inspect(*files):
        for sentence in found["problems"]:
            assert "Traceback" not in sentence
        assert found["problems"] or found["images"], found
    cut = tmp_path / "libferrule-cut.so"
    cut.write_bytes(whole[: len(whole) * 2 // 3])
    assert inspect(cut)[0]["problems"]


def test_inspection_executes_no_code_of_the_file(build_module: Callable[..., Path], tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    module = build_module("t_plain")
    done = run(module, "--json", env={**os.environ, "FERRULE_TEST_NOTES": str(notes)})
    assert json.loads(done.stdout)[0]["images"][0]["abi"] is not None
    assert not notes.exists()
    os.environ["FERRULE_TEST_NOTES"] = str(notes)
    try:
        ctypes.CDLL(str(module))  # it would record that it was opened
    finally:
        del os.environ["FERRULE_TEST_NOTES"]
    assert notes.exists()


def test_output_to_a_pipe_is_plain_text(null_module: Path) -> None:
    done = run(null_module)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 120
    assert all(line == line.rstrip() for line in done.stdout.splitlines())


def test_missing_lief_is_reported_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(verb, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["ferrule", "inspect", "file.so"])
    from ferrule.__main__ import main

    assert main() == 2
    assert "pip install 'ferrule[inspect]'" in capsys.readouterr().err


def test_a_constant_that_breaks_its_own_rules_is_a_problem(tmp_path: Path, include: Path) -> None:
    module = build_dylib(tmp_path, include, "x86_64")
    data = module.read_bytes()
    at = data.index(b"ferrule\0")
    module.write_bytes(data[: at + 20] + b"\x41\0\0\0" + data[at + 24 :])  # hash_count
    [found] = inspect(module)
    assert any("ferrule_backend_abi lists 65 layout hashes" in problem for problem in found["problems"])


def test_two_interfaces_are_compared(package: Path, null_module: Path, tmp_path: Path) -> None:
    headers, changed = package / "include", tmp_path / "changed"
    done = run("--abi-diff", headers, null_module)
    assert (done.returncode, done.stdout) == (0, "there is no difference\n")
    shutil.copytree(headers, changed)
    view = changed / "ferrule" / "types.h"
    view.write_text(view.read_text().replace("int64_t i64;", ""))
    done = run("--abi-diff", headers, changed)
    assert done.returncode == 1
    assert "is gone (incompatible)" in done.stdout
    done = run("--json", "--abi-diff", headers, changed)
    assert [difference["is_compatible"] for difference in json.loads(done.stdout)] == [False]
    done = run("--abi-diff", headers, tmp_path / "none")
    assert (done.returncode, done.stdout) == (2, "")
    assert "cannot be read" in done.stderr
