"""Faulty files: each gets one row with an understandable reason, and the good modules beside it are loaded."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Put = Callable[..., Path]
Notes = Callable[[], list[str]]

LOAD = """
import json, ferrule as fe
report = fe.load_all(dirs=[{folder!r}, fe.default_roots])
assert fe.ones(3).sum().item() == 3, "the process goes on with what is good"
print(json.dumps([[c.path.name, c.state, c.reason] for c in report.candidates]))
try: fe.load({path!r})
except fe.Error as e: print(json.dumps([type(e).__name__, str(e)]))
"""


@pytest.fixture
def folder(tmp_path: Path, put_module: Put) -> Path:
    """A folder with one good module."""
    put_module(tmp_path / "modules", "t_good", rank=1)
    return tmp_path / "modules"


def row_of(run_python: Run, bad: Path, **variables: object) -> tuple[str, str, str]:
    """State and reason of the one bad file, and the class of the error that load(path) raises."""
    done = run_python(LOAD.format(folder=str(bad.parent), path=str(bad)), **variables)
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    rows = json.loads(lines[0])
    assert ["libferrule-t_good.so", "loaded", ""] in rows
    assert ["cpu", "loaded"] in [[name.split("-")[1], state] for name, state, _ in rows]
    [(state, reason)] = [(state, reason) for name, state, reason in rows if name == bad.name]
    assert re.fullmatch(r"\w[^\n]{15,300}", reason), "one sentence"
    if state == "loaded":
        return state, reason, ""
    error, message = json.loads(lines[1])
    assert reason in message
    return state, reason, error


@pytest.mark.parametrize(
    ("fault", "state", "reason", "error"),
    [
        ("score0", "incompatible", r"cannot run here \(score 0\)", "UnsupportedError"),
        ("init_fails", "error", "init fails because FERRULE_NULL_FAULT says so", "InternalError"),
        ("init_throws", "error", "init throws because FERRULE_NULL_FAULT says so", "InternalError"),
        ("no_devices", "no_device", "no device", "NotFoundError"),
    ],
)
@pytest.mark.parametrize("manifest", [True, False], ids=["manifest", "no manifest"])
def test_each_fault_of_the_null_backend_is_a_row_with_a_reason(
    run_python: Run, null_module: Path, folder: Path, fault: str, state: str, reason: str, error: str, manifest: bool
) -> None:
    bad = Path(shutil.copy(null_module, folder))
    if manifest:
        shutil.copy(null_module.with_suffix(".json"), folder)
    found = row_of(run_python, bad, FERRULE_NULL_FAULT=fault)
    assert (found[0], found[2]) == (state, error)
    assert re.search(reason, found[1]), found[1]


def test_devices_of_one_backend_are_numbered(run_python: Run, null_module: Path) -> None:
    code = "import ferrule as fe; fe.load_all(); print([str(d) for d in fe.devices() if d.kind == 'test'])"
    for fault, devices in (("two_devices", "['null:0', 'null:1']\n"), ("", "['null:0']\n")):
        assert run_python(code, FERRULE_BACKEND_PATH=null_module, FERRULE_NULL_FAULT=fault).stdout == devices


@pytest.mark.parametrize(
    ("part", "manifest"), [*((part, False) for part in (0.0, 0.001, 0.01, 0.3, 0.9, 1.0)), (0.3, True), (1.0, True)]
)
def test_a_truncated_module_is_a_row_and_is_never_opened(
    run_python: Run, notes: Notes, put_module: Put, folder: Path, part: float, manifest: bool
) -> None:
    bad = put_module(folder, "t_cut", **({"rank": 1} if manifest else {}))
    whole = bad.read_bytes()
    bad.write_bytes(whole[: 1 + int(part * (len(whole) - 2))])
    state, reason, error = row_of(run_python, bad)
    assert (state, error) == ("error", "IoError")
    assert re.search("truncated|not a module|its manifest says", reason), reason
    assert "opened t_cut" not in notes()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b"echo this is a shell script\n", "it is a text file that begins with 'echo this is"),
        (b"\x7fELF", "truncated"),
        (bytes(range(256)) * 20, "not a module"),
    ],
    ids=["empty", "text", "magic alone", "bytes"],
)
def test_a_file_that_is_no_module_is_a_row(run_python: Run, folder: Path, content: bytes, reason: str) -> None:
    bad = folder / "libferrule-t_bad.so"
    bad.write_bytes(content)
    found = row_of(run_python, bad)
    assert found[0] == "error"
    assert reason in found[1]


@pytest.mark.parametrize(
    ("definition", "state", "reason", "error"),
    [
        ("TEST_WITHOUT_ABI", "error", "it does not export ferrule_backend_abi", "IoError"),
        ("TEST_WITHOUT_INIT", "error", "it does not export ferrule_backend_init", "IoError"),
        ("TEST_MAJOR=99", "incompatible", r"interface 99\.", "AbiMismatchError"),
        ("TEST_HASH=0x1234", "incompatible", "0x0000000000001234", "AbiMismatchError"),
    ],
)
def test_a_module_without_the_symbols_or_of_another_interface_is_a_row_and_is_never_opened(
    run_python: Run, notes: Notes, put_module: Put, folder: Path, definition: str, state: str, reason: str, error: str
) -> None:
    bad = put_module(folder, "t_bad", definition)
    found = row_of(run_python, bad)
    assert found[0] == state
    assert re.search(reason, found[1]), found[1]
    assert found[2] == error
    assert "opened t_bad" not in notes()


def test_module_without_a_manifest_is_opened_and_scored(
    run_python: Run, notes: Notes, put_module: Put, tmp_path: Path
) -> None:
    folder = tmp_path / "modules"
    put_module(folder, "t_old", "TEST_SCORE=5")
    code = f"import ferrule as fe; [c] = fe.load_all(dirs=[{str(folder)!r}]); print(c.state, c.rank, c.score)"
    assert run_python(code).stdout == "loaded None 5\n"
    assert notes() == ["opened t_old", "asked t_old", "initialised t_old"]


@pytest.mark.parametrize(
    ("manifest", "reason"),
    [
        ("", "it is not JSON"),
        ("[]", "it is not an object"),
        ("{}", "'name'"),
    ],
)
def test_a_bad_manifest_is_a_row_and_its_module_is_never_opened(
    run_python: Run, notes: Notes, put_module: Put, folder: Path, manifest: str, reason: str
) -> None:
    bad = put_module(folder, "t_bad")
    bad.with_suffix(".json").write_text(manifest)
    state, sentence, _ = row_of(run_python, bad)
    assert state == "error"
    assert reason in sentence
    assert "opened t_bad" not in notes()


def test_manifest_of_another_module_is_a_report_row(
    run_python: Run, notes: Notes, put_module: Put, folder: Path
) -> None:
    state, sentence, _ = row_of(run_python, put_module(folder, "t_bad", name="t_other"))
    assert state == "error"
    assert "it is about 't_other'" in sentence
    assert "opened t_bad" not in notes()


def test_file_that_differs_from_its_manifest_is_never_opened(
    run_python: Run, notes: Notes, put_module: Put, folder: Path
) -> None:
    bad = put_module(folder, "t_bad", rank=1)
    content = bytearray(bad.read_bytes())
    content[-1] ^= 1
    bad.write_bytes(content)
    state, reason, _ = row_of(run_python, bad)
    assert state == "error"
    assert "its SHA-256 is not the one in its manifest" in reason
    assert "opened t_bad" not in notes()


def test_load_explains_what_is_wrong_with_a_file(run_python: Run, tmp_path: Path) -> None:
    (tmp_path / "libferrule-bad.so").write_text("text")
    (tmp_path / "module.so").write_text("text")
    code = (
        "import ferrule as fe\n"
        "for path in ('/no/such/libferrule-x.so', 'libferrule-bad.so', 'module.so', '/'):\n"
        "    try: fe.load(path)\n"
        "    except fe.Error as e: print(type(e).__name__, e)\n"
        "    else: raise AssertionError(path)"
    )
    shown = run_python(code).stdout.splitlines()
    assert len(shown) == 4
    assert re.match("NotFoundError .*/no/such/libferrule-x.so", shown[0])
    assert re.match("IoError .*bad.so.* text file", shown[1])
    assert re.match("IoError .*module.so.* text file", shown[2]), "a file of any name may be a module"
    assert re.match("InvalidArgumentError .*it is a folder", shown[3])
